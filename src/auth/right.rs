//! Who may make which call and see which page. Denied by default: what is not listed here is not served, and the program
//! does not start with a call or page that is not.

use app::model::Role;

/// What a visitor has to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Right {
    /// Anybody, signed in or not.
    Everybody,
    /// Signed in; what they see is their own.
    SignedIn,
    /// A clerk, who sees what is their shop's; an admin, who sees everything.
    Staff,
    /// An admin.
    Admin,
}

use Right::{Admin, Everybody, SignedIn, Staff};

impl Right {
    /// May an account of this role?
    #[must_use]
    pub fn is_of(self, role: Role) -> bool {
        match self {
            Everybody | SignedIn => true,
            Staff => matches!(role, Role::Clerk | Role::Admin),
            Admin => role == Role::Admin,
        }
    }
}

/// Every server function.
pub const CALLS: &[(&str, Right)] = &[
    ("/api/sign_up", Everybody),
    ("/api/sign_in", Everybody),
    ("/api/sign_out", Everybody),
    ("/api/set_language", Everybody),
    ("/api/sale_status", Everybody),
    ("/api/change_password", SignedIn),
    ("/api/delete_account", SignedIn),
    ("/api/buy", SignedIn),
    ("/api/order_status", SignedIn),
    ("/api/my_orders", SignedIn),
    ("/api/admin/create_shop", Admin),
    ("/api/admin/edit_shop", Admin),
    ("/api/admin/create_sale", Admin),
    ("/api/admin/remove_shop_picture", Admin),
    ("/api/admin/edit_sale", Admin),
    ("/api/admin/pause_sale", Admin),
    ("/api/admin/resume_sale", Admin),
    ("/api/admin/end_sale", Admin),
    ("/api/admin/withdraw_sale", Admin),
    ("/api/admin/add_units", Admin),
    ("/api/admin/cut_units", Admin),
    ("/api/admin/set_role", Admin),
    ("/api/admin/sales_parts", Admin),
    ("/api/admin/sale_parts", Admin),
    ("/api/admin/replay_dead_letter", Admin),
    ("/api/admin/discard_dead_letter", Admin),
    ("/api/admin/rehearse", Admin),
    ("/api/admin/rehearsal_parts", Admin),
];

/// Every page, by its address as the router has it.
pub const PAGES: &[(&str, Right)] = &[
    ("/", Everybody),
    ("/shops/{id}", Everybody),
    ("/vouchers/{id}", Everybody),
    ("/sign-in", Everybody),
    ("/sign-up", Everybody),
    ("/account", SignedIn),
    ("/orders", SignedIn),
    ("/orders/{id}", SignedIn),
    ("/desk", Staff),
    ("/admin", Admin),
    ("/admin/sales", Admin),
    ("/admin/sales/new", Admin),
    ("/admin/sales/{id}", Admin),
    ("/admin/sales/{id}/orders", Admin),
    ("/admin/shops/{id}/picture", Admin),
    ("/admin/sales/preview", Admin),
    ("/admin/sales/{id}/edit", Admin),
    ("/admin/shops", Admin),
    ("/admin/shops/new", Admin),
    ("/admin/shops/{id}/edit", Admin),
    ("/admin/people", Admin),
    ("/admin/audit", Admin),
    ("/admin/dead-letters", Admin),
    ("/admin/rehearsals", Admin),
    ("/admin/rehearsals/{id}", Admin),
];

/// Every other address. The router's own modules say what they tell: nothing of anybody's; and ask for the right where it
/// is not everybody's.
pub const OTHERS: &[(&str, Right)] = &[
    ("/api", Everybody),
    ("/api/{*rest}", Everybody),
    // No server function, since it carries a file: `router/upload.rs`.
    ("/api/admin/set_shop_picture", Admin),
    ("/pictures/{file}", Everybody),
    ("/healthz", Everybody),
    ("/readyz", Everybody),
    // On loopback, or at an address of its own.
    ("/metrics", Everybody),
    // What open pages are told (`router/live.rs`).
    ("/live/vouchers/{id}", Everybody),
    ("/live/orders/{id}", SignedIn),
    ("/admin/sales/{id}/orders.csv", Admin),
    // The files of the site.
    ("/{PACKAGE}", Everybody),
    ("/{name}", Everybody),
];

/// What a call needs; `None` for what is no call.
#[must_use]
pub fn of_call(path: &str) -> Option<Right> {
    find(CALLS, path)
}

/// What a page needs; `None` for what is no page.
#[must_use]
pub fn of_page(path: &str) -> Option<Right> {
    find(PAGES, path)
}

/// What an address that is neither call nor page needs; `None` for what is none.
#[must_use]
pub fn of_other(path: &str) -> Option<Right> {
    find(OTHERS, path)
}

fn find(rights: &[(&str, Right)], path: &str) -> Option<Right> {
    let found = rights.iter().find(|(listed, _)| *listed == path);
    found.map(|(_, right)| *right)
}

#[cfg(test)]
mod tests {
    use std::{collections::BTreeSet, fs, path::Path};

    use super::*;

    /// What the sources of the router make routes of: an address as it is written there, or what stands in its place.
    fn routed() -> BTreeSet<String> {
        let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
        let files = fs::read_dir(src.join("router")).unwrap();
        let files = files.map(|file| file.unwrap().path());
        let mut routed = BTreeSet::new();
        for file in files.chain([src.join("router.rs")]) {
            let source = fs::read_to_string(file).unwrap();
            for call in ["route(", "route_service(", "nest(", "nest_service("] {
                for (before, _) in source.match_indices(&format!(".{call}")) {
                    let argument = source[before + call.len() + 1..].split(',').next();
                    let argument = argument.unwrap_or_default().trim();
                    let formatted = argument.strip_prefix("&format!(");
                    let address = formatted
                        .and_then(|rest| rest.strip_suffix(')'))
                        .unwrap_or(argument);
                    routed.insert(address.trim_matches('"').to_owned());
                }
            }
        }
        routed
    }

    #[test]
    fn no_address_is_listed_twice() {
        for table in [CALLS, PAGES, OTHERS] {
            let addresses: BTreeSet<&str> = table.iter().map(|(address, _)| *address).collect();
            assert_eq!(addresses.len(), table.len());
        }
    }

    #[test]
    fn every_route_declares_a_right() {
        // The first goes through `CALLS`, the second through `PAGES`, one by one. The button is no route, and asks itself.
        let listed = ["path", "address"].into_iter();
        let listed = listed.chain(OTHERS.iter().map(|(address, _)| *address));
        assert_eq!(routed(), listed.map(str::to_owned).collect());
    }
}
