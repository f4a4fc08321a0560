//! Which key of a command says where it goes. All keys of one command lie in one slot, so the first is enough.

use redis::{Arg, Cmd};

/// The first key of a command of this program; `None` when any node may answer it.
pub(super) fn key_of(cmd: &Cmd) -> Option<&[u8]> {
    let mut words = cmd.args_iter().map(|arg| match arg {
        Arg::Simple(word) => word,
        _ => b"",
    });
    match words.next()? {
        b"PING" | b"INFO" | b"SCRIPT" | b"KEYS" | b"FLUSHALL" | b"CLUSTER" | b"PUBLISH" => None,
        b"EVALSHA" | b"EVAL" => words.nth(2),
        b"XGROUP" | b"XINFO" => words.nth(1),
        b"XREADGROUP" => {
            words.find(|word| *word == b"STREAMS")?;
            words.next()
        }
        _ => words.next(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(words: &str) -> Option<String> {
        let mut words = words.split(' ');
        let mut cmd = redis::cmd(words.next().unwrap());
        cmd.arg(words.collect::<Vec<_>>());
        key_of(&cmd).map(|key| String::from_utf8(key.to_vec()).unwrap())
    }

    #[test]
    fn every_command_is_sent_by_its_key() {
        for (words, expected) in [
            ("GET a", Some("a")),
            ("SET a value NX PX 5", Some("a")),
            ("UNLINK a b", Some("a")),
            ("EVALSHA 0f 2 a b argument", Some("a")),
            ("EVAL return 2 a b argument", Some("a")),
            ("XGROUP CREATE a consumers 0 MKSTREAM", Some("a")),
            ("XINFO CONSUMERS a consumers", Some("a")),
            (
                "XREADGROUP GROUP consumers me COUNT 5 BLOCK 2000 STREAMS a >",
                Some("a"),
            ),
            ("XAUTOCLAIM a consumers me 15000 0-0", Some("a")),
            ("SCRIPT FLUSH", None),
            ("INFO server", None),
            ("PUBLISH channel words", None),
        ] {
            assert_eq!(key(words).as_deref(), expected, "{words}");
        }
    }
}
