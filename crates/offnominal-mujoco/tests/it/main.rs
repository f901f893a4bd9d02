//! What is allocated, and what the rasteriser puts where.

#![allow(unsafe_code, reason = "a counting allocator")]

mod allocation;
mod raster;
