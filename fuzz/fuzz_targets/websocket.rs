//! Any bytes for the reader `websocket`.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| offnominal_readers::read("websocket", bytes));
