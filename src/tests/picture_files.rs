//! What becomes of a picture's file, whatever it holds: an upright JPEG of the right size, or a refusal that names the field.

use std::io::Cursor;

use app::model::{PICTURE, Problem, TILE};
use image::{
    DynamicImage, ExtendedColorType, ImageBuffer, ImageEncoder, ImageFormat, Rgb, RgbImage, Rgba,
    RgbaImage,
    codecs::{jpeg::JpegEncoder, webp::WebPEncoder},
};
use proptest::prelude::*;
use seckill::picture::Pictures;

pub fn file(picture: impl Into<DynamicImage>, format: ImageFormat) -> Vec<u8> {
    let mut file = Cursor::new(Vec::new());
    picture.into().write_to(&mut file, format).unwrap();
    file.into_inner()
}

/// Red above, blue below.
pub fn flag(width: u32, height: u32) -> RgbImage {
    RgbImage::from_fn(width, height, |_, y| {
        Rgb(if y < height / 2 {
            [255, 0, 0]
        } else {
            [0, 0, 255]
        })
    })
}

pub fn noise(width: u32, height: u32) -> RgbImage {
    let mut seed = 1_u32;
    RgbImage::from_fn(width, height, |_, _| {
        Rgb([0; 3].map(|_: i32| {
            seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            seed.to_be_bytes()[0]
        }))
    })
}

fn made(file: &[u8]) -> Pictures {
    let pictures = Pictures::of(file).unwrap_or_else(|problem| panic!("{problem:?}"));
    check(&pictures);
    pictures
}

/// What every picture of ours is.
fn check(pictures: &Pictures) {
    for made in [&pictures.large, &pictures.tile] {
        assert!(made.jpeg.len() <= 200_000, "{}", made.jpeg.len());
        let read = image::load_from_memory_with_format(&made.jpeg, ImageFormat::Jpeg).unwrap();
        let size = (made.picture.width, made.picture.height);
        assert_eq!((read.width(), read.height()), size);
        let exif = made.jpeg.windows(4).any(|bytes| bytes == b"Exif");
        assert!(!exif, "nothing but pixels");
    }
    let size = (pictures.large.picture.width, pictures.large.picture.height);
    assert!(size.0 <= PICTURE.0 && size.1 <= PICTURE.1, "{size:?}");
    let size = (pictures.tile.picture.width, pictures.tile.picture.height);
    assert_eq!(size, TILE);
}

/// The colours in the middle of the upper and of the lower half of the large picture.
fn halves(pictures: &Pictures) -> [[u8; 3]; 2] {
    let large = image::load_from_memory(&pictures.large.jpeg)
        .unwrap()
        .into_rgb8();
    let (width, height) = large.dimensions();
    [height / 4, height * 3 / 4].map(|y| large.get_pixel(width / 2, y).0)
}

fn is_near(one: [u8; 3], other: [u8; 3]) -> bool {
    one.iter()
        .zip(other)
        .all(|(one, other)| one.abs_diff(other) < 40)
}

#[test]
fn every_kind_becomes_an_upright_jpeg_of_the_right_size() {
    let jpeg = file(flag(3000, 2000), ImageFormat::Jpeg);
    let deep = ImageBuffer::<Rgb<u16>, _>::from_fn(300, 200, |_, y| {
        Rgb(if y < 100 {
            [u16::MAX, 0, 0]
        } else {
            [0, 0, u16::MAX]
        })
    });
    let mut turned = Vec::new();
    let mut encoder = JpegEncoder::new(&mut turned);
    encoder.set_exif_metadata(turned_around()).unwrap();
    encoder
        .encode_image(&image::imageops::rotate180(&flag(300, 200)))
        .unwrap();
    for (name, file, size) in [
        ("jpeg", jpeg.clone(), (1200, 800)),
        ("png", file(flag(300, 200), ImageFormat::Png), (300, 200)),
        ("webp", file(flag(300, 200), ImageFormat::WebP), (300, 200)),
        (
            "16 bits",
            file(DynamicImage::ImageRgb16(deep), ImageFormat::Png),
            (300, 200),
        ),
        ("upside down", turned, (300, 200)),
        ("wide", file(flag(6000, 2), ImageFormat::Png), (1200, 1)),
        ("high", file(flag(2, 6000), ImageFormat::Png), (1, 800)),
        ("another name for it", jpeg, (1200, 800)),
    ] {
        let pictures = made(&file);
        let large = pictures.large.picture;
        assert_eq!((large.width, large.height), size, "{name}");
        let [above, below] = halves(&pictures);
        if size.1 > 100 {
            assert!(is_near(above, [255, 0, 0]), "{name}: {above:?}");
            assert!(is_near(below, [0, 0, 255]), "{name}: {below:?}");
        }
    }
    made(&file(flag(1, 1), ImageFormat::Png));
    let progressive = include_bytes!("pictures/progressive.jpg");
    assert_eq!(made(progressive).large.picture.width, 60);
    let [above, below] = halves(&made(include_bytes!("pictures/cmyk.jpg")));
    assert!(above[0] > 140 && below[2] > 140, "{above:?} {below:?}");
}

/// EXIF with orientation 3: the camera was upside down.
fn turned_around() -> Vec<u8> {
    b"II*\0\x08\0\0\0\x01\0\x12\x01\x03\0\x01\0\0\0\x03\0\0\0\0\0\0\0".to_vec()
}

#[test]
fn what_shines_through_is_white() {
    let glass = RgbaImage::from_fn(20, 20, |_, y| Rgba([0, 0, 0, if y < 10 { 0 } else { 128 }]));
    for format in [ImageFormat::Png, ImageFormat::WebP] {
        let [above, below] = halves(&made(&file(glass.clone(), format)));
        assert!(
            is_near(above, [255; 3]) && is_near(below, [127; 3]),
            "{above:?} {below:?}"
        );
    }
}

#[test]
fn the_worst_picture_is_small_enough() {
    let worst = made(&file(noise(1400, 900), ImageFormat::Png));
    assert!(
        worst.large.picture.width >= 300,
        "{:?}",
        worst.large.picture
    );
}

#[test]
fn of_an_animation_the_first_picture_is_taken() {
    let frame = |colour| {
        let mut file = Vec::new();
        let picture = RgbImage::from_pixel(16, 16, Rgb(colour));
        let encoder = WebPEncoder::new_lossless(&mut file);
        encoder
            .write_image(&picture, 16, 16, ExtendedColorType::Rgb8)
            .unwrap();
        // Behind "RIFF", length, "WEBP".
        file.split_off(12)
    };
    let place_and_time = [0, 0, 0, 0, 0, 0, 15, 0, 0, 15, 0, 0, 100, 0, 0, 0];
    let animated = |frames: &[Vec<u8>]| {
        let mut chunks = chunk(b"VP8X", &[2, 0, 0, 0, 15, 0, 0, 15, 0, 0]);
        chunks.extend(chunk(b"ANIM", &[0; 6]));
        for frame in frames {
            chunks.extend(chunk(
                b"ANMF",
                &[&place_and_time, frame.as_slice()].concat(),
            ));
        }
        chunk(b"RIFF", &[b"WEBP", chunks.as_slice()].concat())
    };
    let film = animated(&[frame([255, 0, 0]), frame([0, 0, 255])]);
    assert!(is_near(halves(&made(&film))[1], [255, 0, 0]));

    // A frame that says it is larger than the film.
    let mut huge = frame([255, 0, 0]);
    huge[9..13].copy_from_slice(&[0xFF, 0xFF, 0xFF, 0x0F]);
    assert_eq!(refused(&animated(&[huge])), Problem::TooManyPixels(30));
    let nested = (0..50_000).fold(Vec::new(), |inner, _| {
        if inner.len() > 60_000 {
            inner
        } else {
            chunk(b"ANMF", &[&place_and_time, inner.as_slice()].concat())
        }
    });
    refused(&chunk(b"RIFF", &[b"WEBP", nested.as_slice()].concat()));
}

fn chunk(name: &[u8; 4], body: &[u8]) -> Vec<u8> {
    let length = u32::try_from(body.len()).unwrap().to_le_bytes();
    let padding = vec![0; body.len() % 2];
    [name, length.as_slice(), body, &padding].concat()
}

fn refused(file: &[u8]) -> Problem {
    Pictures::of(file).map(|_| "a picture").unwrap_err()
}

#[test]
fn what_is_no_picture_is_refused() {
    let sound = [ImageFormat::Jpeg, ImageFormat::Png, ImageFormat::WebP]
        .map(|format| file(noise(200, 150), format));
    for file in &sound {
        for part in [1, 2, 4, 8, 16] {
            let cut = &file[..file.len() - file.len() / part];
            assert_eq!(
                refused(cut),
                Problem::NotAPicture,
                "{part} of {}",
                file.len()
            );
        }
        assert_eq!(refused(&file[..file.len() - 40]), Problem::NotAPicture);
        let mut wrong = file.clone();
        wrong[0] ^= 0xFF;
        assert_eq!(
            refused(&wrong),
            Problem::NotAPicture,
            "another magic number"
        );
    }
    for other in [
        &b""[..],
        b"GIF89a\x01\0\x01\0\0\0\0;",
        b"BM",
        b"<svg xmlns='http://www.w3.org/2000/svg'><script>alert(1)</script></svg>",
        b"%PDF-1.7",
        b"PK\x03\x04",
        b"\xFF\xD8\xFF",
        b"\xFF\xD8\xFF\xD9",
        b"\x89PNG\r\n\x1A\n",
        b"RIFF\0\0\0\0WEBP",
    ] {
        assert_eq!(refused(other), Problem::NotAPicture, "{other:?}");
    }
}

#[test]
fn what_is_a_picture_and_something_else_is_a_picture_only() {
    let script = b"<script>alert(1)</script>PK\x03\x04\xFF\xDA";
    for format in [ImageFormat::Jpeg, ImageFormat::Png] {
        let mut both = file(flag(30, 20), format);
        both.extend_from_slice(script);
        let pictures = made(&both);
        for made in [pictures.large, pictures.tile] {
            assert!(!made.jpeg.windows(6).any(|bytes| bytes == b"script"));
        }
    }
}

#[test]
fn bombs_are_refused_by_their_heads() {
    let huge = Problem::TooManyPixels(30);
    let mut png = file(flag(1, 1), ImageFormat::Png);
    png[16..24].copy_from_slice(&[0, 0, 0x4E, 0x20, 0, 0, 0x4E, 0x20]);
    let sum = crc(&png[12..29]).to_be_bytes();
    png[29..33].copy_from_slice(&sum);
    assert_eq!(refused(&png), huge);

    let mut jpeg = file(flag(16, 16), ImageFormat::Jpeg);
    let head = jpeg
        .windows(2)
        .position(|mark| mark == b"\xFF\xC0")
        .unwrap();
    jpeg[head + 5..head + 9].copy_from_slice(&[0x4E, 0x20, 0x4E, 0x20]);
    assert_eq!(refused(&jpeg), huge);

    let mut webp = file(flag(16, 16), ImageFormat::WebP);
    webp[21..25].copy_from_slice(&[0xFF, 0xFF, 0xFF, 0x0F]);
    assert_eq!(refused(&webp), huge);

    // A real one: 36 million equal pixels in a few kilobytes.
    let white = image::GrayImage::from_pixel(6000, 6000, image::Luma([255]));
    let bomb = file(white, ImageFormat::Png);
    assert!(bomb.len() < 200_000, "{}", bomb.len());
    assert_eq!(refused(&bomb), huge);
}

/// The check sum of a part of a PNG.
pub fn crc(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(u32::MAX, |crc, byte| {
        (0..8).fold(crc ^ u32::from(*byte), |crc, _| {
            (crc >> 1) ^ (0xEDB8_8320 & (crc & 1).wrapping_neg())
        })
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn whatever_is_broken_in_a_file_nothing_panics(
        kind in 0_usize..5,
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..12),
        cut in any::<prop::sample::Index>(),
    ) {
        let sound = match kind {
            0 => file(noise(40, 30), ImageFormat::Jpeg),
            1 => file(noise(40, 30), ImageFormat::Png),
            2 => file(noise(40, 30), ImageFormat::WebP),
            3 => include_bytes!("pictures/progressive.jpg").to_vec(),
            _ => include_bytes!("pictures/cmyk.jpg").to_vec(),
        };
        let mut broken = sound.clone();
        for (at, byte) in changes {
            broken[at.index(sound.len())] = byte;
        }
        if cut.index(4) == 0 {
            broken.truncate(cut.index(sound.len()));
        }
        if let Ok(pictures) = Pictures::of(&broken) {
            check(&pictures);
        }
    }

    #[test]
    fn whatever_bytes_follow_a_magic_number_nothing_panics(
        magic in prop::sample::select(vec![
            &b"\xFF\xD8\xFF"[..], b"\x89PNG\r\n\x1A\n\0\0\0\rIHDR", b"RIFF\x40\0\0\0WEBPVP8X", b"RIFF\x40\0\0\0WEBPVP8 ", b"",
        ]),
        bytes in prop::collection::vec(any::<u8>(), 0..200),
    ) {
        let _ = Pictures::of(&[magic, bytes.as_slice()].concat());
    }
}
