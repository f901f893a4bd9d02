//! What sees: encoders that give numbers for each patch of a picture and numbers for the whole.
//!
//! A [`Backbone`] is the weights; an [`Encoder`] is a backbone made ready for pictures of one size, with its buffers.
//! Pictures are red, green and blue in bytes, `[height, width, 3]`.

pub mod patches;
pub mod resize;

/// What an encoder makes of a picture.
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
    /// Numbers for the whole picture.
    pub whole: Vec<f32>,
}

/// Weights that can look at pictures of any size.
pub trait Backbone: Send + Sync {
    /// Made ready for pictures of a size.
    fn at(&self, height: usize, width: usize) -> Box<dyn Encoder>;
}

/// A backbone for pictures of one size.
pub trait Encoder: Send {
    /// Looks at a picture.
    ///
    /// # Panics
    /// If the picture has another size.
    fn encode(&mut self, picture: &[u8]) -> &Features;

    /// The picture that has these patches, `[rows, columns, width]`, as far as the encoder can imagine one.
    fn imagine(&mut self, _patches: &[f32]) -> Option<Vec<u8>> {
        None
    }
}

impl Features {
    /// Number of patches.
    pub fn n_patches(&self) -> usize {
        self.rows * self.columns
    }
}
