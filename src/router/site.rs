//! The built site: files under names with a hash of their content, served packed and kept by browsers for ever, and
//! the few files at the root.

use std::{io, path::Path, sync::Arc};

use app::app::Files;
use axum::{
    Router,
    http::{HeaderValue, Response, header},
};
use leptos::prelude::LeptosOptions;
use tower::ServiceBuilder;
use tower_http::{
    services::{ServeDir, ServeFile},
    set_header::SetResponseHeaderLayer,
};

use crate::backend::Services;

/// The folder of hashed files, in the site and in addresses.
const PACKAGE: &str = "pkg";

/// The names of the hashed files, written by the build.
const HASHES: &str = "hash.txt";

/// A site that has been built.
pub(super) struct Site {
    folder: std::path::PathBuf,
    root_files: Vec<String>,
    /// What the pages say of the files.
    pub(super) files: Arc<Files>,
}

impl Site {
    /// Finds the site in `folder`.
    ///
    /// # Errors
    /// When it is not there.
    pub(super) fn find(folder: &Path) -> io::Result<Self> {
        let missing = |error: io::Error| {
            io::Error::new(
                error.kind(),
                format!(
                    "no site in {} (`make build` makes it): {error}",
                    folder.display()
                ),
            )
        };
        let folder = folder.canonicalize().map_err(missing)?;
        let hashes = folder.join(HASHES);
        hashes.metadata().map_err(missing)?;
        let mut root_files = Vec::new();
        for entry in folder.read_dir()? {
            let entry = entry?;
            let name = entry.file_name().to_string_lossy().into_owned();
            let is_packed_copy = name.ends_with(".br") || name.ends_with(".gz");
            if entry.file_type()?.is_file() && name != HASHES && !is_packed_copy {
                root_files.push(name);
            }
        }
        let leptos = LeptosOptions::builder()
            .output_name("seckill")
            .site_root(folder.to_string_lossy().into_owned())
            .site_pkg_dir(PACKAGE)
            .hash_files(true)
            .hash_file(Arc::<str>::from(hashes.to_string_lossy().as_ref()))
            .build();
        Ok(Self {
            folder,
            root_files,
            files: Arc::new(Files::of(&leptos)),
        })
    }

    /// Routes of its files.
    pub(super) fn routes(&self) -> Router<Arc<Services>> {
        let kept =
            |value| SetResponseHeaderLayer::if_not_present(header::CACHE_CONTROL, if_there(value));
        let package = ServeDir::new(self.folder.join(PACKAGE))
            .precompressed_br()
            .precompressed_gzip();
        let package = ServiceBuilder::new()
            .layer(kept("public, max-age=31536000, immutable"))
            .service(package);
        let mut routes = Router::new().nest_service(&format!("/{PACKAGE}"), package);
        for name in &self.root_files {
            let file = ServeFile::new(self.folder.join(name))
                .precompressed_br()
                .precompressed_gzip();
            let file = ServiceBuilder::new()
                .layer(kept("public, max-age=3600"))
                .service(file);
            routes = routes.route_service(&format!("/{name}"), file);
        }
        routes
    }
}

/// How long what is there is kept. What is not may be there soon: while a new build is put in place, for one.
fn if_there<B>(value: &'static str) -> impl Fn(&Response<B>) -> Option<HeaderValue> + Clone {
    move |response| {
        let is_there = !response.status().is_client_error();
        is_there.then(|| HeaderValue::from_static(value))
    }
}
