//! Passwords that everybody tries first. The `zxcvbn` crate has lists of the most common passwords, names and words, and
//! sees through their usual disguises (`P@ssw0rd`, `drowssap`, `qwertyuiop`, `abcabcabc`, dates); the words below are
//! what it does not know of shoppers in China.

use zxcvbn::{Score, zxcvbn};

/// Numbers that sound like words, and the words themselves, as in the most used passwords of Chinese sites.
const HERE: [&str; 24] = [
    "5201314", "1314520", "520520", "5211314", "1314521", "woaini", "aini", "woaiwo", "wodemima",
    "mima", "nihao", "zhongguo", "qq", "taobao", "seckill", "miaosha", "dearbook", "a123456",
    "abc123", "123abc", "1q2w3e", "1qaz2wsx", "qazwsx", "zxcvbnm",
];

/// So much of a password decides: what begins with so many good letters is good, and the time to find out is bounded.
const LETTERS: usize = 24;

/// Would somebody who knows the account's name guess this password within a million tries?
#[must_use]
pub fn is_common(password: &str, name: &str) -> bool {
    let beginning: String = password.chars().take(LETTERS).collect();
    let folded = name.to_lowercase();
    let mut words = vec![name, folded.as_str()];
    words.extend(HERE);
    zxcvbn(&beginning, &words).score() <= Score::One
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_everybody_tries_first_is_common() {
        for password in [
            "password",
            "12345678",
            "123456789",
            "qwertyuiop",
            "11111111",
            "P@ssw0rd",
            "password1",
            "iloveyou",
            "abcd1234",
            "drowssap",
            "1qaz2wsx",
            "5201314520",
            "woaini520",
            "woaini1314",
            "a123456789",
            "seckill1",
            "19900101",
            "aaaaaaaaaaaaaaaaaaaaaaaa",
            "abcabcabcabc",
            "88888888",
        ] {
            assert!(is_common(password, "somebody"), "{password}");
        }
        assert!(is_common("amyamyamy", "Amy"));
        assert!(is_common("xiaomei88", "xiaomei"));
        assert!(is_common(&"a".repeat(128), "somebody"));
    }

    /// What is made to keep it busy keeps it busy for no longer than a hash or two.
    #[test]
    fn no_password_takes_long() {
        let began = std::time::Instant::now();
        let hard = is_common("4@({<[3691!|0$5+7%24@({<[3691!|0$5+7%2", "somebody");
        eprintln!("common: {hard}, in {:?}", began.elapsed());
        assert!(began.elapsed() < std::time::Duration::from_secs(5));
    }

    #[test]
    fn what_only_its_owner_thinks_of_is_not() {
        for password in [
            "correct horse",
            "another password of mine",
            "kx7#mQ2z",
            "小美的咖啡店很好喝",
            "vT9rpl2w",
            "wrong horse",
            "人民路一号咖啡",
        ] {
            assert!(!is_common(password, "somebody"), "{password}");
        }
        assert!(!is_common(
            &format!("kx7mQ2zr{}", "a".repeat(120)),
            "somebody"
        ));
    }
}
