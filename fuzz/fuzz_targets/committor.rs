//! Any bytes for the reader `committor`.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| offnominal_readers::read("committor", bytes));
