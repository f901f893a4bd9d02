//! Any bytes for the reader `policy_line`.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| offnominal_readers::read("policy_line", bytes));
