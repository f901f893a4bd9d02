//! Any bytes for the reader `rollout_pickle`.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| offnominal_readers::read("rollout_pickle", bytes));
