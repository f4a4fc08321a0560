//! Why the private stores cannot run: each variant is one line for the person at the terminal, who
//! should know from it what to do. Causes are part of that line, so none has a `source`.

use std::io;
use std::path::{Path, PathBuf};

/// A failure of embedded mode.
#[derive(Debug, thiserror::Error)]
pub enum StoresError {
    /// The lock file is held by another program.
    #[error("another Seckill{} is using the data folder {}", named(.process), .folder.display())]
    Busy {
        /// The data folder.
        folder: PathBuf,
        /// The other program's process id, when it wrote one down.
        process: Option<u32>,
    },
    /// Taking over somebody's documents by a mistyped setting would be worse than stopping.
    #[error("{} is neither empty nor a data folder of Seckill: choose another SECKILL_DATA", .folder.display())]
    Foreign {
        /// The folder asked for.
        folder: PathBuf,
    },
    /// The file system says no.
    #[error("cannot use {}: {cause}", .path.display())]
    Folder {
        /// What was to be read or written.
        path: PathBuf,
        /// What the system answered.
        cause: io::Error,
    },
    /// Started by root, the stores run under an account that cannot reach their folder.
    #[error(
        "the account `{account}`, under which the stores run when root starts Seckill, may not enter {}: \
         choose another SECKILL_DATA", .folder.display()
    )]
    Closed {
        /// That account.
        account: &'static str,
        /// The first folder on the way that is closed to it.
        folder: PathBuf,
    },
    /// Started by root, but there is no account to run under.
    #[error(
        "PostgreSQL refuses to run as root and there is no account `{account}`: \
         install PostgreSQL from packages, or start Seckill as another user"
    )]
    NoAccount {
        /// The account looked for.
        account: &'static str,
    },
    /// A store is not installed.
    #[error("{store} is not installed: {remedy}")]
    Missing {
        /// What is missing.
        store: &'static str,
        /// What to install.
        remedy: &'static str,
    },
    /// No space for the store to start in.
    #[error("the disk of {} is full: free some space and start again ({store}: {reason})", .folder.display())]
    Full {
        /// The data folder.
        folder: PathBuf,
        /// Who needed the space.
        store: &'static str,
        /// That store's last words.
        reason: String,
    },
    /// The data of a store could not be created.
    #[error("the data folder of {store} cannot be created: {reason}")]
    Create {
        /// Which store.
        store: &'static str,
        /// What its program said.
        reason: String,
    },
    /// A store ended, or did not answer, while it started.
    #[error("{store} did not start: {reason} (its log is {})", .log.display())]
    Start {
        /// Which one.
        store: &'static str,
        /// Its last words.
        reason: String,
        /// Where to read more.
        log: PathBuf,
    },
    /// An earlier run's store does not let go of the folder.
    #[error("{store} of an earlier run is still using {} and does not stop", .folder.display())]
    Leftover {
        /// Which one.
        store: &'static str,
        /// The data folder.
        folder: PathBuf,
    },
    /// The data vanished under the running program: starting afresh would hide the loss.
    #[error("the data of {store} is gone from {}", .folder.display())]
    Gone {
        /// Whose data.
        store: &'static str,
        /// Where it was.
        folder: PathBuf,
    },
    /// A fault of this program.
    #[error("the thread that keeps the private stores ended")]
    Keeper,
}

impl StoresError {
    /// Names the file of an I/O error; for `map_err`.
    pub(super) fn at(path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_path_buf();
        move |cause| Self::Folder { path, cause }
    }

    /// Whether trying again cannot help.
    pub(super) fn is_final(&self) -> bool {
        matches!(self, Self::Gone { .. } | Self::Missing { .. })
    }
}

fn named(process: &Option<u32>) -> String {
    process.map_or_else(String::new, |id| format!(" (process {id})"))
}
