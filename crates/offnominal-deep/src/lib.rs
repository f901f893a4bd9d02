//! Convolutional networks that classify each pixel: PSPNet and DeepLabV3+, and how they are trained.
//!
//! A network is two things, as in `offnominal-nets`: a `Segmenter`'s layers, which know names and shapes, and its
//! `Weights`, which hold the numbers. Tensors, products and the tape of derivatives are burn's, on the processor or,
//! with the feature `gpu`, on a graphics card; on the processor convolutions and the normalisation of batches are our
//! own (`conv`), as are layers, initial values, optimisers and schedules everywhere. Everything random is drawn here
//! from named seeds, so that a device changes rounding only.
#![cfg(feature = "burn")]

mod aspp;
pub mod conv;
mod deeplab;
mod design;
pub mod device;
mod file;
mod flex;
pub mod images;
mod layer;
mod likelihood;
mod loss;
mod norm;
mod optimiser;
mod pass;
mod pspnet;
mod residual;
mod resize;
mod segmenter;
mod small;
mod torchvision;
pub mod train;
mod trunk;
mod view;
mod weights;
mod xception;

pub use design::{Architecture, Design, Modification, OutputStride, Preset};
pub use file::FileError;
pub use segmenter::{Segmentation, Segmenter};
pub use view::Image;
pub use weights::Weights;

#[cfg(test)]
mod golden;
#[cfg(test)]
mod tests;
