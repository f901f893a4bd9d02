//! Any bytes for the reader `page_request`.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| offnominal_readers::read("page_request", bytes));
