//! One store's process: launched on a folder that nobody else has open, watched, launched again when it
//! dies, and ended in order. What differs between the stores is behind [`Store`].

use std::fs::{File, TryLockError};
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use tokio::process::{Child, Command};
use tokio::sync::watch;
use tokio::time::{Instant, sleep, timeout};

use super::StoresError;
use super::folder::{Folder, NO_SPACE, open_lock};
use super::log::Log;

const POLL: Duration = Duration::from_millis(20);
/// Replaying a long log after a crash takes minutes; a store that is alive gets them.
const START_LIMIT: Duration = Duration::from_secs(300);
const ANSWER_LIMIT: Duration = Duration::from_secs(5);
const LEFTOVER_LIMIT: Duration = Duration::from_secs(60);
const STOP_LIMIT: Duration = Duration::from_secs(60);
const FORCE_LIMIT: Duration = Duration::from_secs(10);
const FIRST_PAUSE: Duration = Duration::from_millis(100);
const LONGEST_PAUSE: Duration = Duration::from_secs(5);
/// A store that ran this long is not in a loop of crashes.
const STEADY: Duration = Duration::from_secs(30);

/// What the two stores do differently.
pub(super) trait Store {
    /// The name people know.
    const NAME: &'static str;
    /// The names of folder, lock and log.
    const FOLDER: &'static str;
    /// The signal that asks for an orderly end.
    const STOP: &'static str;
    /// The signal that demands an end, without loss of what was promised.
    const FORCE: &'static str;

    /// Creates the data unless they exist. `lock` is held by whoever works on the folder.
    async fn create(&self, lock: &File) -> Result<(), StoresError>;
    /// Makes an existing folder ready for a launch; [`StoresError::Gone`] when there are no data.
    async fn prepare(&self) -> Result<(), StoresError>;
    /// The command that runs the store in the foreground.
    fn command(&self) -> Command;
    /// Whether it answers.
    async fn answers(&self) -> bool;
    /// What remains to be done once it answers; the error is its reason in words.
    async fn complete(&self) -> Result<(), String>;
}

/// Starts a store, creating its data when there are none.
pub(super) async fn start<S: Store>(store: &S, folder: &Folder) -> Result<Child, StoresError> {
    let lock = take_over::<S>(folder).await?;
    store.create(&lock).await?;
    launch(store, folder, lock).await
}

/// Keeps a started store running until `stop` says otherwise, then ends it.
pub(super) async fn keep<S: Store>(
    store: &S,
    folder: &Folder,
    mut child: Child,
    mut stop: watch::Receiver<bool>,
) -> Result<(), StoresError> {
    let mut pause = FIRST_PAUSE;
    loop {
        let since = Instant::now();
        tokio::select! {
            () = asked(&mut stop) => {
                end::<S>(folder, &mut child).await;
                return Ok(());
            }
            status = child.wait() => {
                let status = status.map_or_else(|error| error.to_string(), |status| status.to_string());
                tracing::warn!(store = S::NAME, status, "a private store died; starting it again");
            }
        }
        if since.elapsed() > STEADY {
            pause = FIRST_PAUSE;
        }
        child = tokio::select! {
            () = asked(&mut stop) => return Ok(()),
            child = revive(store, folder, &mut pause) => child?,
        };
        tracing::info!(store = S::NAME, "the private store is back");
    }
}

/// Launches again and again, with growing pauses, until it works or cannot.
async fn revive<S: Store>(
    store: &S,
    folder: &Folder,
    pause: &mut Duration,
) -> Result<Child, StoresError> {
    let mut is_told = false;
    loop {
        sleep(*pause).await;
        *pause = (*pause * 2).min(LONGEST_PAUSE);
        let launched = match take_over::<S>(folder).await {
            Ok(lock) => launch(store, folder, lock).await,
            Err(error) => Err(error),
        };
        match launched {
            Ok(child) => return Ok(child),
            Err(error) if error.is_final() => return Err(error),
            Err(error) if !is_told => {
                tracing::error!(store = S::NAME, %error, "a private store is down; trying on");
                is_told = true;
            }
            Err(_) => {}
        }
    }
}

/// Makes sure that no process of an earlier launch has the store open, and answers the lock that says so.
///
/// Each process of a store inherits the lock as its standard input and so holds it until the last of
/// them is gone, whatever became of the program that started it.
async fn take_over<S: Store>(folder: &Folder) -> Result<File, StoresError> {
    let path = folder.root().join(S::FOLDER).with_extension("lock");
    let lock = open_lock(&path)?;
    let begun = Instant::now();
    let mut signals = [(Duration::ZERO, S::STOP), (LEFTOVER_LIMIT / 2, S::FORCE)]
        .into_iter()
        .peekable();
    loop {
        match lock.try_lock() {
            Ok(()) => return Ok(lock),
            Err(TryLockError::WouldBlock) => {}
            Err(TryLockError::Error(cause)) => return Err(StoresError::Folder { path, cause }),
        }
        if begun.elapsed() > LEFTOVER_LIMIT {
            return Err(StoresError::Leftover {
                store: S::NAME,
                folder: folder.root().to_path_buf(),
            });
        }
        if let Some((_, signal)) = signals.next_if(|(after, _)| begun.elapsed() >= *after) {
            tracing::info!(
                store = S::NAME,
                signal,
                "stopping what an earlier run left behind"
            );
            let script = r#"for process in /proc/[0-9]*; do
                [ "$process/fd/0" -ef "$1" ] && kill -s "$2" "${process#/proc/}"
            done"#;
            let args = [path.as_os_str(), signal.as_ref()];
            folder
                .account()
                .shell(script, &args)
                .await
                .map_err(StoresError::at(&path))?;
        }
        sleep(POLL).await;
    }
}

/// Spawns the store and waits until it answers. It inherits `lock`.
async fn launch<S: Store>(store: &S, folder: &Folder, lock: File) -> Result<Child, StoresError> {
    store.prepare().await?;
    let mut log = Log::open(folder.root().join(S::FOLDER).with_extension("log"))?;
    let mut child = store
        .command()
        .stdin(Stdio::from(lock))
        .stdout(Stdio::from(log.handle()?))
        .stderr(Stdio::from(log.handle()?))
        .spawn()
        .map_err(StoresError::at(log.path()))?;
    let reason = match wait_until_ready(store, &mut child).await {
        Ok(()) => match store.complete().await {
            Ok(()) => return Ok(child),
            Err(reason) => reason,
        },
        Err(Some(status)) => log
            .last_words()
            .unwrap_or_else(|| format!("it ended with {status} and said nothing")),
        Err(None) => log
            .last_words()
            .unwrap_or_else(|| "it does not answer".to_owned()),
    };
    end::<S>(folder, &mut child).await;
    Err(failure::<S>(folder, reason, &log).await)
}

/// The error holds the exit status, or nothing when time is up.
async fn wait_until_ready<S: Store>(
    store: &S,
    child: &mut Child,
) -> Result<(), Option<ExitStatus>> {
    let answers = async {
        while !timeout(ANSWER_LIMIT, store.answers())
            .await
            .unwrap_or(false)
        {
            sleep(POLL).await;
        }
    };
    tokio::select! {
        status = child.wait() => Err(status.ok()),
        answered = timeout(START_LIMIT, answers) => answered.map_err(|_| None),
    }
}

/// Names a full disk for what it is, also when it kept the store from logging it.
async fn failure<S: Store>(folder: &Folder, reason: String, log: &Log) -> StoresError {
    if reason.contains(NO_SPACE) || folder.is_full().await {
        return StoresError::Full {
            folder: folder.root().to_path_buf(),
            store: S::NAME,
            reason,
        };
    }
    StoresError::Start {
        store: S::NAME,
        reason,
        log: log.path().to_path_buf(),
    }
}

/// Ends a store: asks, demands, kills.
async fn end<S: Store>(folder: &Folder, child: &mut Child) {
    for (signal, limit) in [(S::STOP, STOP_LIMIT), (S::FORCE, FORCE_LIMIT)] {
        // None: it has ended already.
        let Some(process) = child.id() else { return };
        folder.account().signal(process, signal).await;
        if timeout(limit, child.wait()).await.is_ok() {
            return;
        }
        tracing::warn!(store = S::NAME, signal, "a private store does not stop");
    }
    if let Err(error) = child.kill().await {
        tracing::warn!(store = S::NAME, %error, "cannot kill a private store");
    }
}

/// Resolves when the stores are to stop, also when their owner is gone.
async fn asked(stop: &mut watch::Receiver<bool>) {
    let _ = stop.wait_for(|stop| *stop).await;
}
