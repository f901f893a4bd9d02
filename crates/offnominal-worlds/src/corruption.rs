//! What happens to images in bad weather, bad optics and bad transmission: seventeen corruptions of one frame.
//!
//! A [`Corruptor`] takes 8-bit grey or RGB pixels, row by row with the planes of a pixel side by side, and returns the
//! same. Five severities are those of the package `imagecorruptions` 1.1.2, whose algorithms are followed, truncation
//! to 8 bits included; between two of them the parameters are interpolated, and below severity 1 the image is mixed
//! with its corruption, so that severity 0 changes nothing.
//!
//! Reference: Michaelis et al., arXiv 1907.07484, after Hendrycks and Dietterich, ICLR 2019. Deviates: seeded; a grey
//! frame is corrupted as one plane, with one draw of noise, where the package makes three planes of it. Its `frost`
//! needs photographs and its `spatter` an edge detector: they are left out.

mod blur;
mod camera;
mod filter;
mod jpeg;
mod noise;
mod tone;
mod weather;

use filter::Size;
use offnominal_core::Rng;

/// Declares the corruptions: the name in the package, with hyphens; whether nothing is drawn; and what does it.
macro_rules! corruptions {
    ($($(#[$doc:meta])* $what:ident: $name:literal, deterministic: $is_deterministic:literal, $effect:path;)*) => {
        /// A way in which an image can be bad.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum Corruption {
            $($(#[$doc])* $what,)*
        }

        /// Every corruption, in the order in which reports list them.
        pub const ALL: [Corruption; [$($name),*].len()] = [$(Corruption::$what),*];

        impl Corruption {
            /// The name as the package has it, with hyphens.
            pub fn name(self) -> &'static str {
                match self { $(Corruption::$what => $name,)* }
            }

            /// Whether two calls on the same image give the same.
            pub fn is_deterministic(self) -> bool {
                match self { $(Corruption::$what => $is_deterministic,)* }
            }

            /// The corruption at a severity of 1 to 5, ready for frames of one size.
            fn effect(self, severity: f64, size: Size) -> Effect {
                match self { $(Corruption::$what => $effect(severity, size),)* }
            }
        }
    };
}

corruptions! {
    /// Normal noise on every number.
    GaussianNoise: "gaussian-noise", deterministic: false, noise::gaussian;
    /// Photon noise: Poisson counts.
    ShotNoise: "shot-noise", deterministic: false, noise::shot;
    /// Some numbers replaced by black or white.
    ImpulseNoise: "impulse-noise", deterministic: false, noise::impulse;
    /// Normal noise in proportion to the value.
    SpeckleNoise: "speckle-noise", deterministic: false, noise::speckle;
    /// Blur by a bell.
    GaussianBlur: "gaussian-blur", deterministic: true, blur::gaussian;
    /// Blur by a disc.
    DefocusBlur: "defocus-blur", deterministic: true, blur::defocus;
    /// Blur, pixels displaced at random, and blur again.
    GlassBlur: "glass-blur", deterministic: false, blur::glass;
    /// One-sided blur along a random direction.
    MotionBlur: "motion-blur", deterministic: false, blur::motion;
    /// Mean of the image and of enlarged ones.
    ZoomBlur: "zoom-blur", deterministic: true, camera::zoom;
    /// Streaks of snow on a whitened image.
    Snow: "snow", deterministic: false, weather::snow;
    /// A fractal haze.
    Fog: "fog", deterministic: false, weather::fog;
    /// More light.
    Brightness: "brightness", deterministic: true, tone::brightness;
    /// Less contrast around the mean.
    Contrast: "contrast", deterministic: true, tone::contrast;
    /// Less or more colour; changes nothing in grey images.
    Saturate: "saturate", deterministic: true, tone::saturate;
    /// Local displacements.
    ElasticTransform: "elastic-transform", deterministic: false, camera::elastic;
    /// Fewer, larger pixels.
    Pixelate: "pixelate", deterministic: true, camera::pixelate;
    /// The loss of JPEG.
    JpegCompression: "jpeg-compression", deterministic: true, jpeg::jpeg;
}

/// A corruption of grey levels from 0 to 255, in place, with its buffers; what leaves that range is clipped afterwards.
type Effect = Box<dyn FnMut(&mut [f32], &mut Rng) + Send + Sync>;

/// A corruption at one severity for frames of one size. After the first frame it does not allocate.
pub struct Corruptor {
    /// Share of the corruption in the result; 1 from severity 1 upwards.
    share: f32,
    effect: Effect,
    levels: Vec<f32>,
}

impl Corruptor {
    /// A corruption of a severity from 0 to 5, for frames of `height` × `width` pixels of 1 (grey) or 3 (RGB) planes.
    ///
    /// # Panics
    /// If the severity is outside its range, the frame is smaller than 8 × 8, or there are neither 1 nor 3 planes.
    pub fn new(what: Corruption, severity: f64, height: usize, width: usize, planes: usize) -> Corruptor {
        assert!((0.0..=5.0).contains(&severity), "{}: severity {severity} is not in [0, 5]", what.name());
        assert!(height >= 8 && width >= 8, "expected at least 8 × 8 pixels, found {height} × {width}");
        assert!(planes == 1 || planes == 3, "expected 1 or 3 planes, found {planes}");
        let size = Size { height, width, planes };
        Corruptor {
            share: severity.min(1.0) as f32,
            effect: what.effect(severity.max(1.0), size),
            levels: vec![0.0; size.len()],
        }
    }

    /// Corrupts a frame, `[height, width, planes]`.
    ///
    /// # Panics
    /// If the frame has another size than was announced.
    pub fn apply(&mut self, frame: &mut [u8], rng: &mut Rng) {
        assert_eq!(frame.len(), self.levels.len(), "numbers of the frame");
        if self.share == 0.0 {
            return;
        }
        self.levels.iter_mut().zip(&*frame).for_each(|(level, &pixel)| *level = f32::from(pixel));
        (self.effect)(&mut self.levels, rng);
        for (pixel, &level) in frame.iter_mut().zip(&self.levels) {
            let mixed = f32::from(*pixel) + self.share * (level.clamp(0.0, 255.0) - f32::from(*pixel));
            // Truncated, as the package does. The slack undoes roundings of whole levels to just below.
            *pixel = (mixed + 1e-3) as u8;
        }
    }
}

/// The parameters at a severity: linear between the five of the table.
fn between<const N: usize>(table: &[[f64; N]; 5], severity: f64) -> [f64; N] {
    let at = severity.clamp(1.0, 5.0) - 1.0;
    let below = (at.floor() as usize).min(3);
    let weight = at - below as f64;
    std::array::from_fn(|k| table[below][k] * (1.0 - weight) + table[below + 1][k] * weight)
}

#[cfg(test)]
mod tests;
