//! Any bytes for the reader `monitor_lines`.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| offnominal_readers::read("monitor_lines", bytes));
