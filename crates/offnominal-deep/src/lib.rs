//! Convolutional networks that classify each pixel: PSPNet and DeepLabV3+, and how they are trained.
//!
//! Every build can ask a small network that was trained ([`Inference`]): it is a graph of `offnominal-nets`. The rest
//! needs the feature `burn`, whose tensors take minutes to compile. There a network is two things: a `Segmenter`'s
//! layers, which know names and shapes, and its `Weights`, which hold the numbers. Tensors, products and the tape of
//! derivatives are burn's, on the processor or, with the feature `gpu`, on a graphics card; on the processor convolutions
//! and the normalisation of batches are our own (`conv`), as are layers, initial values, optimisers and schedules
//! everywhere. Everything random is drawn here from named seeds, so that a device changes rounding only.

#[cfg(feature = "burn")]
mod aspp;
#[cfg(feature = "burn")]
pub mod conv;
#[cfg(feature = "burn")]
mod deeplab;
mod design;
#[cfg(feature = "burn")]
pub mod device;
mod file;
#[cfg(feature = "burn")]
mod flex;
#[cfg(feature = "burn")]
pub mod images;
mod inference;
#[cfg(feature = "burn")]
mod layer;
#[cfg(feature = "burn")]
mod likelihood;
#[cfg(feature = "burn")]
mod loss;
#[cfg(feature = "burn")]
mod norm;
#[cfg(feature = "burn")]
mod optimiser;
#[cfg(feature = "burn")]
mod pass;
#[cfg(feature = "burn")]
mod pspnet;
#[cfg(feature = "burn")]
mod residual;
#[cfg(feature = "burn")]
mod resize;
#[cfg(feature = "burn")]
mod segmenter;
mod segments;
#[cfg(feature = "burn")]
mod small;
#[cfg(feature = "burn")]
mod torchvision;
#[cfg(feature = "burn")]
pub mod train;
#[cfg(feature = "burn")]
mod trunk;
#[cfg(feature = "burn")]
mod view;
#[cfg(feature = "burn")]
mod weights;
#[cfg(feature = "burn")]
mod xception;

pub use design::{Architecture, Design, Modification, OutputStride, Preset};
pub use file::FileError;
pub use inference::Inference;
#[cfg(feature = "burn")]
pub use segmenter::Segmenter;
pub use segments::{Segmentation, Segments};
#[cfg(feature = "burn")]
pub use view::Image;
#[cfg(feature = "burn")]
pub use weights::Weights;

#[cfg(test)]
mod golden;
#[cfg(all(test, feature = "burn"))]
mod tests;
