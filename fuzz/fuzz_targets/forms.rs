//! Every call decodes and parses the bytes as its form.

#![no_main]

#[expect(dead_code, reason = "tests look at path and method")]
#[path = "../../src/tests/decoding/calls.rs"]
mod calls;

libfuzzer_sys::fuzz_target!(|form: &[u8]| {
    for call in calls::calls() {
        (call.accepts)(form);
    }
});
