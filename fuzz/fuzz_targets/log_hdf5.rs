//! Any bytes for the reader `log_hdf5`.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| offnominal_readers::read("log_hdf5", bytes));
