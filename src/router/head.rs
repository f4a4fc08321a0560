//! What the head of a request must be like, before anything is done for it.

use axum::http::{HeaderMap, Version, header};

/// The status of the answer to a head that is not accepted: one that is larger than it may be, or that leaves open what
/// is asked for: an address that is none of ours (`foo`, `*`), not exactly one `Host` (RFC 9112, 3.2), a coding of the
/// body that we do not read (6.1).
pub(super) fn fault<B>(request: &axum::http::Request<B>, limit: u32) -> Option<u16> {
    let headers = request.headers();
    // The reader of connections may take up to half more than the limit in one go.
    if size(request) > usize::try_from(limit).unwrap_or(usize::MAX) {
        return Some(431);
    }
    let hosts = headers.get_all(header::HOST).iter().count();
    let is_one = hosts == 1 || hosts == 0 && request.version() < Version::HTTP_11;
    if !request.uri().path().starts_with('/') || !is_one {
        return Some(400);
    }
    (!is_chunked_at_most(headers)).then_some(501)
}

/// The bytes of a head: of its first line, and of each header with what is around it.
fn size<B>(request: &axum::http::Request<B>) -> usize {
    let target = request
        .uri()
        .path_and_query()
        .map_or(1, |path| path.as_str().len());
    let headers = request.headers().iter();
    let headers = headers.map(|(name, value)| name.as_str().len() + value.len() + ": \r\n".len());
    request.method().as_str().len() + target + "  HTTP/1.1\r\n\r\n".len() + headers.sum::<usize>()
}

fn is_chunked_at_most(headers: &HeaderMap) -> bool {
    let mut codings = headers.get_all(header::TRANSFER_ENCODING).iter();
    codings.all(|coding| coding.as_bytes().eq_ignore_ascii_case(b"chunked"))
}

#[cfg(test)]
mod tests {
    use axum::http::Request;

    use super::*;

    fn head(of: &[(&str, &str)]) -> Request<()> {
        let mut request = Request::builder().uri("/").version(Version::HTTP_11);
        for (name, value) in of {
            request = request.header(*name, *value);
        }
        request.body(()).unwrap()
    }

    #[test]
    fn only_a_head_that_leaves_nothing_open_is_accepted() {
        let host = ("host", "shop.example");
        for (headers, right) in [
            (&[host][..], None),
            (&[], Some(400)),
            (&[host, ("host", "evil.example")], Some(400)),
            (&[host, ("transfer-encoding", "Chunked")], None),
            (&[host, ("transfer-encoding", "gzip, chunked")], Some(501)),
            (
                &[
                    host,
                    ("transfer-encoding", "gzip"),
                    ("transfer-encoding", "chunked"),
                ],
                Some(501),
            ),
        ] {
            assert_eq!(fault(&head(headers), 1000), right, "{headers:?}");
        }
        let mut old = head(&[]);
        *old.version_mut() = Version::HTTP_10;
        assert_eq!(fault(&old, 1000), None);
        for odd in ["*", "foo:1"] {
            let mut request = head(&[host]);
            *request.uri_mut() = odd.parse().unwrap();
            assert_eq!(fault(&request, 1000), Some(400), "{odd}");
        }
    }

    #[test]
    fn a_head_is_measured_as_it_was_sent() {
        let sent = "GET / HTTP/1.1\r\nhost: a\r\nx: 12345\r\n\r\n";
        let request = head(&[("host", "a"), ("x", "12345")]);
        assert_eq!(size(&request), sent.len());
        let bytes = u32::try_from(sent.len()).unwrap();
        assert_eq!(fault(&request, bytes), None);
        assert_eq!(fault(&request, bytes - 1), Some(431));
    }
}
