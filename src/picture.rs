//! Makes the pictures of a shop out of a file that an admin has sent: a large one and a tile, as JPEG, upright, on white, and
//! without what else was in the file. What kind of file it is says its content, never its name. Memory is bounded: a file
//! that would unfold to more is refused by its head. Knows no store and takes seconds: not for async threads.

mod container;

use app::model::{PICTURE, Picture, PictureId, Problem, TILE};
use image::{
    DynamicImage, ImageDecoder, ImageError, ImageReader, Limits, RgbImage,
    codecs::jpeg::JpegEncoder, imageops::FilterType,
};
use sha2::{Digest, Sha256};
use std::io::Cursor;

/// The largest file that is read, in bytes, and in the MB of the message.
pub const FILE: usize = 5 * 1024 * 1024;
/// The same in MB.
pub const FILE_MB: i64 = 5;

/// The largest picture that is made, in bytes; a constraint of the table too.
const JPEG: usize = 200_000;

/// Millions of pixels of the largest picture that is read: more than ordinary cameras make. Decoding one takes at most
/// [`MEMORY`] for its pixels, and for a progressive JPEG 6 bytes a pixel beside them.
const MEGAPIXELS: i64 = 30;

/// Longer than this is no side of a photograph.
const SIDE: u32 = 20_000;

/// Bytes of the pixels of a decoded picture: 30 million of 8 bits with transparency, half as many of 16 bits.
const MEMORY: u64 = 128 * 1024 * 1024;

/// Pictures are first brought down to this box, cheaply; twice what is needed keeps edges sharp.
const COARSE: u32 = 2400;

/// Qualities of JPEG to try until the file is small enough.
const QUALITIES: [u8; 6] = [84, 76, 66, 54, 42, 30];

/// A picture as a file.
pub struct Made {
    /// Its id and size.
    pub picture: Picture,
    /// The file.
    pub jpeg: Vec<u8>,
}

/// The pictures of a shop.
pub struct Pictures {
    /// Fits in [`PICTURE`].
    pub large: Made,
    /// Is [`TILE`], cut out of the middle.
    pub tile: Made,
}

impl Pictures {
    /// Reads a file and makes the pictures.
    ///
    /// # Errors
    /// `NotAPicture` for what cannot be read to its end as JPEG, PNG or WebP, `TooManyPixels`.
    pub fn of(file: &[u8]) -> Result<Self, Problem> {
        let upright = decoded(file)?;
        Ok(Self {
            large: made(fitted(&upright, PICTURE)),
            tile: made(tile(&upright)),
        })
    }

    /// As [`Self::of`], out of pixels that the program has drawn.
    #[must_use]
    pub fn drawn(drawing: RgbImage) -> Self {
        let drawing = DynamicImage::from(drawing);
        Self {
            large: made(fitted(&drawing, PICTURE)),
            tile: made(tile(&drawing)),
        }
    }
}

/// The pixels of a file, upright, on white, not much larger than needed. Of an animation the first picture.
fn decoded(file: &[u8]) -> Result<DynamicImage, Problem> {
    let format = image::guess_format(file).map_err(|_| Problem::NotAPicture)?;
    container::check(format, file)?;
    let mut limits = Limits::default();
    limits.max_alloc = Some(MEMORY);
    limits.max_image_width = Some(SIDE);
    limits.max_image_height = Some(SIDE);
    let mut reader = ImageReader::with_format(Cursor::new(file), format);
    reader.limits(limits);
    let mut decoder = reader.into_decoder().map_err(|error| refused(&error))?;
    let (width, height) = decoder.dimensions();
    if is_too_large(width, height) || decoder.total_bytes() > MEMORY {
        return Err(Problem::TooManyPixels(MEGAPIXELS));
    }
    let orientation = decoder.orientation().map_err(|error| refused(&error))?;
    let mut picture = DynamicImage::from_decoder(decoder).map_err(|error| refused(&error))?;
    if width > COARSE || height > COARSE {
        picture = picture.thumbnail(COARSE, COARSE);
    }
    picture.apply_orientation(orientation);
    Ok(on_white(picture).into())
}

fn is_too_large(width: u32, height: u32) -> bool {
    i64::from(width) * i64::from(height) > MEGAPIXELS * 1_000_000
}

fn refused(error: &ImageError) -> Problem {
    match error {
        ImageError::Limits(_) => Problem::TooManyPixels(MEGAPIXELS),
        _ => Problem::NotAPicture,
    }
}

fn on_white(picture: DynamicImage) -> RgbImage {
    if !picture.color().has_alpha() {
        return picture.into_rgb8();
    }
    let picture = picture.into_rgba8();
    let mut flat = RgbImage::new(picture.width(), picture.height());
    for (below, above) in flat.pixels_mut().zip(picture.pixels()) {
        let [red, green, blue, alpha] = above.0;
        below.0 = [red, green, blue].map(|colour| {
            let mixed = u32::from(colour) * u32::from(alpha) + 255 * (255 - u32::from(alpha));
            u8::try_from((mixed + 127) / 255).unwrap_or(u8::MAX)
        });
    }
    flat
}

/// The whole picture in a box; a smaller one stays as it is.
fn fitted(picture: &DynamicImage, (width, height): (u32, u32)) -> DynamicImage {
    if picture.width() <= width && picture.height() <= height {
        picture.clone()
    } else {
        picture.resize(width, height, FilterType::Lanczos3)
    }
}

/// The middle of a picture, as a tile. Cut first: a long strip that is made high enough first would be endless.
fn tile(picture: &DynamicImage) -> DynamicImage {
    let (width, height) = (picture.width(), picture.height());
    let (across, down) = TILE;
    let cut_width = width.min((height * across).div_ceil(down));
    let cut_height = height.min((width * down).div_ceil(across));
    let (left, top) = ((width - cut_width) / 2, (height - cut_height) / 2);
    let cut = picture.crop_imm(left, top, cut_width, cut_height);
    cut.resize_exact(across, down, FilterType::Lanczos3)
}

/// The picture as a file that is small enough: in the best quality of those that fit, or, if none does, a smaller picture.
fn made(mut picture: DynamicImage) -> Made {
    loop {
        let fits = QUALITIES
            .iter()
            .map(|quality| encoded(&picture, *quality))
            .find(|jpeg| jpeg.len() <= JPEG);
        if let Some(jpeg) = fits {
            let id = PictureId(Sha256::digest(&jpeg).into());
            let (width, height) = (picture.width(), picture.height());
            let picture = Picture { id, width, height };
            return Made { picture, jpeg };
        }
        let smaller = |side: u32| (side * 3 / 4).max(1);
        picture = fitted(
            &picture,
            (smaller(picture.width()), smaller(picture.height())),
        );
    }
}

fn encoded(picture: &DynamicImage, quality: u8) -> Vec<u8> {
    let mut jpeg = Vec::new();
    picture
        .write_with_encoder(JpegEncoder::new_with_quality(&mut jpeg, quality))
        .expect("memory takes any picture of at most 1200 by 800 pixels");
    jpeg
}
