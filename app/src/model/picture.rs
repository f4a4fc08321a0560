//! Pictures of shops, as pages show them: JPEG files under the hash of their bytes. Making them is the server's part.

/// Width and height of the small picture of a card, in pixels; the box that the large one fits in.
pub const TILE: (u32, u32) = (480, 320);
/// The box that the large picture fits in.
pub const PICTURE: (u32, u32) = (1200, 800);

/// The SHA-256 of a picture's bytes: another picture has another address, so that browsers may keep each for ever.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct PictureId(pub [u8; 32]);

impl PictureId {
    /// Reads the one written form: 64 small hexadecimal digits.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let digits: Option<Vec<u8>> = text.bytes().map(digit).collect();
        let digits = digits.filter(|digits| digits.len() == 64)?;
        let bytes: Vec<u8> = digits
            .chunks_exact(2)
            .map(|pair| (pair[0] << 4) | pair[1])
            .collect();
        Some(Self(bytes.try_into().ok()?))
    }

    /// As it is stored.
    #[must_use]
    pub fn from_stored(bytes: &[u8]) -> Option<Self> {
        Some(Self(bytes.try_into().ok()?))
    }

    /// Where it is served.
    #[must_use]
    pub fn address(&self) -> String {
        format!("/pictures/{self}.jpg")
    }
}

fn digit(letter: u8) -> Option<u8> {
    match letter {
        b'0'..=b'9' => Some(letter - b'0'),
        b'a'..=b'f' => Some(letter - b'a' + 10),
        _ => None,
    }
}

impl std::fmt::Display for PictureId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl std::fmt::Debug for PictureId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{self}")
    }
}

/// A picture and its size in pixels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Picture {
    /// Its id.
    pub id: PictureId,
    /// Its width.
    pub width: u32,
    /// Its height.
    pub height: u32,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_has_one_written_form() {
        let id = PictureId([0xa5; 32]);
        assert_eq!(PictureId::parse(&id.to_string()), Some(id));
        assert_eq!(id.address().len(), "/pictures/.jpg".len() + 64);
        let text = id.to_string();
        for odd in [
            "",
            "a5",
            &text.to_uppercase(),
            &format!("{text}0"),
            &text.replace("a5a5", "券g"),
            "../../etc/passwd",
        ] {
            assert_eq!(PictureId::parse(odd), None, "{odd}");
        }
    }
}
