//! The data folder: its layout, its lock, and a place for sockets whose path the kernel accepts.
//! It belongs to the program's user; `postgres`, `redis` and `run` in it to the account of the stores.

use std::env;
use std::fs::{self, DirBuilder, File, OpenOptions, Permissions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use super::StoresError;
use super::account::{Account, own_uid};

/// The kernel takes 107 bytes for a socket's path; `/.s.PGSQL.5432` is the longest name put into the folder.
const SOCKET_FOLDER_LIMIT: usize = 107 - "/.s.PGSQL.5432".len();

const LOCK: &str = "seckill.lock";

/// The folder used when `SECKILL_DATA` is not set: `/var/lib/seckill` for root, else the user's own data.
#[must_use]
#[expect(
    clippy::disallowed_methods,
    reason = "where an account keeps its data is the system's word, not a setting"
)]
pub fn default_data_folder() -> PathBuf {
    if own_uid() == 0 {
        return PathBuf::from("/var/lib/seckill");
    }
    let absolute = |name| {
        env::var_os(name)
            .map(PathBuf::from)
            .filter(|path| path.is_absolute())
    };
    absolute("XDG_DATA_HOME")
        .or_else(|| absolute("HOME").map(|home| home.join(".local/share")))
        .map_or_else(
            || PathBuf::from("seckill-data"),
            |base| base.join("seckill"),
        )
}

/// An opened data folder. While it lives, no other program can open it.
#[derive(Debug)]
pub(super) struct Folder {
    root: PathBuf,
    sockets: PathBuf,
    account: Account,
    _lock: File,
}

impl Folder {
    /// Creates what is missing and takes the lock.
    pub(super) async fn open(data: &Path, account: Account) -> Result<Self, StoresError> {
        create(data, account)?;
        let root = data.canonicalize().map_err(StoresError::at(data))?;
        refuse_foreign(&root)?;
        let lock = lock(&root)?;
        account.can_enter(&root).await?;
        let sockets = sockets(&root, account)?;
        Ok(Self {
            root,
            sockets,
            account,
            _lock: lock,
        })
    }

    pub(super) fn root(&self) -> &Path {
        &self.root
    }

    pub(super) fn account(&self) -> Account {
        self.account
    }

    /// Where the sockets are: only the account of the stores, and root, can enter it.
    pub(super) fn sockets(&self) -> &Path {
        &self.sockets
    }

    /// Creates, unless it exists, a folder that only the account of the stores can enter.
    pub(super) fn lend(&self, name: &str) -> Result<PathBuf, StoresError> {
        let path = self.root.join(name);
        lend(&path, self.account)?;
        Ok(path)
    }

    /// Whether the stores' account finds no space. Root must not try in its stead: it may use the reserve.
    pub(super) async fn is_full(&self) -> bool {
        let script = r#"head -c 1000000 /dev/zero >"$1"/probe; rm -f "$1"/probe"#;
        let tried = self.account.shell(script, &[self.root.join("redis")]).await;
        tried.is_ok_and(|output| String::from_utf8_lossy(&output.stderr).contains(NO_SPACE))
    }

    /// Removes a socket folder outside the data folder, once no socket is left in it.
    pub(super) fn close(self) {
        if !self.sockets.starts_with(&self.root) && fs::remove_dir(&self.sockets).is_ok() {
            let _ = fs::remove_file(self.root.join("run"));
        }
    }
}

/// What the system, and so every store, says on a full disk.
pub(super) const NO_SPACE: &str = "No space left on device";

fn create(data: &Path, account: Account) -> Result<(), StoresError> {
    if data.is_dir() {
        return Ok(());
    }
    let at = || StoresError::at(data);
    fs::create_dir_all(data).map_err(at())?;
    // The other account must pass through to its own folders, but need not list this one.
    let mode = if matches!(account, Account::Postgres { .. }) {
        0o711
    } else {
        0o700
    };
    fs::set_permissions(data, Permissions::from_mode(mode)).map_err(at())
}

fn refuse_foreign(root: &Path) -> Result<(), StoresError> {
    if root.join(LOCK).exists() {
        return Ok(());
    }
    for entry in fs::read_dir(root).map_err(StoresError::at(root))? {
        // A fresh ext4 file system has this one.
        if entry.map_err(StoresError::at(root))?.file_name() != "lost+found" {
            return Err(StoresError::Foreign {
                folder: root.to_path_buf(),
            });
        }
    }
    Ok(())
}

fn lock(root: &Path) -> Result<File, StoresError> {
    let path = root.join(LOCK);
    let mut file = open_lock(&path)?;
    match file.try_lock() {
        Ok(()) => {
            // For the other program's message only: a full disk must not matter here.
            let _ = file
                .set_len(0)
                .and_then(|()| write!(file, "{}", std::process::id()));
            Ok(file)
        }
        Err(fs::TryLockError::WouldBlock) => {
            let mut text = String::new();
            let _ = file.read_to_string(&mut text);
            Err(StoresError::Busy {
                folder: root.to_path_buf(),
                process: text.parse().ok(),
            })
        }
        Err(fs::TryLockError::Error(cause)) => Err(StoresError::Folder { path, cause }),
    }
}

/// Opens a file whose only purpose is to be locked.
pub(super) fn open_lock(path: &Path) -> Result<File, StoresError> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    options.open(path).map_err(StoresError::at(path))
}

/// `run` in the data folder, or where its path will not do, a private folder that `run` points to.
fn sockets(root: &Path, account: Account) -> Result<PathBuf, StoresError> {
    let run = root.join("run");
    let at = || StoresError::at(&run);
    if is_plain(&run) {
        if run.is_symlink() {
            fs::remove_file(&run).map_err(at())?;
        }
        lend(&run, account)?;
        return Ok(run);
    }
    match fs::read_link(&run) {
        Ok(earlier) if is_private(&earlier, account) => return Ok(earlier),
        Ok(_) => fs::remove_file(&run).map_err(at())?,
        // Sockets only, from before the data folder was moved here.
        Err(_) if run.is_dir() => fs::remove_dir_all(&run).map_err(at())?,
        Err(_) => {}
    }
    let temporary =
        Some(env::temp_dir()).filter(|folder| is_plain(&folder.join("seckill-0123456789abcdef")));
    let name = format!("seckill-{:016x}", rand::random::<u64>());
    let folder = temporary
        .unwrap_or_else(|| PathBuf::from("/tmp"))
        .join(name);
    lend(&folder, account)?;
    symlink(&folder, &run).map_err(at())?;
    Ok(folder)
}

/// Short enough for the kernel, and the same in a URL, in PostgreSQL's list of folders and on a command line.
fn is_plain(folder: &Path) -> bool {
    let bytes = folder.as_os_str().as_encoded_bytes();
    let is_plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"/._-".contains(byte);
    bytes.len() <= SOCKET_FOLDER_LIMIT && bytes.iter().all(is_plain)
}

/// Whether `folder` is one that an earlier run made: in a shared place only the owner and mode tell.
fn is_private(folder: &Path, account: Account) -> bool {
    fs::symlink_metadata(folder).is_ok_and(|found| {
        found.is_dir() && found.uid() == account.uid() && found.mode() & 0o777 == 0o700
    })
}

/// Creates, unless it exists, a folder that only `account` can enter.
fn lend(path: &Path, account: Account) -> Result<(), StoresError> {
    match DirBuilder::new().mode(0o700).create(path) {
        Err(cause) if cause.kind() != io::ErrorKind::AlreadyExists => Err(StoresError::Folder {
            path: path.to_path_buf(),
            cause,
        }),
        _ => account.take(path),
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{SOCKET_FOLDER_LIMIT, is_plain};

    #[test]
    fn a_socket_folder_is_short_and_needs_no_quoting() {
        assert!(is_plain(Path::new("/var/lib/seckill/run")));
        assert!(is_plain(Path::new(&"/".repeat(SOCKET_FOLDER_LIMIT))));
        assert!(!is_plain(Path::new(&"/".repeat(SOCKET_FOLDER_LIMIT + 1))));
        for odd in ["/a b", "/a,b", "/a%20b", "/a+b", "/a?b", "/数据"] {
            assert!(!is_plain(Path::new(odd)), "{odd}");
        }
    }
}
