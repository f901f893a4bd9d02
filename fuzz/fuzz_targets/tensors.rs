//! Any bytes for the reader `tensors`.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| offnominal_readers::read("tensors", bytes));
