//! Shops by name, in lists to choose from: those of the same name can be told apart.

use std::collections::HashMap;

use crate::model::{Shop, ShopId};

/// The name of each shop; with its address where others have the same name, and with its number where they have the same
/// address too.
pub(crate) fn shop_names(shops: &[Shop]) -> Vec<(ShopId, String)> {
    let (mut names, mut places) = (HashMap::new(), HashMap::new());
    for shop in shops {
        *names.entry(&shop.name).or_insert(0) += 1;
        *places.entry((&shop.name, &shop.address)).or_insert(0) += 1;
    }
    let named = shops.iter().map(|shop| {
        let Shop {
            id, name, address, ..
        } = shop;
        let words = match (names[name], places[&(name, address)]) {
            (1, _) => name.clone(),
            (_, 1) => format!("{name} · {address}"),
            _ => format!("{name} · {address} · {id}"),
        };
        (*id, words)
    });
    named.collect()
}
