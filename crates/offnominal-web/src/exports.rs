//! The functions that the page calls, and those that it brings: addresses in the module's memory, and lengths.
//!
//! A call goes so: `offnominal_give` makes room for each byte string, which the page fills; `offnominal_run` takes them all,
//! and leaves its answers, which the page reads by `offnominal_answer` and `offnominal_answer_len`. A panic ends the module;
//! the page is told why, and makes a new one.

use crate::desk::{self, Parts};
use crate::told::Told;
use std::cell::RefCell;
use std::sync::Arc;

#[link(wasm_import_module = "page")]
unsafe extern "C" {
    /// Shows what is being done, how much of it is, and of how much.
    safe fn progress(what: *const u8, len: usize, done: f64, total: f64);
    /// Shows why the module has ended.
    safe fn failed(why: *const u8, len: usize);
}

thread_local! {
    static GIVEN: RefCell<Parts> = const { RefCell::new(Vec::new()) };
    static ANSWERS: RefCell<Parts> = const { RefCell::new(Vec::new()) };
}

/// Makes room for one more byte string, and says where.
#[unsafe(no_mangle)]
pub extern "C" fn offnominal_give(len: usize) -> *mut u8 {
    let mut part = vec![0; len];
    let at = part.as_mut_ptr();
    GIVEN.with_borrow_mut(|given| given.push(part));
    at
}

/// Does what the first byte string asks for; the number of answers, or 0 if it failed, and then the only answer is why.
#[unsafe(no_mangle)]
pub extern "C" fn offnominal_run() -> usize {
    std::panic::set_hook(Box::new(|panic| {
        let why = panic.to_string();
        failed(why.as_ptr(), why.len());
    }));
    let (answers, n) = match desk::run(GIVEN.take(), Arc::new(Told(tell))) {
        Ok(answers) => {
            let n = answers.len();
            (answers, n)
        }
        Err(why) => (vec![format!("{why:#}").into_bytes()], 0),
    };
    ANSWERS.set(answers);
    n
}

/// Where an answer is.
#[unsafe(no_mangle)]
pub extern "C" fn offnominal_answer(number: usize) -> *const u8 {
    ANSWERS.with_borrow(|answers| answers[number].as_ptr())
}

/// How long an answer is.
#[unsafe(no_mangle)]
pub extern "C" fn offnominal_answer_len(number: usize) -> usize {
    ANSWERS.with_borrow(|answers| answers[number].len())
}

fn tell(what: &str, done: u64, total: u64) {
    progress(what.as_ptr(), what.len(), done as f64, total as f64);
}
