//! What comes in is decoded and parsed without a fault of ours, whatever it is; in process, so that thousands are tried.

mod calls;

use std::collections::BTreeSet;

use app::api::local_path;
use proptest::{
    collection::vec,
    prelude::{ProptestConfig, Strategy, any, prop_oneof, proptest},
    sample::{Index, select},
};
use reqwest::Url;

use calls::{Call, calls};

/// A form that every call accepts, but for the letter that dead letters ask for.
const GOOD: [(&str, &str); 26] = [
    ("name", "小美 & co"),
    ("password", "correct horse"),
    ("current_password", "correct horse"),
    ("new_password", "another horse"),
    ("role", "clerk"),
    ("next", "/vouchers/7?x=1"),
    ("lang", "zh"),
    ("voucher_id", "7"),
    ("order_id", "019f0000-0000-8000-8000-000000000001"),
    ("category", "咖啡"),
    ("address", "人民路 1 号"),
    ("shop_id", "3"),
    ("title", "满一百减五十"),
    ("rules", "每人一张\n不找零"),
    ("price", "19.99"),
    ("face_value", "50"),
    ("stock", "100"),
    ("units", "5"),
    ("shoppers", "200"),
    ("shape", "ramp"),
    ("seconds", "2"),
    ("rehearsal_id", "1"),
    ("version", "1"),
    ("begins_at", "2027-01-15T10:00"),
    ("ends_at", "2027-01-15T11:00:00+08:00"),
    ("zone", "Asia/Shanghai"),
];

/// What people and programs put into fields, and what has broken others.
const ODD: [&str; 30] = [
    "",
    " ",
    "0",
    "-1",
    "2147483648",
    "1e3",
    "1.005",
    "00.10",
    "１２",
    "1,234",
    "１，２３４．5",
    "\0",
    "\u{202E}",
    "\u{2028}",
    "\r\n",
    "%",
    "%2",
    "[",
    "a[b][c]",
    "2027-03-28T02:30",
    "9999-12-31T23:59:59Z",
    "2027-01-15T10:00[Europe/Berlin]",
    "Europe/Berlin",
    "Etc/Unknown",
    "//evil",
    "0:1-0",
    "p\u{430}ypal",
    "👨\u{200D}👩 e\u{301}\u{FE0F}",
    "ﬃİΣς ǅ",
    "admin",
];

fn encoded<'a>(fields: impl IntoIterator<Item = (&'a str, &'a str)>) -> Vec<u8> {
    let address = Url::parse_with_params("http://form", fields).unwrap();
    address.query().unwrap_or_default().as_bytes().to_vec()
}

/// The good form with `letter`, which dead letters have.
fn good() -> Vec<(&'static str, &'static str)> {
    let mut fields = GOOD.to_vec();
    fields.push(("letter", "0:1764500000000-12"));
    fields
}

/// A value that is good, odd, or anything.
fn value() -> impl Strategy<Value = String> {
    prop_oneof![
        select(&ODD[..]).prop_map(str::to_owned),
        select(&GOOD[..]).prop_map(|(_, value)| value.to_owned()),
        "\\PC{0,70}",
        any::<String>(),
        "[0-9.:TZ+-]{1,24}",
    ]
}

/// The good form with some fields changed.
fn changed_form() -> impl Strategy<Value = Vec<u8>> {
    vec((any::<Index>(), value()), 1..4).prop_map(|changes| {
        let mut fields: Vec<(&str, &str)> = good();
        for (at, value) in &changes {
            let at = at.index(fields.len());
            fields[at].1 = value;
        }
        encoded(fields)
    })
}

/// The good form with some bytes changed, left out or put in.
fn broken_form() -> impl Strategy<Value = Vec<u8>> {
    vec((any::<Index>(), any::<u8>(), 0..3), 1..6).prop_map(|changes| {
        let mut form = encoded(good());
        for (at, byte, how) in changes {
            let at = at.index(form.len());
            match how {
                0 => form[at] = byte,
                1 => drop(form.remove(at)),
                _ => form.insert(at, byte),
            }
        }
        form
    })
}

/// Parts of which addresses are made that lead elsewhere than they seem to.
const STEPS: [&str; 16] = [
    "/",
    "//",
    "\\",
    ".",
    "..",
    "%2e",
    "%2F",
    "%252e",
    "api",
    "evil.example",
    "@",
    ":",
    "?",
    "#",
    "\t",
    "券",
];

fn address() -> impl Strategy<Value = String> {
    let steps = vec(select(&STEPS[..]), 0..6).prop_map(|steps| steps.concat());
    prop_oneof![
        8 => steps.prop_map(|rest| format!("/{rest}")),
        1 => any::<String>(),
        1 => "/[!-~]{0,20}",
    ]
}

#[test]
fn every_call_is_decoded_here() {
    let here: BTreeSet<(String, String)> = calls()
        .iter()
        .map(|call| (call.path.to_owned(), call.method.to_string()))
        .collect();
    let registered = leptos::server_fn::axum::server_fn_paths();
    let registered: BTreeSet<(String, String)> = registered
        .map(|(path, method)| (path.to_owned(), method.to_string()))
        .collect();
    assert_eq!(here, registered);
}

#[test]
fn a_good_form_is_accepted_by_every_call() {
    let form = encoded(good());
    for Call { path, accepts, .. } in calls() {
        assert!(accepts(&form), "{path}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn no_bytes_make_a_call_panic(form in vec(any::<u8>(), 0..300)) {
        for call in calls() {
            (call.accepts)(&form);
        }
    }

    #[test]
    fn what_a_call_accepts_obeys_its_limits(form in prop_oneof![changed_form(), broken_form()]) {
        for call in calls() {
            (call.accepts)(&form);
        }
    }

    #[test]
    fn a_return_address_leads_to_a_page_of_this_site(address in address()) {
        let base = Url::parse("https://seckill.example/sign-in").unwrap();
        if let Some(path) = local_path(&address) {
            let led = base.join(path).unwrap();
            assert_eq!(led.origin(), base.origin(), "{address:?}");
            let first = led.path_segments().unwrap().next().unwrap();
            assert_ne!(first, "api", "{address:?}");
            assert!(!led.path().starts_with("//"), "{address:?}: another site, if it is sent on as it is");
        }
    }
}
