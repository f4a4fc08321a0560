//! Pictures of shops, and what stands in the place of one that a shop has not: a calm tile with its first letter. Both have
//! the same size before anything is loaded, so that nothing moves.

use leptos::prelude::*;

use crate::{
    model::{Picture, PictureId, TILE},
    texts::Lang,
};

/// Kinds of tiles, told apart by colour.
const HUES: u32 = 6;

/// The small picture of a shop, or its letter.
#[component]
pub(crate) fn Tile(
    /// The visitor's language.
    lang: Lang,
    /// The shop's name.
    name: String,
    /// The shop's category: shops of one have tiles of one colour.
    category: String,
    /// Its picture, if it has one.
    picture: Option<PictureId>,
) -> impl IntoView {
    let (width, height) = TILE;
    match picture {
        Some(picture) => {
            let picture = Picture {
                id: picture,
                width,
                height,
            };
            image(lang, "tile", &name, picture, Some("lazy"))
        }
        None => blank(&name, &category),
    }
}

/// The large picture of a shop.
#[component]
pub(crate) fn Photo(
    /// The visitor's language.
    lang: Lang,
    /// The shop's name.
    name: String,
    /// Its picture.
    picture: Picture,
) -> impl IntoView {
    image(lang, "photo", &name, picture, None)
}

fn image(
    lang: Lang,
    class: &'static str,
    name: &str,
    picture: Picture,
    loading: Option<&'static str>,
) -> AnyView {
    let alt = lang.text_with("picture-of", [("shop", name.to_owned().into())]);
    view! {
        <img
            class=class
            src=picture.id.address()
            width=picture.width.to_string()
            height=picture.height.to_string()
            alt=alt
            loading=loading
            decoding="async"
        />
    }
    .into_any()
}

fn blank(name: &str, category: &str) -> AnyView {
    let (width, height) = TILE;
    let hue = category.chars().map(u32::from).sum::<u32>() % HUES;
    let letter = name.chars().find(|letter| letter.is_alphanumeric());
    let letter: String = letter.unwrap_or('·').to_uppercase().collect();
    view! {
        <svg
            class="tile"
            data-hue=hue.to_string()
            viewBox=format!("0 0 {width} {height}")
            width=width.to_string()
            height=height.to_string()
            aria-hidden="true"
            focusable="false"
        >
            <rect width="100%" height="100%"></rect>
            <circle cx="400" cy="40" r="150"></circle>
            <circle cx="70" cy="330" r="110"></circle>
            <text x="50%" y="50%" text-anchor="middle" dominant-baseline="central">{letter}</text>
        </svg>
    }
    .into_any()
}
