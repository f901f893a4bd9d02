//! Unknown things on the path ahead, in time: what is unusual or in the way in the frames of a camera that looks along a
//! road, is followed from frame to frame, and counts if the car will reach it soon.
//!
//! 1. A network segments the rows between the horizon and the nearest distance, and a pixel method scores them.
//! 2. Pixels form components if they are above the level that is usual for their predicted class and rows (`level`), or if
//!    they are of a class of things on the road: a network takes most things that it does not know for one that it knows.
//! 3. A column of a component stands where its lowest pixel meets a flat road (`ground`). It counts if it lies on the path,
//!    which is parallel to the edges of the road (`path`).
//! 4. What counts is followed over up to fourteen frames, and its closing speed is measured (`tracks`).
//!
//! The excess of a detection is Σ (score − level) / deviation over its pixels, at least `occupied` for one of a thing on the
//! road, times the square metres that a pixel shows at its distance, so that a car up close counts no more for its many
//! pixels. The score is Σ ln(1 + excess) over the detections of one thing, the largest of all things that the car reaches
//! soon, and 0 if there is none.
//!
//! Assumes: a camera that looks horizontally along the direction of travel on a flat road, of known angle of view and height,
//! and a network that was trained on its nominal images. Things are lower than the camera, or touch the ground below its
//! horizon.
//! Blind to: what stands beside the path, drives ahead, or looks like the road. A known thing counts like an unknown one if
//! the car comes as near to it as it never does in nominal episodes.
//! Cost: a pass of the network for the rows from the horizon to the nearest distance, with the defaults an eighth of a frame.

mod detections;
mod ground;
mod monitor;
mod pasted;
mod path;
mod tracks;

use crate::frame_network::FrameNetwork;
use crate::level::ClassLevel;
use anyhow::{Context as _, Result, bail, ensure};
use detections::RoadView;
use ground::Ground;
use monitor::{Fitted, ObstacleMonitor};
use offnominal_core::entry;
use offnominal_core::image_detector::check_videos;
use offnominal_core::prelude::*;
use offnominal_core::suggest::nearest;
use offnominal_detectors::pixel::patches::Band;
use pasted::RoadPaste;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::num::NonZeroUsize;
use std::path::PathBuf;
use tracks::Criteria;

/// `obstacle-ahead`.
pub const ENTRY: Entry<dyn ImageDetector> = entry!(
    ObstacleAhead as dyn ImageDetector,
    "obstacle-ahead",
    "an unknown thing on the path ahead, followed over frames until the car is near"
);

/// Pixels from one feature of the baseline to the next: a crate 15 m ahead is a few pixels wide.
const STRIDE: usize = 2;
/// The baseline for frames of car-lanekeep's camera of 256 × 256 pixels, in the data folder;
/// `studies/pixels/car-lanekeep.sh` made it.
const SHIPPED: &str = "pixels/car-lanekeep-256.safetensors";
/// Share of the nominal pixels of a class and strip of rows above its level.
const ABOVE: f64 = 0.002;

offnominal_core::with_defaults! {
    /// The recipe; defaults are those of car-lanekeep's camera and car, and of 20 frames a second.
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
    #[serde(default, deny_unknown_fields)]
    pub struct ObstacleAhead {
        /// A model of `pixels train`; the one for the camera of car-lanekeep, if none.
        pub model: Option<PathBuf> = None,
        /// A method of `list pixel-methods` that needs one pass.
        pub method: String = "outlier-head".into(),
        /// Its parameters; if none, its defaults, but for a larger head that sees more of `outlier-head`.
        pub params: Option<Value> = None,
        /// Nominal frames on which the method is fitted and the level found, at most.
        pub frames: NonZeroUsize = const { NonZeroUsize::new(2800).unwrap() },
        /// Names of the network's classes of the ground on which the car may drive, up to the edges of the road.
        pub drivable: Vec<String> = vec!["road".into(), "marking".into()],
        /// Names of the network's classes of what stands or drives on the road.
        pub things: Vec<String> = vec!["vehicle".into(), "car".into()],
        /// Least excess of their pixels, deviations; if 0, only what is unusual counts.
        pub occupied: f64 = 0.5,
        /// Horizontal angle of view of the camera, degrees.
        pub view_deg: f64 = 90.0,
        /// Its height above the road, m.
        pub height_m: f64 = 1.5,
        /// From the camera to the front of the car, m.
        pub nose_m: f64 = 2.2,
        /// Width of the path, m: that of the car and a little more.
        pub path_m: f64 = 2.8,
        /// Distance of the nearest thing that is looked for from the camera, m.
        pub nearest_m: f64 = 6.0,
        /// Distance of the furthest that counts from the front of the car, m.
        pub furthest_m: f64 = 30.0,
        /// Frames within which the car reaches what counts.
        pub within: f64 = 32.0,
        /// Slowest approach of what counts, metres per frame; what is slower drives.
        pub slowest_m: f64 = 0.25,
        /// Fastest approach of what counts, metres per frame: what the car drives at most.
        pub fastest_m: f64 = 0.85,
    }
}

impl ImageDetector for ObstacleAhead {
    fn fit(
        &self,
        train: &[Video],
        _: &[Video],
        rng: &mut Rng,
        progress: FitProgress<'_>,
    ) -> Result<Box<dyn ImageScorer>, FitError> {
        check_videos(train, 2)?;
        self.check().map_err(missing)?;
        let (width, height) = (train[0].width, train[0].height);
        let ground = Ground::new(self.view_deg, self.height_m, (width, height));
        let rows = ground.rows(self.nearest_m, height);
        let network = FrameNetwork::open(self.model.as_deref(), SHIPPED, width).map_err(missing)?;
        let drivable = among(&self.drivable, network.classes()).context("drivable").map_err(missing)?;
        let things = among(&self.things, network.classes()).context("things").map_err(missing)?;
        let road = RoadPaste { ground, nearest_m: self.nearest_m };
        let paste = move |rgb: &mut _, labels: &mut _, pieces: (&_, _), rng: &mut _| {
            road.paste(rgb, labels, pieces, rng);
        };
        let network = network.within(Band { rows: rows.clone(), stride: STRIDE }, Box::new(paste));
        let (scorer, nominal) =
            network.fit((&self.method, &self.params()), train, self.frames, rng, progress)?;
        let level = ClassLevel::of(&nominal, drivable.len(), width, ABOVE);
        let view = RoadView { ground, first_row: rows.start, width, path_m: self.path_m };
        let criteria = self.criteria(&ground);
        let occupied = self.occupied as f32;
        Ok(Box::new(ObstacleMonitor::new(Fitted {
            scorer,
            level,
            occupied,
            view,
            criteria,
            rows,
            height,
            drivable,
            things,
        })))
    }
}

impl ObstacleAhead {
    fn check(&self) -> Result<()> {
        ensure!(
            self.view_deg > 0.0 && self.view_deg < 180.0,
            "expected an angle view_deg between 0 and 180, found {}",
            self.view_deg
        );
        let lengths = [
            ("height_m", self.height_m),
            ("path_m", self.path_m),
            ("nearest_m", self.nearest_m),
            ("furthest_m", self.furthest_m),
            ("within", self.within),
            ("slowest_m", self.slowest_m),
            ("fastest_m", self.fastest_m),
        ];
        for (name, value) in lengths {
            ensure!(value > 0.0 && value.is_finite(), "expected {name} above 0, found {value}");
        }
        ensure!(!self.drivable.is_empty(), "expected at least one drivable class, found none");
        for (name, value) in [("nose_m", self.nose_m), ("occupied", self.occupied)] {
            ensure!(value >= 0.0 && value.is_finite(), "expected {name} of at least 0, found {value}");
        }
        Ok(())
    }

    fn params(&self) -> Value {
        let defaults = match self.method.as_str() {
            "outlier-head" => json!({ "hidden": 128, "epochs": 20, "places": 400 }),
            _ => json!({}),
        };
        self.params.clone().unwrap_or(defaults)
    }

    fn criteria(&self, ground: &Ground) -> Criteria {
        Criteria {
            within: self.within,
            slowest_m: self.slowest_m,
            fastest_m: self.fastest_m,
            furthest_m: self.furthest_m,
            nose_m: self.nose_m,
            row_m: ground.metres_per_row(),
        }
    }
}

/// Which of the network's classes are among those named.
fn among(named: &[String], known: &[String]) -> Result<Vec<bool>> {
    if let Some(name) = named.iter().find(|name| !known.contains(name)) {
        let hint = nearest(name, known.iter().map(String::as_str));
        let hint = hint.map_or(String::new(), |m| format!("; did you mean {m:?}?"));
        bail!("the network has no class {name:?}{hint}; there are: {}", known.join(", "));
    }
    Ok(known.iter().map(|name| named.contains(name)).collect())
}

fn missing(e: anyhow::Error) -> FitError {
    FitError::Missing(format!("obstacle-ahead: {e:#}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use offnominal_core::law::Law;
    use offnominal_laws::{assert_lawful, image_detector};

    #[test]
    fn it_obeys_the_laws_of_image_detectors() {
        let few = ObstacleAhead {
            params: Some(json!({ "epochs": 1, "hidden": 8 })),
            frames: const { NonZeroUsize::new(20).unwrap() },
            // The laws' images are small: only what is near covers a pixel.
            nearest_m: 0.5,
            ..ObstacleAhead::default()
        };
        let exempt = [(Law::SeesGrossFaults, "it looks for things on a path, and noise all over is none")];
        assert_lawful("obstacle-ahead", &image_detector(&few, &exempt));
    }

    #[test]
    fn a_recipe_that_makes_no_sense_is_refused_by_name() {
        let refused = |recipe: &ObstacleAhead| recipe.check().unwrap_err().to_string();
        let recipe = ObstacleAhead { view_deg: 180.0, ..ObstacleAhead::default() };
        assert_eq!(refused(&recipe), "expected an angle view_deg between 0 and 180, found 180");
        let recipe = ObstacleAhead { path_m: 0.0, ..ObstacleAhead::default() };
        assert_eq!(refused(&recipe), "expected path_m above 0, found 0");
        let known = ["road", "marking"].map(String::from);
        let recipe = ObstacleAhead { drivable: vec![], ..ObstacleAhead::default() };
        assert_eq!(refused(&recipe), "expected at least one drivable class, found none");
        let found = among(&["rod".into()], &known).unwrap_err().to_string();
        assert_eq!(
            found,
            "the network has no class \"rod\"; did you mean \"road\"?; there are: road, marking"
        );
        assert_eq!(among(&["marking".into()], &known).unwrap(), [false, true]);
    }
}
