//! Patch-level latent dynamics: how each patch changes, given its surroundings, where they moved from, and the action.
//!
//! x_p = (z(t), z(t) − z(t−1)) over the 3 × 3 patches around p, a(t), and the place of p; a network shared by all
//! patches predicts a normal distribution of z_p(t+1) − z_p(t). With its mean μ and variance σ²,
//! e_p = mean_j (Δ_j − μ_j)² / (σ_j² + ε²) / c_p, and q = ln mean of the largest n of e_p; score = the largest of q and
//! its running means over about three and thirty steps, each in units of held-out nominal steps.
//!
//! | symbol | meaning                                                                          |
//! |--------|----------------------------------------------------------------------------------|
//! | z_p    | features of patch p, in nominal units, of a frozen encoder                        |
//! | c_p    | mean e_p of held-out nominal steps at that place, shrunk to that of all places    |
//! | n      | `strongest`, three of 256 patches: about the largest per cent                     |
//!
//! Assumes: a camera that stands still or moves smoothly; changes that reach no farther than a patch in a step.
//! Blind to: what a patch looks like as long as it changes as it should.
//! Cost: fit O(epochs · rows · parameters) on `rows` sampled patches, score O(patches · parameters), about 2 ms.
//! Reference: this project's; Anomaly-Gym finds that history and actions, not larger encoders, are what detectors of
//! images lack.

use super::encoding::{EncodedVideo, FrameEncoder, FrameTriple, Grid, Split};
use super::memory::Scales;
use super::monitor::{Fitted, FrameStatistic};
use super::regression::{Regression, energy, log_energy};
use crate::shared::prelude::*;
use crate::shared::ranges::up_to;
use crate::shared::training::Training;
use offnominal_core::image_detector::check_videos;
use offnominal_core::limits::POINTS;
use offnominal_nets::Standardiser;
use offnominal_nets::vision::Backbone;

/// A change of features, squared and summed, above which a patch counts as active.
const ACTIVE: f32 = 1e-2;
/// How many steps the mean over all places weighs in the mean at one.
const SHRINKAGE: f64 = 50.0;

recipe! {
    /// What can be chosen of the model.
    pub struct DynamicsShape {
        /// Patches that the network is trained on; half of them where something moves, as far as there are such.
        #[serde(deserialize_with = "up_to::<_, _, POINTS>")]
        pub rows: NonZeroUsize = count(40_000),
        /// Patches whose residuals count.
        #[serde(deserialize_with = "up_to::<_, _, POINTS>")]
        pub strongest: NonZeroUsize = count(3),
        /// How the network is trained.
        pub training: Training = Training { epochs: count(30), ..Training::brief() },
    }
}

/// The recipe.
pub struct PatchDynamics {
    /// Whose features they are.
    pub backbone: Arc<dyn Backbone>,
    /// The model.
    pub shape: DynamicsShape,
}

impl ImageDetector for PatchDynamics {
    fn fit(
        &self,
        train: &[Video],
        _: &[Video],
        rng: &mut Rng,
        progress: FitProgress<'_>,
    ) -> Result<Box<dyn ImageScorer>, FitError> {
        check_videos(train, 2)?;
        let mut encoder = FrameEncoder::fit(&self.backbone, train, rng, progress.between(0.0, 0.1))?;
        let videos = Split::of(&mut encoder, train, progress.between(0.1, 0.4))?;
        let progress = progress.between(0.4, 1.0);
        let mut model = Dynamics::fit(&self.shape, encoder.grid(), &videos, rng, progress)?;
        let of = |video: &EncodedVideo, model: &mut Dynamics| {
            (0..video.len()).map(|t| model.statistic(video.step(t), video.action(t))).collect::<Vec<f64>>()
        };
        let scales =
            Scales::fit(&videos.nominal().iter().map(|video| of(video, &mut model)).collect::<Vec<_>>());
        Ok(Box::new(Fitted::new(encoder, model, scales)))
    }
}

/// The fitted model; it remembers the last step for those who ask where.
#[derive(Clone)]
pub(super) struct Dynamics {
    grid: Grid,
    strongest: usize,
    commands: Standardiser,
    net: Regression,
    /// Unit of change of each number of a patch.
    units: Vec<f32>,
    /// Mean energy at each place.
    usual: Vec<f32>,
    inputs: Vec<f32>,
    /// Energies of the last step.
    pub energies: Vec<f32>,
    /// The patches that were expected after it.
    pub expected: Vec<f32>,
}

/// A patch of a step of a video.
#[derive(Debug, Clone, Copy)]
struct Place {
    video: usize,
    t: usize,
    patch: usize,
}

impl Dynamics {
    pub fn fit(
        shape: &DynamicsShape,
        grid: Grid,
        videos: &Split,
        rng: &mut Rng,
        progress: FitProgress<'_>,
    ) -> Result<Dynamics, FitError> {
        let seen = &*videos.seen;
        let actions: Vec<f32> = seen.iter().flat_map(|f| f.actions.iter().copied()).collect();
        let commands = Standardiser::fit(&actions, seen[0].act_width);
        let places = chosen(seen, grid, shape.rows.get(), rng);
        let units = units(seen, grid, &places);
        let (mut inputs, mut targets) = (Vec::new(), Vec::new());
        for place in &places {
            let video = &seen[place.video];
            let [before, now, next] = video.step(place.t).map(|frame| &*frame.patches);
            input(grid, [before, now], place.patch, &mut inputs);
            command(grid, &commands, video.action(place.t), place.patch, &mut inputs);
            targets.extend(change(grid, now, next, place.patch, &units));
        }
        let sizes = [inputs.len() / places.len(), 96, 64, 2 * grid.width];
        let n = grid.rows * grid.columns;
        let net = Regression::fit([inputs, targets], &sizes, (&shape.training, n), rng, progress)?;
        let mut model = Dynamics {
            grid,
            strongest: shape.strongest.get(),
            commands,
            net,
            units,
            usual: vec![1.0; n],
            inputs: Vec::new(),
            energies: vec![0.0; n],
            expected: Vec::new(),
        };
        model.usual = model.usual(videos.nominal());
        Ok(model)
    }

    /// Mean energy at each place over nominal steps, shrunk to that over all places.
    fn usual(&mut self, videos: &[EncodedVideo]) -> Vec<f32> {
        let (mut sums, mut n) = (vec![0.0_f64; self.energies.len()], 0.0);
        for video in videos {
            for t in 0..video.len() {
                self.statistic(video.step(t), video.action(t));
                sums.iter_mut().zip(&self.energies).for_each(|(s, &e)| *s += f64::from(e));
                n += 1.0;
            }
        }
        let all = sums.iter().sum::<f64>() / (n * sums.len() as f64);
        let mean = |sum: &f64| ((sum + SHRINKAGE * all) / (n + SHRINKAGE)).max(1e-6) as f32;
        sums.iter().map(mean).collect()
    }
}

impl FrameStatistic for Dynamics {
    /// ln mean of the largest energies of a step.
    fn statistic(&mut self, frames: FrameTriple<'_>, action: &[f32]) -> f64 {
        let [before, now, next] = frames.map(|frame| &*frame.patches);
        let (grid, d) = (self.grid, self.net.d());
        self.inputs.clear();
        for patch in 0..self.energies.len() {
            input(grid, [before, now], patch, &mut self.inputs);
            command(grid, &self.commands, action, patch, &mut self.inputs);
        }
        let predictions = self.net.predict(&self.inputs);
        self.expected.clear();
        for (patch, prediction) in predictions.chunks_exact(2 * d).enumerate() {
            let target: Vec<f32> = change(grid, now, next, patch, &self.units).collect();
            self.energies[patch] = energy(prediction, &target) / self.usual[patch];
            let old = &now[patch * d..(patch + 1) * d];
            let moved = old.iter().zip(prediction).zip(&self.units).map(|((z, m), unit)| z + m * unit);
            self.expected.extend(moved);
        }
        let mut largest = self.energies.clone();
        largest.sort_unstable_by(|a, b| b.total_cmp(a));
        let n = self.strongest.min(largest.len());
        let mean = largest[..n].iter().map(|&e| f64::from(e)).sum::<f64>() / n as f64;
        log_energy(mean)
    }

    fn heat(&self) -> Heat {
        let values = self.energies.iter().map(|e| e.max(1e-12).sqrt()).collect();
        Heat::new(self.grid.rows, self.grid.columns, values)
    }

    fn expected(&self) -> &[f32] {
        &self.expected
    }
}

/// Appends what is around a patch, and how it changed.
fn input(grid: Grid, [before, now]: [&[f32]; 2], patch: usize, out: &mut Vec<f32>) {
    let (row, column, w) = (patch / grid.columns, patch % grid.columns, grid.width);
    let near = |at: usize, offset: usize, n: usize| (at + offset).saturating_sub(1).min(n - 1);
    for around in 0..9 {
        let at = near(row, around / 3, grid.rows) * grid.columns + near(column, around % 3, grid.columns);
        let (new, old) = (&now[at * w..(at + 1) * w], &before[at * w..(at + 1) * w]);
        out.extend_from_slice(new);
        out.extend(new.iter().zip(old).map(|(n, o)| n - o));
    }
}

/// Appends the action and the place.
fn command(grid: Grid, scale: &Standardiser, action: &[f32], patch: usize, out: &mut Vec<f32>) {
    let from = out.len();
    out.resize(from + scale.outputs(), 0.0);
    scale.apply(action, &mut out[from..]);
    let middle = |at: usize, n: usize| 2.0 * at as f32 / (n.max(2) - 1) as f32 - 1.0;
    out.push(middle(patch / grid.columns, grid.rows));
    out.push(middle(patch % grid.columns, grid.columns));
}

/// The change of a patch in units.
fn change<'a>(
    grid: Grid,
    now: &'a [f32],
    next: &'a [f32],
    patch: usize,
    units: &'a [f32],
) -> impl Iterator<Item = f32> + 'a {
    let at = patch * grid.width..(patch + 1) * grid.width;
    next[at.clone()].iter().zip(&now[at]).zip(units).map(|((n, o), unit)| (n - o) / unit)
}

/// Root mean square of the change of each number over the places.
fn units(videos: &[EncodedVideo], grid: Grid, places: &[Place]) -> Vec<f32> {
    let (ones, mut sums) = (vec![1.0; grid.width], vec![0.0_f64; grid.width]);
    for place in places {
        let [_, now, next] = videos[place.video].step(place.t).map(|frame| &*frame.patches);
        let changes = change(grid, now, next, place.patch, &ones);
        sums.iter_mut().zip(changes).for_each(|(s, c)| *s += f64::from(c).powi(2));
    }
    sums.iter().map(|s| (s / places.len() as f64).sqrt().max(1e-3) as f32).collect()
}

/// Places to learn from: up to half of them where something changes, the rest anywhere.
fn chosen(videos: &[EncodedVideo], grid: Grid, n: usize, rng: &mut Rng) -> Vec<Place> {
    let (mut active, mut calm) = (Vec::new(), Vec::new());
    for (i, video) in videos.iter().enumerate() {
        for t in 0..video.len() {
            let moves = moving(grid, video.step(t));
            for (patch, moves) in moves.into_iter().enumerate() {
                let place = Place { video: i, t, patch };
                if moves { active.push(place) } else { calm.push(place) }
            }
        }
    }
    rng.shuffle(&mut active);
    rng.shuffle(&mut calm);
    active.truncate(n.div_ceil(2).max(n.saturating_sub(calm.len())));
    calm.truncate(n.saturating_sub(active.len()));
    active.extend(calm);
    active
}

/// Whether a patch or one beside it changes.
fn moving(grid: Grid, frames: FrameTriple<'_>) -> Vec<bool> {
    let [before, now, next] = frames.map(|frame| &*frame.patches);
    let w = grid.width;
    let changed = |a: &[f32], b: &[f32], p: usize| {
        let pairs = a[p * w..(p + 1) * w].iter().zip(&b[p * w..(p + 1) * w]);
        pairs.map(|(x, y)| (x - y).powi(2)).sum::<f32>() > ACTIVE
    };
    let n = grid.rows * grid.columns;
    let own: Vec<bool> = (0..n).map(|p| changed(before, now, p) || changed(now, next, p)).collect();
    let near = |p: usize| {
        let (r, c) = (p / grid.columns, p % grid.columns);
        let rows = r.saturating_sub(1)..(r + 2).min(grid.rows);
        rows.flat_map(move |r| (c.saturating_sub(1)..(c + 2).min(grid.columns)).map(move |c| (r, c)))
    };
    (0..n).map(|p| near(p).any(|(r, c)| own[r * grid.columns + c])).collect()
}
