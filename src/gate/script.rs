//! A Lua script and its runs: by its hash, which costs little, and with its text where Redis does not know it.

use redis::{Arg, Cmd, ToRedisArgs, cmd};

/// A script.
pub struct Script {
    text: &'static str,
    /// How Redis calls one that it has run before.
    hash: String,
}

impl Script {
    /// A script of this text.
    #[must_use]
    pub fn new(text: &'static str) -> Self {
        let hash = redis::Script::new(text).get_hash().to_owned();
        Self { text, hash }
    }

    /// A run of it on these keys, of which one at least says where it is run.
    pub fn on(&'static self, keys: &[impl ToRedisArgs]) -> Call {
        // Room for what a buy says, which is the run that counts.
        let mut command = Cmd::with_capacity(12, 320);
        command.arg("EVALSHA").arg(&self.hash).arg(keys.len());
        command.arg(keys);
        Call {
            script: self,
            command,
        }
    }
}

/// A run of a script.
pub struct Call {
    script: &'static Script,
    command: Cmd,
}

impl Call {
    /// One more argument, or as many as `arg` has.
    pub fn arg(&mut self, arg: impl ToRedisArgs) -> &mut Self {
        self.command.arg(arg);
        self
    }

    /// The run of a script that Redis knows.
    pub(super) fn by_hash(&self) -> &Cmd {
        &self.command
    }

    /// The same run with the script in it, which Redis knows from then on.
    pub(super) fn by_text(&self) -> Cmd {
        let mut command = cmd("EVAL");
        command.arg(self.script.text);
        for word in self.command.args_iter().skip(2) {
            if let Arg::Simple(word) = word {
                command.arg(word);
            }
        }
        command
    }
}

#[cfg(test)]
mod tests {
    use std::sync::LazyLock;

    use super::*;

    #[test]
    fn a_run_is_the_same_by_hash_and_by_text() {
        static SCRIPT: LazyLock<Script> = LazyLock::new(|| Script::new("return 1"));
        let mut call = SCRIPT.on(&["a", "b"]);
        call.arg(7).arg(&["x", "y"]);
        let words = |command: &Cmd| {
            let words = command.args_iter().map(|word| match word {
                Arg::Simple(word) => String::from_utf8_lossy(word).into_owned(),
                _ => String::new(),
            });
            words.collect::<Vec<_>>()
        };
        let (by_hash, by_text) = (words(call.by_hash()), words(&call.by_text()));
        assert_eq!(by_hash[..2], ["EVALSHA", &SCRIPT.hash]);
        assert_eq!(by_text[..2], ["EVAL", "return 1"]);
        assert_eq!(by_hash[2..], ["2", "a", "b", "7", "x", "y"]);
        assert_eq!(by_text[2..], by_hash[2..]);
    }
}
