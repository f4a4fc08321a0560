//! Hashes one password at a time, in memory that it keeps: made anew for each, its 19 MB leave holes in the heap that the
//! next does not fit in, and 300 sign-ins cost the program hundreds of megabytes (case O28).

use argon2::{
    Algorithm, Argon2, Block, Params, Version,
    password_hash::{
        phc::{Output, ParamsString, PasswordHash, Salt},
        try_generate_salt,
    },
};

/// OWASP's first choice for argon2id: 19 MiB, two passes, one lane.
/// <https://cheatsheetseries.owasp.org/cheatsheets/Password_Storage_Cheat_Sheet.html>
const MEMORY_KIB: u32 = 19 * 1024;
const PASSES: u32 = 2;

type Result<T> = std::result::Result<T, argon2::password_hash::Error>;

/// A place to hash in.
#[derive(Default)]
pub(super) struct Hasher {
    memory: Vec<Block>,
}

impl Hasher {
    /// The hash of a password with a salt of its own, in PHC form.
    pub(super) fn hash(&mut self, password: &str) -> Result<String> {
        let (algorithm, version) = (Algorithm::Argon2id, Version::V0x13);
        let params = Params::new(MEMORY_KIB, PASSES, 1, None)?;
        let salt = Salt::new(&try_generate_salt()?)?;
        let hash = PasswordHash {
            algorithm: algorithm.ident(),
            version: Some(version.into()),
            params: ParamsString::try_from(&params)?,
            hash: Some(self.output(password, &salt, algorithm, version, params)?),
            salt: Some(salt),
        };
        Ok(hash.to_string())
    }

    /// Is this the password of `stored`, whatever it was hashed with? No, for what is no whole hash of argon2.
    pub(super) fn verify(&mut self, password: &str, stored: &PasswordHash) -> Result<bool> {
        let (Some(salt), Some(expected)) = (&stored.salt, &stored.hash) else {
            return Ok(false);
        };
        let algorithm = Algorithm::try_from(stored.algorithm.as_str())?;
        let version = stored.version.map(Version::try_from).transpose()?;
        let params = Params::try_from(stored)?;
        let output = self.output(
            password,
            salt,
            algorithm,
            version.unwrap_or_default(),
            params,
        )?;
        // Takes as long wherever they differ.
        Ok(output == *expected)
    }

    fn output(
        &mut self,
        password: &str,
        salt: &Salt,
        algorithm: Algorithm,
        version: Version,
        params: Params,
    ) -> Result<Output> {
        let blocks = params.block_count();
        if self.memory.len() < blocks {
            self.memory.resize(blocks, Block::new());
        }
        let mut buffer = [0; Output::MAX_LENGTH];
        let length = params.output_len().unwrap_or(Params::DEFAULT_OUTPUT_LEN);
        let out = buffer
            .get_mut(..length)
            .ok_or(argon2::password_hash::Error::OutputSize)?;
        Argon2::new(algorithm, version, params).hash_password_into_with_memory(
            password.as_bytes(),
            salt,
            out,
            &mut self.memory[..blocks],
        )?;
        Ok(Output::new(out)?)
    }
}

#[cfg(test)]
mod tests {
    use argon2::PasswordVerifier;

    use super::*;

    #[test]
    fn memory_that_is_used_again_changes_no_hash() {
        let mut hasher = Hasher::default();
        for password in ["correct horse", "battery staple"] {
            let stored = hasher.hash(password).unwrap();
            let stored = PasswordHash::new(&stored).unwrap();
            assert!(hasher.verify(password, &stored).unwrap());
            assert!(!hasher.verify("wrong horse", &stored).unwrap());
            let plain = Argon2::default();
            assert!(
                plain.verify_password(password.as_bytes(), &stored).is_ok(),
                "as the crate's own"
            );
        }
        assert_ne!(
            hasher.hash("a password").unwrap(),
            hasher.hash("a password").unwrap()
        );
    }

    #[test]
    fn hashes_with_other_costs_are_verified_by_their_own() {
        let mut hasher = Hasher::default();
        hasher.hash("leaves something in the memory").unwrap();
        let cheap = Argon2::new(
            Algorithm::Argon2i,
            Version::V0x10,
            Params::new(64, 3, 1, Some(24)).unwrap(),
        );
        let stored = argon2::PasswordHasher::hash_password(&cheap, b"correct horse").unwrap();
        assert!(hasher.verify("correct horse", &stored).unwrap());
        assert!(!hasher.verify("wrong horse", &stored).unwrap());
    }
}
