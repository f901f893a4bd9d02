//! Detectors that learn what a camera should see next: five networks of Anomaly-Gym's image half.
//!
//! A [`NetworkRecipe`] is plain data with two presets, `paper` (Table 11) and `small` (trains on two cores within
//! minutes). Fitted on videos it becomes a [`Watch`], which expects each image before it is seen; the score is how far the two
//! are apart. Everything random is drawn from one seed, so the same videos give the same bits on the same backend.
//!
//! ```
//! use offnominal_core::prelude::*;
//! use offnominal_deep::images::{self, Runtime};
//!
//! let video = |seed: usize| Video::new((8, 8), (0..8 * 8 * 3 * 5).map(|i| (i * seed) as u8).collect(), vec![0.0; 4], 1);
//! let little = serde_json::json!({ "preset": "small", "look": { "side": 16 }, "learning": { "steps": 2 } });
//! let ldm = images::find("ldm").unwrap().detector(&little, Runtime::default()).unwrap();
//! let mut monitor = ldm.fit(&[video(1), video(3)], &[video(5)], &mut Rng::new(1), FitProgress::unseen()).unwrap();
//! assert!(monitor.score(video(7).transition(0)) > 0.0);
//! ```

mod catalogue;
mod codec;
mod dense;
mod file;
mod fit;
mod fitting;
mod frames;
mod ldm;
mod learning;
mod library;
mod lrdm;
mod memory;
mod network;
mod pred_ae;
mod prednet;
mod prednet_cell;
mod rssm;
mod rssm_ppm;
mod runtime;
mod watch;
mod window;

pub use catalogue::{ALL, TrainedEntry, find};
pub use codec::Codec;
pub use file::load;
pub use fit::{Trained, TrainedDetector, TrainedFit};
pub use frames::{Look, Scale};
pub use ldm::Ldm;
pub use learning::Learning;
pub use lrdm::Lrdm;
pub use memory::Need;
pub use network::{Network, NetworkRecipe, Shared, View};
pub use pred_ae::PredAe;
pub use prednet::{History, PredNet};
pub use rssm::Sizes;
pub use rssm_ppm::RssmPpm;
pub use runtime::{FitStep, Runtime};
pub use watch::{TrainedMonitor, Watch};

#[cfg(test)]
mod tests;
