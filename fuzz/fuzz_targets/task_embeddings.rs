//! Any bytes for the reader `task_embeddings`.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| offnominal_readers::read("task_embeddings", bytes));
