//! The border to the browser: what a page does with logs, all of it in the browser's own process.
//!
//! | module | what |
//! |---|---|
//! | [`desk`] | what the page hands over, and what it gets |
//! | [`request`] | what a page can ask for |
//! | `inspect`, `fit`, `score` | the commands |
//! | `answer` | what all of them answer |
//! | `told` | how far the work is |
//! | `exports` | the functions that the page calls |
//!
//! A page hands over byte strings, the first of which is a request as JSON; it gets byte strings, the first of which is JSON
//! too. So nothing but addresses and lengths crosses the border, and no generator of bindings is needed.

mod answer;
pub mod desk;
pub mod request;

#[cfg(target_family = "wasm")]
#[allow(unsafe_code, reason = "the names of exported functions, and the border to the page")]
mod exports;
mod fit;
mod inspect;
mod score;
#[cfg(target_family = "wasm")]
mod told;
