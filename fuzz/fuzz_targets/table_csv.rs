//! Any bytes for the reader `table_csv`.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| offnominal_readers::read("table_csv", bytes));
