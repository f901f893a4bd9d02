//! Any bytes for the reader `onnx`.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| offnominal_readers::read("onnx", bytes));
