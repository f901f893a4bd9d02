//! The border to C: the header, each function, two programs and Python, and random calls.

#![allow(unsafe_code, reason = "what C would call")]

mod border;
mod calls;
mod examples;
mod header;
mod random_calls;
mod support;
