//! Any bytes for the reader `segmentation`.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| offnominal_readers::read("segmentation", bytes));
