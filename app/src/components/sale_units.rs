//! Where each unit of a sale is: a bar for the eye, and a sum that can be checked, with ways to what it counts.

use leptos::prelude::*;

use crate::{
    model::{AdminSale, Units, grouped},
    texts::Lang,
};

const WIDTH: i64 = 1000;

/// A place in which units are.
struct Place {
    key: &'static str,
    units: Option<i64>,
    way: Option<String>,
}

/// The places of all units. It has one element that holds it all, so that a newer one can be put into it.
/// Of a sale that is over, what the gate still holds is not sold.
pub(crate) fn sale_units(lang: Lang, sale: &AdminSale, units: &Units) -> impl IntoView + use<> {
    let voucher = &sale.view.voucher;
    let (id, is_over) = (voucher.id, voucher.is_over(sale.view.now));
    let way = |path: &str| Some(format!("/admin/sales/{id}{path}"));
    let letters = Some(format!("/admin/dead-letters?sale={id}"));
    let place = |key, units, way| Place { key, units, way };
    let mut places = vec![
        place("unit-left", units.left, None),
        place("unit-queued", units.queued, None),
        place(
            "unit-confirmed",
            Some(units.confirmed),
            way("/orders?status=confirmed"),
        ),
        place("unit-dead", units.dead, letters),
    ];
    if units.moving.is_some_and(|moving| moving != 0) {
        places.push(place("unit-moving", units.moving, None));
    }
    places.push(place("unit-drift", units.drift, None));
    let known: Option<i64> = places.iter().map(|place| place.units).sum();
    let bar = bar(&places, units.granted);
    let rows = places.into_iter().map(|place| row(lang, place, is_over));
    let refused = Place {
        key: "unit-refused",
        units: Some(units.refused),
        way: way("/orders?status=refused"),
    };
    let note = note(units, known)
        .map(|key| view! { <p class="muted small" role="note">{lang.text(key)}</p> });
    view! {
        {bar}
        <table class="units">
            <tbody>{rows.collect_view()}</tbody>
            <tbody>
                <tr class="sum" data-unit="granted">
                    <th scope="row">{lang.text("unit-granted")}</th><td class="count">{grouped(units.granted)}</td>
                </tr>
            </tbody>
            <tbody>{row(lang, refused, is_over)}</tbody>
        </table>
        {note}
    }
}

/// What has to be said about the figures, if anything.
fn note(units: &Units, known: Option<i64>) -> Option<&'static str> {
    if units.has_left_gate {
        Some("units-left-gate")
    } else if known.is_none() {
        Some("units-unknown")
    } else if units.is_moving || known != Some(units.granted) {
        Some("units-move")
    } else {
        None
    }
}

fn row(lang: Lang, place: Place, is_over: bool) -> impl IntoView {
    let is_sick = place.key == "unit-drift" && place.units.is_some_and(|units| units != 0);
    let name = match place.key {
        "unit-left" if is_over => lang.text("unit-unsold"),
        key => lang.text(key),
    };
    let unit = place.key.strip_prefix("unit-");
    let count = place.units.map_or_else(|| lang.text("unknown"), grouped);
    view! {
        <tr data-unit=unit>
            <th scope="row">
                {match place.way {
                    Some(way) => view! { <a href=way>{name}</a> }.into_any(),
                    None => name.into_any(),
                }}
            </th>
            <td class="count" class:sick=is_sick>{count}</td>
        </tr>
    }
}

/// Each place as wide as its share.
fn bar(places: &[Place], granted: i64) -> impl IntoView + use<> {
    let mut x = 0;
    let parts = places.iter().filter_map(|place| {
        let units = place.units.filter(|units| *units > 0)?;
        let width = (units * WIDTH).checked_div(granted)?.clamp(1, WIDTH);
        let at = x;
        x += width;
        Some(view! { <rect class=place.key x=at y="0" width=width height="12"></rect> })
    });
    let parts = parts.collect_view();
    view! {
        <svg class="units-bar" viewBox=format!("0 0 {WIDTH} 12") preserveAspectRatio="none" aria-hidden="true">{parts}</svg>
    }
}
