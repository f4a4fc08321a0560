//! What the decoders leave unchecked: that a JPEG goes on to its end (they paint what is missing grey), and that the frames
//! of a WebP are as small as its head says (they make room for a frame first). Reads marks and sizes, no pixels.

use app::model::Problem;
use image::ImageFormat;

use super::{MEGAPIXELS, is_too_large};

/// Looks over a file before it is decoded.
///
/// # Errors
/// `NotAPicture` for other kinds of files too, `TooManyPixels`.
pub(super) fn check(format: ImageFormat, file: &[u8]) -> Result<(), Problem> {
    match format {
        ImageFormat::Png => Ok(()),
        ImageFormat::Jpeg if goes_to_its_end(file) == Some(true) => Ok(()),
        ImageFormat::WebP => {
            let chunks = file.get(12..).unwrap_or_default();
            let is_huge = |(width, height)| is_too_large(width, height);
            if sizes_of_frames(chunks, false).into_iter().any(is_huge) {
                return Err(Problem::TooManyPixels(MEGAPIXELS));
            }
            Ok(())
        }
        _ => Err(Problem::NotAPicture),
    }
}

/// Whether the mark of the end follows the pixels. Segments before them, which may hold pictures of their own, are skipped.
fn goes_to_its_end(file: &[u8]) -> Option<bool> {
    let mut rest = file.strip_prefix(b"\xFF\xD8")?;
    loop {
        let [0xFF, mark, after @ ..] = rest else {
            return None;
        };
        // Any number of fill bytes may stand before a mark.
        if *mark == 0xFF {
            rest = &rest[1..];
            continue;
        }
        let length = u16::from_be_bytes([*after.first()?, *after.get(1)?]);
        rest = after.get(usize::from(length)..)?;
        if *mark == 0xDA {
            return Some(rest.windows(2).any(|pair| pair == b"\xFF\xD9"));
        }
    }
}

/// Width and height of every frame, those of an animation included.
fn sizes_of_frames(chunks: &[u8], in_animation: bool) -> Vec<(u32, u32)> {
    let mut sizes = Vec::new();
    let mut rest = chunks;
    while let [a, b, c, d, w, x, y, z, body @ ..] = rest {
        let length = usize::try_from(u32::from_le_bytes([*w, *x, *y, *z])).unwrap_or(usize::MAX);
        let (body, after) = body.split_at(length.min(body.len()));
        match &[*a, *b, *c, *d] {
            b"VP8 " => sizes.extend(lossy_size(body)),
            b"VP8L" => sizes.extend(lossless_size(body)),
            // Behind the place and the time of the frame. There is no deeper nesting.
            b"ANMF" if !in_animation => {
                let frame = body.get(16..).unwrap_or_default();
                sizes.extend(sizes_of_frames(frame, true));
            }
            _ => {}
        }
        // A chunk of odd length has a byte of padding.
        rest = after.get(length % 2..).unwrap_or_default();
    }
    sizes
}

/// RFC 6386, section 9.1.
fn lossy_size(body: &[u8]) -> Option<(u32, u32)> {
    let side = |at: usize| Some(u16::from_le_bytes([*body.get(at)?, *body.get(at + 1)?]) & 0x3FFF);
    Some((side(6)?.into(), side(8)?.into()))
}

/// RFC 9649, section 3.4.
fn lossless_size(body: &[u8]) -> Option<(u32, u32)> {
    let bits = u32::from_le_bytes(body.get(1..5)?.try_into().ok()?);
    Some(((bits & 0x3FFF) + 1, ((bits >> 14) & 0x3FFF) + 1))
}
