//! A temporary folder, gone at the end of the test.

use std::path::{Path, PathBuf};

pub struct Folder(PathBuf);

impl Folder {
    pub fn new() -> Self {
        let path =
            std::env::temp_dir().join(format!("seckill-test-{:016x}", rand::random::<u64>()));
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    /// A folder with what the program needs of a built site, and no content.
    pub fn of_a_site() -> Self {
        let folder = Self::new();
        std::fs::create_dir(folder.path().join("pkg")).unwrap();
        std::fs::write(folder.path().join("hash.txt"), "js: a\nwasm: b\ncss: c\n").unwrap();
        folder
    }

    pub fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // What is left behind is the system's to tidy.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
