//! Faults of the camera that watches an environment.
//!
//! Environment and policy go on as ever: only the images that somebody takes of the episode are bad. Noise, blur,
//! pixelation, brightness and fog are those of [`crate::corruption`], whose severity is the magnitude; the others are
//! of this project. What is drawn for an episode (where the patch is, which rows are dead) stays while the fault
//! lasts.

use super::Listed;
use super::kind::{Class, Domain, Reach};
use super::signal::{Words, check_magnitude};
use crate::corruption::{Corruption, Corruptor};
use offnominal_core::anomaly::AnomalyError;
use offnominal_core::catalogue::parse;
use offnominal_core::prelude::*;
use serde::Deserialize;
use serde_json::Value;

/// Begins the names of camera faults.
pub const CAMERA: &str = "cam-";

/// The recipe.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct CameraRecipe {
    magnitude: f64,
}

/// What is wrong with the camera.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum What {
    Corrupted(Corruption),
    Patch,
    Rows,
    Frozen,
    Dropped,
}

/// A fault with what it remembers of the episode.
struct Faulty {
    id: &'static str,
    domain: Domain,
    what: What,
    magnitude: f64,
    corruptor: Option<((usize, usize), Corruptor)>,
    /// Numbers drawn once per episode: where the patch is and how grey, or the order in which rows die.
    drawn: Vec<f64>,
    /// The last image that was shown, and for how many steps it has stood.
    held: Vec<u8>,
    stood: f64,
}

impl Anomaly for Faulty {
    fn fit(&mut self, spec: &EnvSpec) -> Result<(), AnomalyError> {
        check_magnitude(self.id, self.domain, self.magnitude)?;
        let env = spec.id.clone();
        if spec.cameras.is_empty() { Err(AnomalyError::NoCamera { id: self.id.into(), env }) } else { Ok(()) }
    }

    fn watch_frame(&mut self, frame: &Frame) {
        self.hold(frame);
    }

    fn on_frame(&mut self, frame: &mut Frame, rng: &mut Rng) {
        match self.what {
            What::Corrupted(corruption) => self.corrupt(corruption, frame, rng),
            What::Patch => self.cover(frame, rng),
            What::Rows => self.kill_rows(frame, rng),
            What::Frozen => self.freeze(frame),
            What::Dropped => {
                if rng.uniform() < self.magnitude {
                    frame.rgb.fill(0);
                }
            }
        }
    }
}

impl Faulty {
    fn build(
        id: &'static str,
        domain: Domain,
        what: What,
        params: &Value,
    ) -> Result<Box<dyn Anomaly>, BuildError> {
        let CameraRecipe { magnitude } = parse(params)?;
        let (drawn, held) = (vec![], vec![]);
        Ok(Box::new(Faulty { id, domain, what, magnitude, corruptor: None, drawn, held, stood: 0.0 }))
    }

    fn hold(&mut self, frame: &Frame) {
        if self.what == What::Frozen {
            self.held.clone_from(&frame.rgb);
            self.stood = 0.0;
        }
    }

    fn corrupt(&mut self, what: Corruption, frame: &mut Frame, rng: &mut Rng) {
        let size = (frame.height, frame.width);
        if self.corruptor.as_ref().is_none_or(|(made_for, _)| *made_for != size) {
            self.corruptor = Some((size, Corruptor::new(what, self.magnitude, size.0, size.1, 3)));
        }
        if let Some((_, corruptor)) = &mut self.corruptor {
            corruptor.apply(&mut frame.rgb, rng);
        }
    }

    /// A square of one grey, of that share of the image.
    fn cover(&mut self, frame: &mut Frame, rng: &mut Rng) {
        if self.drawn.is_empty() {
            self.drawn = (0..3).map(|_| rng.uniform()).collect();
        }
        let side = ((frame.width * frame.height) as f64 * self.magnitude).sqrt();
        let (height, width) = (side.round().min(frame.height as f64), side.round().min(frame.width as f64));
        let top = (self.drawn[0] * (frame.height as f64 - height)) as usize;
        let left = (self.drawn[1] * (frame.width as f64 - width)) as usize;
        let grey = (40.0 + 80.0 * self.drawn[2]) as u8;
        for row in top..top + height as usize {
            let from = (row * frame.width + left) * 3;
            frame.rgb[from..from + width as usize * 3].fill(grey);
        }
    }

    /// That share of the rows is black; which ones does not depend on the share, but for how many.
    fn kill_rows(&mut self, frame: &mut Frame, rng: &mut Rng) {
        if self.drawn.len() != frame.height {
            self.drawn = (0..frame.height).map(|_| rng.uniform()).collect();
        }
        let mut order: Vec<usize> = (0..frame.height).collect();
        order.sort_by(|&a, &b| self.drawn[a].total_cmp(&self.drawn[b]));
        let dead = (self.magnitude * frame.height as f64).round() as usize;
        for row in &order[..dead] {
            frame.rgb[row * frame.width * 3..(row + 1) * frame.width * 3].fill(0);
        }
    }

    /// An image stands for so many steps before the next one comes.
    fn freeze(&mut self, frame: &mut Frame) {
        if self.held.len() == frame.rgb.len() && self.stood < self.magnitude {
            frame.rgb.copy_from_slice(&self.held);
            self.stood += 1.0;
        } else {
            self.hold(frame);
        }
    }
}

/// An entry whose magnitude has that domain.
macro_rules! listed {
    ($($name:ident: $what:expr, $domain:ident, ($step:literal, $limit:literal), $id:literal, $summary:literal,
       $equation:literal, $magnitude:literal, $imitates:literal, $shows:literal;)*) => {$(
        #[doc = concat!("Of the camera: ", $summary, ".")]
        pub const $name: Listed = Listed::new(
            (Class::Camera, Domain::$domain, 0.0),
            &[Reach::one($step, $limit)],
            $magnitude,
            |params| Faulty::build($id, Domain::$domain, $what, params),
            Words { id: $id, summary: $summary, equation: $equation, imitates: $imitates, shows: $shows },
        );
    )*};
}

listed! {
    NOISE: What::Corrupted(Corruption::GaussianNoise), Severity, (0.05, 5.0), "cam-noise",
        "a camera with normal noise on every pixel", "x′ = x + 255 n,  n ~ N(0, σ²)", "severity, 0 to 5",
        "a sensor in low light", "differences between neighbouring pixels";
    BLUR: What::Corrupted(Corruption::GaussianBlur), Severity, (0.05, 5.0), "cam-blur",
        "a camera that is out of focus", "x′ = x ∗ bell(σ)", "severity, 0 to 5",
        "a dirty or cheap lens", "missing fine structure";
    PIXELATE: What::Corrupted(Corruption::Pixelate), Severity, (0.05, 5.0), "cam-pixelate",
        "a camera with fewer, larger pixels", "x′ = enlarge(mean over boxes of 1 / f)", "severity, 0 to 5",
        "a low resolution", "missing fine structure, and edges on a grid";
    BRIGHTNESS: What::Corrupted(Corruption::Brightness), Severity, (0.05, 5.0), "cam-brightness",
        "a camera that is too bright", "V′ = V + c", "severity, 0 to 5",
        "exposure", "the mean level of the image";
    FOG: What::Corrupted(Corruption::Fog), Severity, (0.05, 5.0), "cam-fog",
        "a camera in fog", "x′ = (x + c p) max x / (max x + c)", "severity, 0 to 5",
        "fog, a damp lens", "low contrast and a raised mean level";
    PATCH: What::Patch, Share, (0.005, 1.0), "cam-patch",
        "a camera part of which is covered", "x′ = grey in a square of area p", "p, covered share of the image",
        "dirt or a sticker on the lens", "a region that no nominal image contains, and that never moves";
    ROWS: What::Rows, Share, (0.01, 1.0), "cam-rows",
        "a camera with dead rows", "x′ = 0 in the share p of the rows", "p, share of dead rows",
        "a broken sensor", "black lines";
    FROZEN: What::Frozen, Whole, (1.0, 1000.0), "cam-frozen",
        "a camera whose image stands still", "x′ₜ = the image of up to m steps ago",
        "m, steps for which an image stands", "a stalled driver",
        "steps without change: the residual of a prediction of the next image";
    DROPPED: What::Dropped, Share, (0.02, 1.0), "cam-dropped",
        "a camera whose images get lost", "x′ = 0 with probability p", "p, probability that an image is black",
        "a loose contact, a link that loses messages", "black images";
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn frame(seed: u64) -> Frame {
        let (mut frame, mut rng) = (Frame::new(32, 24), Rng::new(seed));
        let blocks: Vec<[u8; 3]> = (0..12).map(|_| [0; 3].map(|_| 50 + rng.below(150) as u8)).collect();
        for row in 0..24 {
            for column in 0..32 {
                frame.paint(column, row, blocks[row / 8 * 4 + column / 8], 0);
            }
        }
        frame
    }

    fn seen(id: &str, magnitude: f64, frames: u64) -> Vec<Frame> {
        let mut fault = super::super::catalogue().build(id, &json!({ "magnitude": magnitude })).unwrap();
        let mut rng = Rng::new(3);
        fault.watch_frame(&frame(0));
        let mut look = |seed: u64| {
            let mut frame = frame(seed);
            fault.on_frame(&mut frame, &mut rng);
            frame
        };
        (1..=frames).map(&mut look).collect()
    }

    fn ids() -> Vec<&'static str> {
        let all = super::super::ALL.iter().filter(|a| a.kind.class == Class::Camera);
        all.map(|a| a.entry.id).collect()
    }

    #[test]
    fn zero_changes_nothing_and_more_changes_more() {
        assert_eq!(ids().len(), 9);
        for id in ids() {
            let change = |magnitude: f64| {
                let seen = seen(id, magnitude, 12);
                let pairs =
                    seen.iter().zip(1..).flat_map(|(f, s)| f.rgb.clone().into_iter().zip(frame(s).rgb));
                pairs.map(|(a, b)| u64::from(a.abs_diff(b))).sum::<u64>()
            };
            let few = if id == "cam-frozen" { [0.0, 1.0, 4.0] } else { [0.0, 0.3, 0.9] };
            let [none, some, more] = few.map(change);
            assert!(none == 0 && some > 0 && more > some, "{id}: {none} {some} {more}");
            assert_eq!(
                seen(id, 0.5_f64.ceil(), 4),
                seen(id, 0.5_f64.ceil(), 4),
                "{id}: same seed, same bits"
            );
        }
    }

    #[test]
    fn a_frozen_image_stands_for_so_many_steps() {
        let seen = seen("cam-frozen", 2.0, 5);
        assert_eq!(seen, [frame(0), frame(0), frame(3), frame(3), frame(3)]);
    }

    #[test]
    fn a_patch_and_dead_rows_stay_where_they_are() {
        let patch = seen("cam-patch", 0.25, 2);
        let grey = |f: &Frame| {
            f.rgb
                .as_chunks::<3>()
                .0
                .iter()
                .map(|p| p[0] == p[1] && p[1] == p[2] && p[0] < 121)
                .collect::<Vec<_>>()
        };
        assert_eq!(grey(&patch[0]), grey(&patch[1]));
        assert!((grey(&patch[0]).iter().filter(|g| **g).count() as i64 - 32 * 24 / 4).abs() < 20);
        let rows = seen("cam-rows", 0.25, 2);
        let dead =
            |f: &Frame| f.rgb.chunks(32 * 3).map(|row| row.iter().all(|&p| p == 0)).collect::<Vec<_>>();
        assert_eq!((dead(&rows[0]), dead(&rows[0]).iter().filter(|d| **d).count()), (dead(&rows[1]), 6));
    }

    #[test]
    fn wrong_magnitudes_and_blind_environments_are_refused() {
        let mut spec = crate::env::catalogue().build("sap-goal0", &json!({})).unwrap().spec().clone();
        let fit = |magnitude: f64, spec: &EnvSpec| {
            let mut fault =
                super::super::catalogue().build("cam-patch", &json!({ "magnitude": magnitude })).unwrap();
            fault.fit(spec).map_err(|e| e.to_string())
        };
        assert!(fit(0.1, &spec).is_ok());
        assert_eq!(
            fit(1.5, &spec).unwrap_err(),
            "anomaly cam-patch: expected a magnitude from 0 to 1, found 1.5"
        );
        spec.cameras.clear();
        assert!(fit(0.1, &spec).unwrap_err().contains("expected an environment with a camera"));
    }
}
