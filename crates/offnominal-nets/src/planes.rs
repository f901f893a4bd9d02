//! Convolutions of planar images that copy no windows, and transposed ones: the same sweep the other way.
//!
//! A window of a convolution overlaps its neighbours, so the usual way (every window becomes a row of a matrix, then
//! one product) copies each number once per tap. Here each channel is copied once, with its padding around it and, if
//! the stride is not one, split into its phases ([`axis`]). Then neighbouring outputs read neighbouring numbers at
//! every tap: a vector of pixels is loaded at the place of the tap, and multiplied with one weight for each of some
//! output channels. The sums of a tile, eight channels × three vectors with AVX-512, stay in registers over all input
//! channels and taps ([`tile`]).
//!
//! Every output is one chain of multiply-adds in a fixed order. Reference for direct convolution in registers: Georganas
//! et al., "Anatomy of high-performance deep learning convolutions on SIMD architectures", SC 2018.

pub mod axis;
pub mod run;
pub mod spans;
pub mod sweep;
pub mod tile;

pub use axis::Axis;
pub use run::{Filters, Kernel, Scratch, Work};
pub use sweep::Sweep;
