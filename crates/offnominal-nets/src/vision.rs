//! What sees: encoders that give numbers for each patch of an image and numbers for the whole.
//!
//! A [`Backbone`] is the weights; an [`Encoder`] is a backbone made ready for images of one size, with its buffers.
//! Images are red, green and blue in bytes, `[height, width, 3]`.

mod convolution;
mod depthwise;
pub mod efficientnet;
pub mod linear;
pub mod patches;
pub mod resize;
pub mod resnet;
pub mod transformer;

/// What an encoder makes of an image.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Features {
    /// Rows of the grid of patches.
    pub rows: usize,
    /// Columns of the grid.
    pub columns: usize,
    /// Numbers per patch.
    pub width: usize,
    /// `[rows, columns, width]`.
    pub patches: Vec<f32>,
    /// Numbers for the whole image.
    pub whole: Vec<f32>,
}

/// Weights that can encode images of any size.
pub trait Backbone: Send + Sync {
    /// Made ready for images of a size.
    fn at(&self, height: usize, width: usize) -> Box<dyn Encoder>;
}

/// A backbone for images of one size.
pub trait Encoder: Send + Sync {
    /// Encodes an image.
    ///
    /// # Panics
    /// If the image has another size.
    fn encode(&mut self, image: &[u8]) -> &Features;

    /// The image that has these patches, `[rows, columns, width]`, if the encoder can decode them.
    fn decode(&mut self, _patches: &[f32]) -> Option<Vec<u8>> {
        None
    }

    /// An independent copy with the same weights, for another thread.
    fn fork(&self) -> Box<dyn Encoder>;
}

impl Clone for Box<dyn Encoder> {
    fn clone(&self) -> Box<dyn Encoder> {
        self.fork()
    }
}

impl Features {
    /// Number of patches.
    pub fn n_patches(&self) -> usize {
        self.rows * self.columns
    }
}

/// The mean and deviation of colours, from 0 to 1, to which a network is used.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Normal {
    mean: [f32; 3],
    deviation: [f32; 3],
}

impl Normal {
    /// Those of ImageNet.
    const IMAGENET: Normal = Normal { mean: [0.485, 0.456, 0.406], deviation: [0.229, 0.224, 0.225] };
    /// Those of EfficientNet-Lite: (level − 127) / 128.
    const LITE: Normal = Normal { mean: [127.0 / 255.0; 3], deviation: [128.0 / 255.0; 3] };
    /// Those of CLIP.
    const CLIP: Normal = Normal {
        mean: [0.481_454_66, 0.457_827_5, 0.408_210_73],
        deviation: [0.268_629_54, 0.261_302_6, 0.275_777_1],
    };

    /// Levels from 0 to 255 in these units.
    fn apply(self, levels: &[f32]) -> Vec<f32> {
        let unit = |(i, v): (usize, &f32)| (v / 255.0 - self.mean[i % 3]) / self.deviation[i % 3];
        levels.iter().enumerate().map(unit).collect()
    }
}

#[cfg(test)]
mod references;
