//! Distance of a transition to the k-th nearest nominal one.
//!
//! score(o, a, o′) = ‖y − y₍ₖ₎‖₂, exact, with y = (z(o), z(a), w · t).
//!
//! | symbol | meaning                                                                                |
//! |--------|----------------------------------------------------------------------------------------|
//! | z      | observation and action, standardised, constant channels dropped                       |
//! | t      | change of the observation, in units of its nominal deviation (as in `mlp-dm`)           |
//! | w      | weight of the change against where it happened                                         |
//! | y₍ₖ₎   | the k-th nearest of the nominal transitions                                            |
//!
//! Where `knn` asks whether the robot has been here, this asks whether it has done this here: a step that a familiar
//! action in a familiar state should not have caused is far from everything.
//!
//! Assumes: nominal behaviour returns to the transitions it was trained on.
//! Blind to: changes of the dynamics that are small against the gaps between nominal transitions, which grow with the
//! number of channels.
//! Cost: fit O(n log² n), score O(n (2d + a)) at worst, far less near nominal data.
//! Reference: kNN+ in Haider et al., AAMAS 2023.  Deviates: the change in place of the next observation, weighted.
//!
//! ```
//! use offnominal_core::detector::{Nominal, Signals};
//! use offnominal_core::transition::Transition;
//! use offnominal_core::Rng;
//! // The observation alternates between 0 and 1: deviation 1/2, changes ±1 of deviation 1; the action is constant.
//! let nominal = Signals::new(&[0.0, 1.0, 0.0, 1.0, 0.0, 1.0, 0.0, 1.0], &[0.0; 7], 1, 1);
//! let knn = offnominal_detectors::catalogue().build("knn-transition", &serde_json::json!({"k": 1, "weight": 3.0}));
//! let mut monitor = knn.unwrap().fit(Nominal::new(&[nominal], &[]), &mut Rng::new(0)).unwrap();
//! assert_eq!(monitor.score(&nominal.transition(2)), 0.0);
//! // From 0 to 1.5 instead of 1: the change is off by half, in units of the deviation of ±1 among four ups, three downs.
//! let score = monitor.score(&Transition { obs: &[0.0], action: &[0.0], next_obs: &[1.5] });
//! let deviation = (1.0_f64 - (1.0 / 7.0_f64).powi(2)).sqrt();
//! assert!((score - 3.0 * 0.5 / deviation).abs() < 1e-5);
//! ```

use crate::shared::nearest::{Nearest, Scratch};
use crate::shared::one_step::Units;
use crate::shared::prelude::*;
use crate::shared::ranges::{Positive, up_to};
use crate::shared::scale::Constant;
use offnominal_core::limits::POINTS;

recipe! {
    /// The recipe.
    pub struct KnnTransition {
        /// Rank of the neighbour.
        #[serde(deserialize_with = "up_to::<_, _, POINTS>")]
        pub k: NonZeroUsize = count(1),
        /// Weight of the change.
        pub weight: Positive = Positive::new(2.0),
    }
}

/// The entry of [`KnnTransition`].
pub const ENTRY: Entry<dyn Detector> = entry!(
    KnnTransition as dyn Detector,
    "knn-transition",
    "distance of observation, action and change to the k-th nearest nominal ones"
);

impl Detector for KnnTransition {
    fn fit(&self, Nominal { train, .. }: Nominal<'_>, _: &mut Rng) -> Result<Box<dyn Scorer>, FitError> {
        check(train, self.k.get())?;
        let (units, weight) = (Units::fit(train, Constant::Dropped), self.weight.get() as f32);
        let width = units.n_inputs() + units.n_targets();
        let mut y = vec![0.0; width];
        let mut points = Vec::new();
        for seen in train.iter().flat_map(|e| e.transitions()) {
            place(&units, weight, &seen, &mut y);
            points.extend_from_slice(&y);
        }
        let index = Nearest::new(width, points.len() / width, &points);
        Ok(Box::new(self.fitted(units, index)))
    }

    fn load(&self, from: &Reader<'_>, _: Option<&dyn Policy>) -> Result<Box<dyn Scorer>, ArchiveError> {
        let units = Units::load(&from.part("units"))?;
        let width = units.n_inputs() + units.n_targets();
        let index = Nearest::load(&from.part("nominal"), width, self.k.get())?;
        Ok(Box::new(self.fitted(units, index)))
    }
}

impl KnnTransition {
    fn fitted(&self, units: Units, index: Nearest) -> Fitted {
        let y = vec![0.0; units.n_inputs() + units.n_targets()];
        let (weight, scratch) = (self.weight.get() as f32, index.scratch(self.k.get()));
        Fitted { model: Arc::new((units, index)), weight, y, scratch }
    }
}

/// Writes the point y of a transition.
fn place(units: &Units, weight: f32, seen: &Transition<'_>, y: &mut [f32]) {
    let (input, change) = y.split_at_mut(units.n_inputs());
    units.input(seen, input);
    units.target(seen, change);
    change.iter_mut().for_each(|t| *t *= weight);
}

/// The points are shared by all forks; each has its own scratch.
#[derive(Clone)]
struct Fitted {
    model: Arc<(Units, Nearest)>,
    weight: f32,
    y: Vec<f32>,
    scratch: Scratch,
}

impl Scorer for Fitted {
    fn score(&mut self, seen: &Transition<'_>) -> f64 {
        let (units, index) = &*self.model;
        place(units, self.weight, seen, &mut self.y);
        f64::from(index.squared_distance(&self.y, &mut self.scratch)).sqrt()
    }

    fn save(&self, to: &mut Writer<'_>) -> Result<(), ArchiveError> {
        let (units, index) = &*self.model;
        units.save(&mut to.part("units"));
        index.save(&mut to.part("nominal"));
        Ok(())
    }
}
