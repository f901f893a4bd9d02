//! Any bytes for the reader `torch_legacy`.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| offnominal_readers::read("torch_legacy", bytes));
