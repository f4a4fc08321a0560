//! The account the stores run under: the program's own, or `postgres` when root started the program,
//! since PostgreSQL refuses to run as root. The program keeps its own rights and only lends folders.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::os::unix::fs::{MetadataExt, lchown};
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};

use tokio::process::Command;

use super::StoresError;

const NAME: &str = "postgres";

/// Who runs the stores.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Account {
    /// The same user as the program.
    Own { uid: u32 },
    /// The `postgres` account of the machine.
    Postgres { uid: u32, gid: u32 },
}

impl Account {
    /// The account for a program started by the present user.
    pub(super) fn of_stores() -> Result<Self, StoresError> {
        let uid = own_uid();
        if uid != 0 {
            return Ok(Self::Own { uid });
        }
        let passwd = Path::new("/etc/passwd");
        let text = fs::read_to_string(passwd).map_err(StoresError::at(passwd))?;
        find(&text).ok_or(StoresError::NoAccount { account: NAME })
    }

    pub(super) fn uid(self) -> u32 {
        match self {
            Self::Own { uid } | Self::Postgres { uid, .. } => uid,
        }
    }

    /// Lets `command` run under this account. Its supplementary groups go, as the standard library
    /// documents for a change of user by root.
    pub(super) fn enter(self, command: &mut Command) {
        if let Self::Postgres { uid, gid } = self {
            command.uid(uid).gid(gid);
        }
    }

    /// Runs a line of shell under this account. Signals, and looks into other processes of the account,
    /// go this way: in a container root may lack the right that the account itself has.
    pub(super) async fn shell<A: AsRef<OsStr>>(
        self,
        script: &str,
        args: &[A],
    ) -> io::Result<Output> {
        let mut command = Command::new("/bin/sh");
        command
            .args(["-c", script, "seckill"])
            .args(args)
            .current_dir("/")
            .stdin(Stdio::null());
        self.enter(&mut command);
        command.output().await
    }

    /// Sends a signal, given by name without `SIG`.
    pub(super) async fn signal(self, process: u32, signal: &str) {
        let args = [signal, &process.to_string()];
        if let Err(error) = self.shell(r#"kill -s "$1" "$2""#, &args).await {
            tracing::warn!(process.id = process, signal, %error, "cannot signal a private store");
        }
    }

    /// Gives `path` and all that is in it to this account, unless it already belongs to it.
    pub(super) fn take(self, path: &Path) -> Result<(), StoresError> {
        let Self::Postgres { uid, gid } = self else {
            return Ok(());
        };
        let metadata = fs::symlink_metadata(path).map_err(StoresError::at(path))?;
        if metadata.uid() == uid {
            return Ok(());
        }
        if metadata.is_dir() {
            for entry in fs::read_dir(path).map_err(StoresError::at(path))? {
                self.take(&entry.map_err(StoresError::at(path))?.path())?;
            }
        }
        lchown(path, Some(uid), Some(gid)).map_err(StoresError::at(path))
    }

    /// Fails when a folder on the way to `path`, or `path` itself, is closed to this account. The account
    /// tries it itself, so that access lists count.
    pub(super) async fn can_enter(self, path: &Path) -> Result<(), StoresError> {
        if matches!(self, Self::Own { .. }) {
            return Ok(());
        }
        let mut folders: Vec<&Path> = path.ancestors().collect();
        folders.reverse();
        let script = r#"for folder do [ -x "$folder" ] || { printf %s "$folder"; exit 1; }; done"#;
        let tried = self
            .shell(script, &folders)
            .await
            .map_err(StoresError::at(path))?;
        if tried.status.success() {
            return Ok(());
        }
        let folder = PathBuf::from(String::from_utf8_lossy(&tried.stdout).into_owned());
        Err(StoresError::Closed {
            account: NAME,
            folder,
        })
    }
}

/// The user this program runs as: Linux gives a process its own entry in `/proc`.
pub(super) fn own_uid() -> u32 {
    // Elsewhere an ordinary user is assumed: PostgreSQL itself then refuses root in its own words.
    fs::metadata("/proc/self").map_or(u32::MAX, |entry| entry.uid())
}

/// Reads the account from the text of `/etc/passwd`.
fn find(passwd: &str) -> Option<Account> {
    passwd.lines().find_map(|line| {
        let mut fields = line.split(':');
        if fields.next() != Some(NAME) {
            return None;
        }
        let uid = fields.nth(1)?.parse().ok()?;
        let gid = fields.next()?.parse().ok()?;
        Some(Account::Postgres { uid, gid })
    })
}

#[cfg(test)]
mod tests {
    use super::{Account, find};

    #[test]
    fn the_account_is_found_by_its_whole_name() {
        let passwd = "root:x:0:0::/root:/bin/sh\npostgresql:x:7:8::/:/bin/sh\n\
                      postgres:x:101:104:PostgreSQL,,,:/var/lib/postgresql:/bin/bash\n";
        assert_eq!(find(passwd), Some(Account::Postgres { uid: 101, gid: 104 }));
    }

    #[test]
    fn a_machine_without_the_account_has_none() {
        assert_eq!(find("root:x:0:0::/root:/bin/sh\n"), None);
        assert_eq!(find("postgres:x:many:104::/:/bin/sh\n"), None);
    }
}
