//! Any bytes for the reader `table_parquet`.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| offnominal_readers::read("table_parquet", bytes));
