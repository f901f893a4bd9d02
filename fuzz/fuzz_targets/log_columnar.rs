//! Any bytes for the reader `log_columnar`.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| offnominal_readers::read("log_columnar", bytes));
