//! The border to C: the header, each function, two programs and Python, random calls, messages, and what a release has.

#![allow(unsafe_code, reason = "what C would call")]

mod archive;
mod border;
mod calls;
mod defect;
mod examples;
mod explain;
mod header;
mod random_calls;
mod stream;
mod support;
