//! An entry of the queue, a field a line: `order=019f…`. Whatever it is, it is read; a promise reads back as itself.

#![no_main]

#[path = "../../src/gate/entry.rs"]
mod entry;

use entry::{Pairs, parse};

libfuzzer_sys::fuzz_target!(|text: &[u8]| {
    let fields = text.split(|byte| *byte == b'\n').map(|line| {
        let cut = line.iter().position(|byte| *byte == b'=');
        let (name, value) = line.split_at(cut.unwrap_or(line.len()));
        (name.to_vec(), value.get(1..).unwrap_or_default().to_vec())
    });
    let entry = parse(("1-0".to_owned(), Some(fields.collect())));
    if let Some(promise) = entry.promise {
        let fields: Pairs = vec![
            (b"order".into(), promise.order.to_string().into_bytes()),
            (b"user".into(), promise.user.to_string().into_bytes()),
            (b"voucher".into(), promise.voucher.to_string().into_bytes()),
        ];
        assert!(promise.user.0 > 0 && promise.voucher.0 > 0);
        assert_eq!(parse(("1-0".to_owned(), Some(fields))), entry);
    }
});
