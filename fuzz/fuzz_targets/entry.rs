//! An entry of the queue, a field a line: `order=019f…`. Whatever it is, it is read; a promise reads back as itself, in either
//! text of its order, and what was read is one of the two.

#![no_main]

#[path = "../../src/gate/entry.rs"]
mod entry;
#[path = "../../src/gate/order_text.rs"]
mod order_text;

use entry::{Pairs, parse};

libfuzzer_sys::fuzz_target!(|text: &[u8]| {
    let fields = text.split(|byte| *byte == b'\n').map(|line| {
        let cut = line.iter().position(|byte| *byte == b'=');
        let (name, value) = line.split_at(cut.unwrap_or(line.len()));
        (name.to_vec(), value.get(1..).unwrap_or_default().to_vec())
    });
    let fields: Pairs = fields.collect();
    let entry = parse(("1-0".to_owned(), Some(fields.clone())));
    if let Some(promise) = entry.promise {
        assert!(promise.user.0 > 0 && promise.voucher.0 > 0);
        let texts = [
            order_text::write(promise.order).to_vec(),
            order_text::former(promise.order).into_bytes(),
        ];
        let order = fields.iter().find(|(name, _)| name == b"order");
        assert!(order.is_some_and(|(_, order)| texts.contains(order)));
        for order in texts {
            let fields: Pairs = vec![
                (b"order".into(), order),
                (b"user".into(), promise.user.to_string().into_bytes()),
                (b"voucher".into(), promise.voucher.to_string().into_bytes()),
            ];
            assert_eq!(parse(("1-0".to_owned(), Some(fields))), entry);
        }
    }
});
