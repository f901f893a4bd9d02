//! Corruptions of the images that the policy sees.
//!
//! The magnitude is the severity, 0 to 5. Each new image is corrupted once, as a camera would: in a stack of images
//! each keeps the draw it got when it was new, so images from before the onset stay as they were. With
//! `at = "screen"` the corruption is not of the image in the observation but of the environment's own screen, before
//! it is made smaller: the parameter `screen-<name>` of environments that have one.
//!
//! Reference: Mohammed and Valdenegro-Toro (2021), Table 1; the corruptions themselves are those of
//! [`crate::corruption`].

use super::Listed;
use super::kind::{Class, Domain, Reach};
use super::signal::{Words, check_magnitude};
use crate::corruption::{Corruption, Corruptor};
use offnominal_core::anomaly::AnomalyError;
use offnominal_core::catalogue::parse;
use offnominal_core::prelude::*;
use offnominal_core::spec::Image;
use serde::Deserialize;

/// Begins the names of anomalies of images.
pub const IMAGE: &str = "img-";

/// Whether the corruption behind an entry makes sense for images of that shape.
pub(super) fn suits(id: &str, image: Option<Image>) -> bool {
    image.is_some_and(|i| i.planes == 3 || id != SATURATE.entry.id)
}

/// The recipe.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ImageRecipe {
    magnitude: f64,
    #[serde(default)]
    at: Place,
}

/// Where images are corrupted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Place {
    /// In the observation, as the policy reads it.
    #[default]
    Observation,
    /// On the environment's screen.
    Screen,
}

/// A corruption, and the images that it corrupted so far.
struct Corrupted {
    what: Corruption,
    recipe: ImageRecipe,
    /// What the observation needs; none at the screen.
    seen: Option<Seen>,
}

impl Corrupted {
    fn id(&self) -> String {
        format!("{IMAGE}{}", self.what.name())
    }

    fn parameter(&self) -> String {
        format!("screen-{}", self.what.name())
    }

    fn set_screen(&self, env: &mut dyn Env, severity: f64) {
        if self.recipe.at == Place::Screen {
            let checked = "the value was checked against the specification";
            env.set_parameter(&self.parameter(), severity).expect(checked);
        }
    }
}

impl Anomaly for Corrupted {
    fn fit(&mut self, spec: &EnvSpec) -> Result<(), AnomalyError> {
        check_magnitude(&self.id(), Domain::Severity, self.recipe.magnitude)?;
        if self.recipe.at == Place::Screen {
            return Ok(spec.check(&self.parameter(), self.recipe.magnitude)?);
        }
        let expected = if self.what == Corruption::Saturate { "an image in colour" } else { "an image" };
        let missing = || AnomalyError::NoImage { id: self.id(), env: spec.id.clone(), expected };
        let image = spec.image().filter(|&i| suits(&self.id(), Some(i))).ok_or_else(missing)?;
        self.seen = Some(Seen::new(self.what, self.recipe.magnitude, image));
        Ok(())
    }

    fn begin(&mut self, env: &mut dyn Env, _: &mut Rng) {
        if let Some(seen) = &mut self.seen {
            seen.n = 0;
        }
        self.set_screen(env, self.recipe.magnitude);
    }

    fn on_observation(&mut self, obs: &mut [f32], rng: &mut Rng) {
        if let Some(seen) = &mut self.seen {
            seen.see(obs, rng);
        }
    }

    fn end(&mut self, env: &mut dyn Env) {
        self.set_screen(env, 0.0);
    }
}

/// The images corrupted since the anomaly became active, as they lie in the observation.
struct Seen {
    image: Image,
    corruptor: Corruptor,
    /// As many as the stack holds, the newest last.
    images: Vec<f32>,
    n: usize,
    /// The newest, with the planes of a pixel side by side.
    pixels: Vec<u8>,
}

impl Seen {
    fn new(what: Corruption, severity: f64, image: Image) -> Seen {
        let corruptor = Corruptor::new(what, severity, image.height, image.columns, image.planes);
        let (images, pixels) = (vec![0.0; image.width()], vec![0; image.frame_len()]);
        Seen { image, corruptor, images, n: 0, pixels }
    }

    /// Corrupts the newest image and replaces the older ones by what became of them.
    fn see(&mut self, obs: &mut [f32], rng: &mut Rng) {
        let (len, from) = (self.image.frame_len(), self.image.width() - self.image.frame_len());
        self.images.copy_within(len.., 0);
        self.pixels_of(&obs[from..]);
        self.corruptor.apply(&mut self.pixels, rng);
        let plane = self.image.height * self.image.columns;
        for (i, &pixel) in self.pixels.iter().enumerate() {
            let (at, p) = (i / self.image.planes, i % self.image.planes);
            self.images[from + p * plane + at] = f32::from(pixel);
        }
        self.n = (self.n + 1).min(self.image.frames);
        let own = self.image.width() - self.n * len;
        obs[own..].copy_from_slice(&self.images[own..]);
    }

    fn pixels_of(&mut self, image: &[f32]) {
        let plane = self.image.height * self.image.columns;
        for (i, pixel) in self.pixels.iter_mut().enumerate() {
            let (at, p) = (i / self.image.planes, i % self.image.planes);
            *pixel = image[p * plane + at].round() as u8;
        }
    }
}

macro_rules! listed {
    ($($name:ident: $what:ident, $id:literal, $summary:literal, $equation:literal, $imitates:literal, $shows:literal;)*) => {$(
        #[doc = concat!("On images: ", $summary, ".")]
        pub const $name: Listed = Listed::new(
            (Class::Observation, Domain::Severity, 0.0),
            &[Reach::one(1.0, 5.0)],
            "severity, 0 to 5; whole ones are those of `imagecorruptions`",
            |params| {
                let recipe = parse(params)?;
                Ok(Box::new(Corrupted { what: Corruption::$what, recipe, seen: None }))
            },
            Words { id: $id, summary: $summary, equation: $equation, imitates: $imitates, shows: $shows },
        );
    )*};
}

listed! {
    GAUSSIAN_NOISE: GaussianNoise, "img-gaussian-noise", "normal noise on every pixel",
        "x′ = x + 255 n,  n ~ N(0, σ²)", "a sensor in low light",
        "differences between neighbouring pixels, and between frames of a scene at rest";
    SHOT_NOISE: ShotNoise, "img-shot-noise", "photon noise",
        "x′ = 255 k / c,  k ~ Poisson(c x / 255)", "few photons",
        "differences between neighbouring pixels where the image is bright";
    IMPULSE_NOISE: ImpulseNoise, "img-impulse-noise", "pixels that are black or white",
        "x′ = 0 or 255 with probability p / 2 each", "dead pixels, bit errors",
        "single pixels at the ends of the range";
    SPECKLE_NOISE: SpeckleNoise, "img-speckle-noise", "noise in proportion to the brightness",
        "x′ = x + x n,  n ~ N(0, σ²)", "coherent light, radar",
        "differences between neighbouring pixels where the image is bright";
    GAUSSIAN_BLUR: GaussianBlur, "img-gaussian-blur", "blur by a bell",
        "x′ = x ∗ bell(σ)", "a dirty or cheap lens",
        "missing fine structure: the distance of features from nominal ones";
    DEFOCUS_BLUR: DefocusBlur, "img-defocus-blur", "blur by a disc",
        "x′ = x ∗ disc(r)", "a lens out of focus",
        "missing fine structure: the distance of features from nominal ones";
    GLASS_BLUR: GlassBlur, "img-glass-blur", "pixels displaced between two blurs",
        "x′ = displace(x ∗ bell(σ)) ∗ bell(σ)", "frosted glass",
        "edges that are ragged instead of straight";
    MOTION_BLUR: MotionBlur, "img-motion-blur", "one-sided blur along a random direction",
        "x′ = Σᵢ kᵢ shift(x, i),  kᵢ ∝ exp(−i² / 2σ²),  i ≤ 2ρ", "a camera that moves",
        "edges that are smeared in one direction";
    ZOOM_BLUR: ZoomBlur, "img-zoom-blur", "mean of enlarged images",
        "x′ = mean(x, zoom(x, 1), …, zoom(x, z))", "a camera that approaches",
        "edges that are smeared away from the centre";
    SNOW: Snow, "img-snow", "streaks of snow",
        "x′ = whiten(x) + s + turn(s)", "snowfall",
        "bright streaks that no prediction of the next image contains";
    FOG: Fog, "img-fog", "a fractal haze",
        "x′ = (x + c p) max x / (max x + c)", "fog",
        "low contrast and a raised mean level";
    BRIGHTNESS: Brightness, "img-brightness", "more light",
        "V′ = V + c", "exposure",
        "the mean level of the image";
    CONTRAST: Contrast, "img-contrast", "less contrast",
        "x′ = c (x − x̄) + x̄", "haze, a dim screen",
        "the spread of the levels around their mean";
    SATURATE: Saturate, "img-saturate", "less or more colour; for images in colour",
        "S′ = a S + b", "a wrong colour profile",
        "the distance between the colour planes";
    ELASTIC: ElasticTransform, "img-elastic-transform", "local displacements",
        "x′(r) = x(r + α d(r))", "hot air, a wavy pane",
        "shapes that bend: the residual of a prediction of the next image";
    PIXELATE: Pixelate, "img-pixelate", "fewer, larger pixels",
        "x′ = enlarge(mean over boxes of 1 / f)", "a low resolution",
        "missing fine structure, and edges on a grid";
    JPEG: JpegCompression, "img-jpeg-compression", "the loss of JPEG",
        "x′ = decode(encode(x, q))", "a narrow link",
        "edges on a grid of eight pixels";
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(what: Corruption, image: Image) -> Seen {
        Seen::new(what, 3.0, image)
    }

    #[test]
    fn each_image_keeps_the_draw_it_got_when_it_was_new() {
        let image = Image::grey(4, 9, 10);
        let (mut seen, mut rng) = (seen(Corruption::GaussianNoise, image), Rng::new(1));
        let mut look = || {
            let mut obs = vec![128.0; image.width()];
            seen.see(&mut obs, &mut rng);
            obs
        };
        let (first, second) = (look(), look());
        // Three images from before the onset, then one that was disturbed; in the next step it is third.
        assert!(first[..270].iter().all(|&x| x == 128.0) && first[270..] != [128.0; 90]);
        assert_eq!(second[180..270], first[270..]);
        assert!(second[..180].iter().all(|&x| x == 128.0) && second[270..] != first[270..]);
    }

    #[test]
    fn planes_are_found_where_they_lie() {
        let image = Image { frames: 1, planes: 3, height: 8, columns: 9 };
        let mut seen = seen(Corruption::Contrast, image);
        let mut obs: Vec<f32> = (0..3).flat_map(|p| [20.0 * p as f32 + 100.0; 72]).collect();
        let before = obs.clone();
        seen.see(&mut obs, &mut Rng::new(0));
        assert_eq!(obs, before, "contrast acts around the mean of each plane");
    }
}
