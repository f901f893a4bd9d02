//! Any bytes for the reader `train_config`.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| offnominal_readers::read("train_config", bytes));
