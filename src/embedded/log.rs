//! A store's log file: where its output goes, and what it said last when it failed.

use std::fs::{self, File, OpenOptions};
use std::io::{Read, Seek, SeekFrom};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use super::StoresError;

/// A larger log is put aside at the next launch; one older log is kept.
const LARGE: u64 = 10 * 1024 * 1024;

/// What marks a line as the reason of a failure: PostgreSQL's severities, `initdb`'s, and Redis' `#`.
const MARKS: [&str; 5] = ["PANIC:", "FATAL:", "ERROR:", "error:", " # "];

/// An open log, remembering where this launch began.
pub(super) struct Log {
    path: PathBuf,
    file: File,
    begin: u64,
}

impl Log {
    pub(super) fn open(path: PathBuf) -> Result<Self, StoresError> {
        if fs::metadata(&path).is_ok_and(|log| log.len() > LARGE) {
            fs::rename(&path, path.with_extension("log.old")).map_err(StoresError::at(&path))?;
        }
        let file = OpenOptions::new()
            .create(true)
            .append(true)
            .read(true)
            // A failed statement is logged with what people typed.
            .mode(0o600)
            .open(&path)
            .map_err(StoresError::at(&path))?;
        let begin = file.metadata().map_err(StoresError::at(&path))?.len();
        Ok(Self { path, file, begin })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// One more handle, for a child's output.
    pub(super) fn handle(&self) -> Result<File, StoresError> {
        self.file.try_clone().map_err(StoresError::at(&self.path))
    }

    /// The line that best explains a failure of this launch.
    pub(super) fn last_words(&mut self) -> Option<String> {
        let mut bytes = Vec::new();
        self.file.seek(SeekFrom::Start(self.begin)).ok()?;
        self.file
            .by_ref()
            .take(LARGE)
            .read_to_end(&mut bytes)
            .ok()?;
        last_words(&String::from_utf8_lossy(&bytes))
    }
}

/// The last marked line without its prefix, or the last line that is not empty.
pub(super) fn last_words(output: &str) -> Option<String> {
    let lines = || {
        output
            .lines()
            .rev()
            .map(str::trim)
            .filter(|line| !line.is_empty())
    };
    let after_mark = |line| {
        let (_, words) = MARKS.iter().find_map(|mark| str::split_once(line, mark))?;
        Some(words.trim())
    };
    let words = lines().find_map(after_mark).or_else(|| lines().next())?;
    Some(words.chars().take(300).collect())
}

#[cfg(test)]
mod tests {
    use super::last_words;

    #[test]
    fn the_fatal_line_is_the_reason_and_not_what_follows_it() {
        let output = "2026-01-01 10:00:00.000 UTC [7] LOG:  starting PostgreSQL\n\
                      2026-01-01 10:00:00.000 UTC [7] FATAL:  could not create lock file: Read-only\n\
                      2026-01-01 10:00:00.000 UTC [7] LOG:  database system is shut down\n\n";
        assert_eq!(
            last_words(output).as_deref(),
            Some("could not create lock file: Read-only")
        );
    }

    #[test]
    fn a_redis_warning_is_the_reason() {
        let output = "7:M 01 Jan 2026 10:00:00.000 * Server initialized\n\
                      7:M 01 Jan 2026 10:00:00.000 # Bad file format reading the append only file\n";
        assert_eq!(
            last_words(output).as_deref(),
            Some("Bad file format reading the append only file")
        );
    }

    #[test]
    fn without_a_mark_the_last_line_is_the_reason() {
        assert_eq!(last_words("first\nlast\n \n").as_deref(), Some("last"));
        assert_eq!(last_words("\n"), None);
    }
}
