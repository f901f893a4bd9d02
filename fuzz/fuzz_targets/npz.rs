//! Any bytes for the reader `npz`.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| offnominal_readers::read("npz", bytes));
