//! Any bytes for the reader `polygons`.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| offnominal_readers::read("polygons", bytes));
