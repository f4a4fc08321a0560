//! A connection is an open file, of which a process may have so many. Without one left it reaches no store either, so
//! connections leave some.

use rustix::process::{Resource, getrlimit, setrlimit};

/// Open files that are not for visitors: 256 for lines to the stores, the site's files and what the system itself needs, and
/// as many as there are who are being told that there is no place.
const RESERVE: u32 = 256 + super::refusal::AT_ONCE;

/// Asks for as many open files as the system lets this process have; how many of the `wanted` connections fit in.
pub(crate) fn connections(wanted: u32) -> u32 {
    let mut limit = getrlimit(Resource::Nofile);
    if limit.current != limit.maximum {
        limit.current = limit.maximum;
        if let Err(error) = setrlimit(Resource::Nofile, limit) {
            tracing::warn!(error = %error, "cannot have more open files");
            limit = getrlimit(Resource::Nofile);
        }
    }
    let fit = fit(limit.current, wanted);
    if fit < wanted {
        tracing::warn!(
            connections = fit,
            "not {wanted} connections at a time: the system lets this process open too few files (ulimit -n)"
        );
    }
    fit
}

fn fit(files: Option<u64>, wanted: u32) -> u32 {
    let Some(files) = files else { return wanted };
    let files = u32::try_from(files).unwrap_or(u32::MAX);
    // Of very few, half.
    wanted.min(files.saturating_sub(RESERVE).max(files / 2).max(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn some_files_are_left_for_the_stores() {
        assert_eq!(fit(None, 10_000), 10_000);
        assert_eq!(fit(Some(20_000), 10_000), 10_000);
        assert_eq!(fit(Some(1024), 10_000), 512);
        assert_eq!(fit(Some(64), 10_000), 32);
    }
}
