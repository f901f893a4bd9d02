//! Any bytes for the reader `npy`.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| offnominal_readers::read("npy", bytes));
