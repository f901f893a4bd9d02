//! Any bytes for the reader `outcomes_table`.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| offnominal_readers::read("outcomes_table", bytes));
