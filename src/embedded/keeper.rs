//! The thread on which both stores are spawned and watched. The kernel sends a child's death signal when
//! the *thread* that spawned it ends, so the runtime's own threads, which come and go, must not spawn them.

use std::path::{Path, PathBuf};
use std::thread;

use tokio::process::Child;
use tokio::sync::{mpsc, oneshot, watch};

use super::account::Account;
use super::child::{self, Store};
use super::folder::Folder;
use super::postgres::Postgres;
use super::redis::Redis;
use super::{Addresses, StoresError};

type Ready = oneshot::Sender<Result<Addresses, StoresError>>;

/// Starts the thread. `ready` hears once how the start went; `failure` hears of a later loss and closes
/// when all is over.
pub(super) fn spawn(
    data: PathBuf,
    ready: Ready,
    stop: watch::Receiver<bool>,
    failure: mpsc::Sender<StoresError>,
) -> Result<(), StoresError> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(StoresError::at(&data))?;
    let keep = move || {
        if let Err(error) = runtime.block_on(run(&data, ready, stop)) {
            // Nobody listens any more when the program is already ending.
            let _ = failure.try_send(error);
        }
    };
    thread::Builder::new()
        .name("stores".to_owned())
        .spawn(keep)
        .map_err(|_| StoresError::Keeper)?;
    Ok(())
}

/// The life of both stores. Returning early, also by a cancelled start, ends the thread and thereby them.
async fn run(
    data: &Path,
    mut ready: Ready,
    stop: watch::Receiver<bool>,
) -> Result<(), StoresError> {
    let launched = tokio::select! {
        () = ready.closed() => return Ok(()),
        launched = launch(data) => launched,
    };
    let stores = match launched {
        Ok(stores) => stores,
        Err(error) => {
            let _ = ready.send(Err(error));
            return Ok(());
        }
    };
    // A refused message means that the owner, and with it the sender of `stop`, is gone.
    let _ = ready.send(Ok(stores.addresses()));
    let Stores {
        folder,
        postgres: (postgres, postgres_child),
        redis: (redis, redis_child),
    } = stores;
    tokio::try_join!(
        child::keep(&postgres, &folder, postgres_child, stop.clone()),
        child::keep(&redis, &folder, redis_child, stop),
    )?;
    folder.close();
    Ok(())
}

struct Stores {
    folder: Folder,
    postgres: (Postgres, Child),
    redis: (Redis, Child),
}

impl Stores {
    fn addresses(&self) -> Addresses {
        Addresses {
            database: self.postgres.0.url(),
            redis: self.redis.0.url(),
        }
    }
}

async fn launch(data: &Path) -> Result<Stores, StoresError> {
    let account = Account::of_stores()?;
    let folder = Folder::open(data, account).await?;
    let postgres = Postgres::on(&folder)?;
    let redis = Redis::on(&folder)?;
    let (postgres_child, redis_child) =
        tokio::try_join!(start(&postgres, &folder), start(&redis, &folder))?;
    Ok(Stores {
        folder,
        postgres: (postgres, postgres_child),
        redis: (redis, redis_child),
    })
}

async fn start<S: Store>(store: &S, folder: &Folder) -> Result<Child, StoresError> {
    let child = child::start(store, folder).await?;
    tracing::info!(
        store = S::NAME,
        process.id = child.id(),
        "a private store answers"
    );
    Ok(child)
}
