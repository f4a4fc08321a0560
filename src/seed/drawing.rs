//! Pictures for some of the demo shops, drawn by code: a sky from one colour to another, a sun, hills or a cup. Photographs
//! would be files to carry along.

use app::model::PICTURE;
use image::{Rgb, RgbImage};

type Colour = [u8; 3];

/// A picture of a demo shop.
#[derive(Clone, Copy)]
pub(super) struct Drawing {
    above: Colour,
    below: Colour,
    front: Colour,
    shape: Shape,
}

#[derive(Clone, Copy)]
enum Shape {
    /// Hills of this many waves.
    Hills(f32),
    /// A round bowl on a table.
    Bowl,
    /// Lanes of water, or shelves.
    Lanes(u32),
}

/// The picture of the demo shop at this place; not every shop has one.
pub(super) fn of(shop: usize) -> Option<Drawing> {
    let drawing = |above, below, front, shape| {
        Some(Drawing {
            above,
            below,
            front,
            shape,
        })
    };
    match shop {
        0 => drawing([120, 30, 24], [232, 120, 66], [64, 18, 16], Shape::Bowl),
        1 => drawing(
            [198, 222, 196],
            [244, 236, 208],
            [72, 112, 70],
            Shape::Hills(2.0),
        ),
        4 => drawing([92, 64, 50], [206, 170, 132], [46, 30, 24], Shape::Bowl),
        5 => drawing(
            [226, 208, 176],
            [250, 242, 226],
            [132, 84, 52],
            Shape::Lanes(5),
        ),
        7 => drawing(
            [40, 120, 170],
            [150, 214, 230],
            [24, 84, 136],
            Shape::Lanes(7),
        ),
        10 => drawing([24, 26, 66], [96, 70, 132], [14, 16, 40], Shape::Hills(3.5)),
        _ => None,
    }
}

impl Drawing {
    /// Draws it.
    pub(super) fn draw(self) -> RgbImage {
        let (width, height) = PICTURE;
        let part = |place: u32, length: u32| f32::from(clamped(place)) / f32::from(clamped(length));
        RgbImage::from_fn(width, height, |x, y| {
            let (across, down) = (part(x, width), part(y, height));
            Rgb(if self.is_front(across, down) {
                self.front
            } else if is_round(across, down, 0.78, 0.24, 0.1) {
                mix(self.below, [255, 250, 235], 0.7)
            } else {
                mix(self.above, self.below, down)
            })
        })
    }

    fn is_front(self, across: f32, down: f32) -> bool {
        match self.shape {
            Shape::Hills(waves) => down > 0.72 + 0.08 * (across * waves * 6.0).sin(),
            Shape::Bowl => down > 0.86 || (down > 0.5 && is_round(across, down, 0.42, 0.5, 0.32)),
            Shape::Lanes(lanes) => {
                let lane = down * f32::from(clamped(lanes));
                lane.fract() < 0.12 + 0.04 * (across * 20.0 + lane.floor() * 2.0).sin()
            }
        }
    }
}

/// Within a circle; across counts for half as much again, as the picture is wider than high.
fn is_round(across: f32, down: f32, x: f32, y: f32, radius: f32) -> bool {
    ((across - x) * 1.5).hypot(down - y) < radius
}

fn mix(one: Colour, other: Colour, part: f32) -> Colour {
    std::array::from_fn(|at| {
        let mixed = f32::from(one[at]) * (1.0 - part) + f32::from(other[at]) * part;
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "between two bytes"
        )]
        let mixed = mixed.round() as u8;
        mixed
    })
}

/// A place in a picture, whose sides are far below the limit.
fn clamped(place: u32) -> u16 {
    u16::try_from(place).unwrap_or(u16::MAX)
}
