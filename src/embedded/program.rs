//! Where the stores' programs are, and how one is run: under the right account, deaf to the terminal,
//! with an environment of its own, and ended by the kernel when this program dies.

use std::env;
use std::ffi::OsStr;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use tokio::process::Command;

use super::account::Account;

/// The folders of `PATH`, then the usual ones: a service may be started with a `PATH` that lacks them.
#[expect(
    clippy::disallowed_methods,
    reason = "where programs lie is the system's word, not a setting"
)]
pub(super) fn search_path() -> Vec<PathBuf> {
    let mut folders: Vec<PathBuf> =
        env::var_os("PATH").map_or_else(Vec::new, |path| env::split_paths(&path).collect());
    folders.extend(["/usr/local/bin", "/usr/bin", "/bin"].map(PathBuf::from));
    folders.retain(|folder| folder.is_absolute());
    folders
}

/// The first executable file of that name.
pub(super) fn find(name: &str, folders: &[PathBuf]) -> Option<PathBuf> {
    folders
        .iter()
        .map(|folder| folder.join(name))
        .find(|path| is_executable(path))
}

/// Whether `path` is a file that somebody may execute.
pub(super) fn is_executable(path: &Path) -> bool {
    path.metadata()
        .is_ok_and(|file| file.is_file() && file.permissions().mode() & 0o111 != 0)
}

/// A command that gets `death_signal` when the thread that spawns it ends, so also after `kill -9`.
///
/// The change of account comes before `setpriv` runs, since the kernel forgets a death signal at such a
/// change. Without `setpriv` (it is part of util-linux) a killed program leaves its stores running; the
/// next start then stops them.
pub(super) fn command(program: &Path, account: Account, death_signal: &str) -> Command {
    let mut command = match find("setpriv", &search_path()) {
        Some(setpriv) => {
            let mut command = Command::new(setpriv);
            command.args([
                OsStr::new("--pdeathsig"),
                OsStr::new(death_signal),
                OsStr::new("--"),
            ]);
            command.arg(program);
            command
        }
        None => Command::new(program),
    };
    account.enter(&mut command);
    command
        // Passwords in the program's environment are none of the stores' business, and variables such as
        // PGDATA or TZ must not change what they do.
        .env_clear()
        .env("PATH", "/usr/local/bin:/usr/bin:/bin")
        .env("LC_ALL", "C.UTF-8")
        .env("TZ", "UTC")
        .current_dir("/")
        // Ctrl-C reaches every process of the terminal's group; the stores must outlive the program's
        // last work.
        .process_group(0);
    command
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::find;

    #[test]
    fn only_an_executable_file_is_a_program() {
        let folders = ["/etc", "/bin"].map(PathBuf::from);
        assert_eq!(find("sh", &folders), Some(PathBuf::from("/bin/sh")));
        assert_eq!(find("passwd", &folders[..1]), None);
    }
}
