//! Any bytes for the reader `rtde`.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| offnominal_readers::read("rtde", bytes));
