//! The private PostgreSQL: where it is installed, how its data are created whole or not at all, how it is
//! run. Whoever may enter the socket folder is its superuser: the folder's mode is the password.

use std::cmp::Reverse;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::str::FromStr;

use sqlx::postgres::{PgConnectOptions, PgConnection};
use sqlx::{Connection, Executor};
use tokio::process::Command;

use super::StoresError;
use super::account::Account;
use super::child::Store;
use super::folder::{Folder, NO_SPACE};
use super::log;
use super::program;

/// Debian's packages keep each version's programs here, off the `PATH`.
const DEBIAN: &str = "/usr/lib/postgresql";
/// The version this program is made for, and the oldest it accepts.
const VERSION: u32 = 15;
const ROLE: &str = "seckill";
const DATABASE: &str = "seckill";

/// A cluster in the data folder.
pub(super) struct Postgres {
    programs: PathBuf,
    account: Account,
    root: PathBuf,
    data: PathBuf,
    sockets: PathBuf,
}

impl Postgres {
    /// Finds the programs for the cluster of `folder`.
    pub(super) fn on(folder: &Folder) -> Result<Self, StoresError> {
        let data = folder.root().join(Self::FOLDER);
        let version = fs::read_to_string(data.join("PG_VERSION")).ok();
        let version = version.and_then(|text| text.trim().parse().ok());
        let programs = installation(version, &program::search_path(), Path::new(DEBIAN)).ok_or(
            StoresError::Missing {
                store: Self::NAME,
                remedy: "install version 15 or newer, on Debian 12 `apt-get install postgresql-15`",
            },
        )?;
        Ok(Self {
            programs,
            account: folder.account(),
            root: folder.root().to_path_buf(),
            data,
            sockets: folder.sockets().to_path_buf(),
        })
    }

    /// The address of the program's database.
    pub(super) fn url(&self) -> String {
        self.url_of(DATABASE)
    }

    fn url_of(&self, database: &str) -> String {
        // The socket folder needs no encoding: see `folder::is_plain`. PostgreSQL has no TLS on sockets.
        format!(
            "postgres://{ROLE}@localhost:5432/{database}?host={}&sslmode=disable",
            self.sockets.display()
        )
    }

    async fn connect(&self) -> Result<PgConnection, sqlx::Error> {
        let options = PgConnectOptions::from_str(&self.url_of("postgres"))?;
        PgConnection::connect_with(&options).await
    }

    /// Runs `initdb` on an empty folder.
    async fn init(&self, data: &Path, lock: &File) -> Result<(), StoresError> {
        let output = program::command(&self.programs.join("initdb"), self.account, Self::STOP)
            .arg("--pgdata")
            .arg(data)
            .args(["--username", ROLE, "--auth", "trust"])
            .args(["--encoding", "UTF8", "--locale", "C.UTF-8"])
            .args(["--data-checksums", "--no-instructions", "--no-sync"])
            .stdin(Stdio::from(
                lock.try_clone().map_err(StoresError::at(data))?,
            ))
            .output()
            .await
            .map_err(StoresError::at(data))?;
        if output.status.success() {
            return self.sync(data).await;
        }
        // `initdb` says everything of interest on standard error, and what it was doing on the other.
        let said = String::from_utf8_lossy(&output.stderr);
        let reason = log::last_words(&said)
            .unwrap_or_else(|| format!("initdb ended with {}", output.status));
        if said.contains(NO_SPACE) {
            return Err(StoresError::Full {
                folder: self.root.clone(),
                store: Self::NAME,
                reason,
            });
        }
        Err(StoresError::Create {
            store: Self::NAME,
            reason,
        })
    }

    /// Brings a new cluster to the disk in one call, where `initdb` itself would sync a thousand files.
    async fn sync(&self, data: &Path) -> Result<(), StoresError> {
        let synced = self.account.shell(r#"sync -f "$1""#, &[data]).await;
        let synced = synced.map_err(StoresError::at(data))?;
        if synced.status.success() {
            return Ok(());
        }
        let reason = String::from_utf8_lossy(&synced.stderr).trim().to_owned();
        Err(StoresError::Create {
            store: Self::NAME,
            reason,
        })
    }

    /// Removes a `postmaster.pid` whose process id belongs to another program by now, as happens in
    /// containers, where ids are small and come again. PostgreSQL would take that program for itself.
    async fn drop_stale_pid(&self) -> Result<(), StoresError> {
        let script = r#"read -r process <"$1"/postmaster.pid || exit 0
            [ -d "/proc/$process" ] && ! [ "/proc/$process/cwd" -ef "$1" ] && rm -f "$1"/postmaster.pid
            exit 0"#;
        let done = self.account.shell(script, &[&self.data]).await;
        done.map(drop).map_err(StoresError::at(&self.data))
    }
}

impl Store for Postgres {
    const NAME: &'static str = "PostgreSQL";
    const FOLDER: &'static str = "postgres";
    /// Fast shutdown: ends sessions, writes a checkpoint.
    const STOP: &'static str = "INT";
    /// Immediate shutdown: the next start replays the log.
    const FORCE: &'static str = "QUIT";

    async fn create(&self, lock: &File) -> Result<(), StoresError> {
        if self.data.join("PG_VERSION").exists() {
            return self.account.take(&self.data);
        }
        // Under another name until it is whole: a first start may be interrupted at any moment.
        let new = self.data.with_extension("new");
        if new.exists() {
            fs::remove_dir_all(&new).map_err(StoresError::at(&new))?;
        }
        fs::create_dir(&new).map_err(StoresError::at(&new))?;
        self.account.take(&new)?;
        let initialised = self.init(&new, lock).await;
        if initialised.is_err() {
            let _ = fs::remove_dir_all(&new);
        }
        initialised?;
        fs::rename(&new, &self.data).map_err(StoresError::at(&self.data))?;
        File::open(&self.root)
            .and_then(|root| root.sync_all())
            .map_err(StoresError::at(&self.root))
    }

    async fn prepare(&self) -> Result<(), StoresError> {
        if !self.data.join("PG_VERSION").exists() {
            return Err(StoresError::Gone {
                store: Self::NAME,
                folder: self.data.clone(),
            });
        }
        self.drop_stale_pid().await
    }

    fn command(&self) -> Command {
        let mut command =
            program::command(&self.programs.join("postgres"), self.account, Self::STOP);
        command.arg("-D").arg(&self.data);
        let sockets = format!("unix_socket_directories={}", self.sockets.display());
        let settings = [
            "listen_addresses=",
            &sockets,
            "unix_socket_permissions=0700",
            "port=5432",
            "max_connections=100",
            "shared_buffers=128MB",
            "fsync=on",
            "logging_collector=off",
            // The keeper does that, with pauses: on a full disk PostgreSQL would try without end.
            "restart_after_crash=off",
            // After a crash: one call instead of a sync of each file, 0.02 s instead of 4 s here.
            #[cfg(target_os = "linux")]
            "recovery_init_sync_method=syncfs",
        ];
        for setting in settings {
            command.args(["-c", setting]);
        }
        command
    }

    async fn answers(&self) -> bool {
        // Each attempt before that would leave a line in the log.
        let state = fs::read_to_string(self.data.join("postmaster.pid")).unwrap_or_default();
        if !state.trim_end().ends_with("ready") {
            return false;
        }
        let Ok(mut connection) = self.connect().await else {
            return false;
        };
        connection.ping().await.is_ok()
    }

    async fn complete(&self) -> Result<(), String> {
        let create = async {
            let mut connection = self.connect().await?;
            let exists: bool =
                sqlx::query_scalar("SELECT EXISTS (SELECT FROM pg_database WHERE datname = $1)")
                    .bind(DATABASE)
                    .fetch_one(&mut connection)
                    .await?;
            if !exists {
                connection.execute("CREATE DATABASE seckill").await?;
            }
            connection.close().await
        };
        create.await.map_err(|error: sqlx::Error| error.to_string())
    }
}

/// The folder that holds both programs: of the version that made the data, else by `PATH`, else Debian's
/// version 15, else its newest.
fn installation(version: Option<u32>, path: &[PathBuf], debian: &Path) -> Option<PathBuf> {
    let of_version = |version: u32| debian.join(version.to_string()).join("bin");
    let entries = fs::read_dir(debian).into_iter().flatten().flatten();
    let mut installed: Vec<u32> = entries
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .collect();
    installed.retain(|version| *version >= VERSION);
    installed.sort_unstable_by_key(|version| (*version != VERSION, Reverse(*version)));
    version
        .map(of_version)
        .into_iter()
        .chain(path.iter().cloned())
        .chain(installed.into_iter().map(of_version))
        .find_map(|folder| {
            // A link on the `PATH` leads to where the other programs and their files are.
            let postgres = folder.join("postgres").canonicalize().ok()?;
            let folder = postgres.parent()?.to_path_buf();
            let is_whole = ["postgres", "initdb"]
                .iter()
                .all(|name| program::is_executable(&folder.join(name)));
            is_whole.then_some(folder)
        })
}

#[cfg(test)]
mod tests {
    use std::fs::{self, Permissions};
    use std::os::unix::fs::PermissionsExt;
    use std::path::{Path, PathBuf};

    use super::installation;

    #[test]
    fn the_version_that_made_the_data_comes_first_then_the_path_then_15_then_the_newest() {
        let name = format!("seckill-test-{:08x}", rand::random::<u32>());
        let root = std::env::temp_dir().canonicalize().unwrap().join(name);
        let [v15, v16, v17, on_path] =
            ["15/bin", "16/bin", "17/bin", "path"].map(|folder| install(&root.join(folder)));
        install(&root.join("9/bin"));
        let path = [on_path.clone()];

        assert_eq!(installation(Some(16), &path, &root), Some(v16));
        assert_eq!(installation(Some(18), &path, &root), Some(on_path));
        assert_eq!(installation(None, &[], &root), Some(v15.clone()));
        fs::remove_file(v15.join("initdb")).unwrap();
        assert_eq!(installation(None, &[], &root), Some(v17));
        assert_eq!(installation(None, &[], &root.join("path")), None);
        fs::remove_dir_all(root).unwrap();
    }

    fn install(folder: &Path) -> PathBuf {
        fs::create_dir_all(folder).unwrap();
        for name in ["postgres", "initdb"] {
            fs::write(folder.join(name), "").unwrap();
            fs::set_permissions(folder.join(name), Permissions::from_mode(0o755)).unwrap();
        }
        folder.to_path_buf()
    }
}
