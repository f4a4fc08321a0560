//! The cookie of the login session. The layer of the sessions takes it back whenever its session is gone, also in the answer
//! to a request that was sent before a new sign-in and arrives after it, as that of a page that polls; the browser would
//! then lose the new one. So only calls that begin or end a login session may touch it.

use axum::http::{
    HeaderMap, HeaderValue,
    header::{COOKIE, SET_COOKIE},
};

/// Its name. With the prefix a browser takes it from no other host of the domain, and over HTTPS only.
pub(super) fn name(https: bool) -> &'static str {
    if https { "__Host-session" } else { "session" }
}

/// The calls that begin or end a login session.
const CALLS: [&str; 5] = [
    "/api/sign_up",
    "/api/sign_in",
    "/api/sign_out",
    "/api/change_password",
    "/api/delete_account",
];

/// Is the call about it?
pub(super) fn is_set_by(path: &str) -> bool {
    CALLS.contains(&path)
}

/// What the cookie says in a request; where it stands twice, the last, as the layer of the sessions has it.
pub(super) fn value<'a>(name: &str, headers: &'a HeaderMap) -> Option<&'a str> {
    let lines = headers.get_all(COOKIE).iter();
    let cookies = lines
        .filter_map(|line| line.to_str().ok())
        .flat_map(|line| line.split(';'));
    let mut named = cookies.filter_map(|cookie| {
        let (its_name, value) = cookie.split_once('=')?;
        (its_name.trim() == name).then_some(value.trim())
    });
    named.next_back()
}

/// Keeps the cookie in the browser as it is, unless the call is about it.
pub(super) fn keep(name: &str, is_about_it: bool, headers: &mut HeaderMap) {
    if !headers.contains_key(SET_COOKIE) {
        return;
    }
    let cookies: Vec<HeaderValue> = headers.get_all(SET_COOKIE).iter().cloned().collect();
    headers.remove(SET_COOKIE);
    for cookie in cookies {
        if !is_named(&cookie, name) {
            headers.append(SET_COOKIE, cookie);
        } else if is_about_it {
            headers.append(SET_COOKIE, as_prefixed(cookie, name));
        }
    }
}

/// A cookie with the prefix is believed only with `Secure`, which the layer leaves out where it takes one back.
fn as_prefixed(cookie: HeaderValue, name: &str) -> HeaderValue {
    let text = cookie.to_str().unwrap_or_default();
    if !name.starts_with("__Host-") || text.contains("Secure") {
        return cookie;
    }
    HeaderValue::from_str(&format!("{text}; Secure")).unwrap_or(cookie)
}

fn is_named(cookie: &HeaderValue, name: &str) -> bool {
    let rest = cookie.as_bytes().strip_prefix(name.as_bytes());
    rest.is_some_and(|rest| rest.starts_with(b"="))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_cookies_of_one_name_the_last_counts_and_others_are_none() {
        let headers = |lines: &[&'static str]| {
            let lines = lines.iter();
            lines
                .map(|line| (COOKIE, HeaderValue::from_static(line)))
                .collect::<HeaderMap>()
        };
        for (lines, right) in [
            (&[][..], None),
            (&["lang=zh"], None),
            (&["xsession=a; session2=b; session"], None),
            (&["lang=zh; session=a"], Some("a")),
            (&[" session = a ;lang=zh"], Some("a")),
            (&["session=a; session=b"], Some("b")),
            (&["session=a", "lang=zh"], Some("a")),
        ] {
            assert_eq!(value("session", &headers(lines)), right, "{lines:?}");
        }
    }
}
