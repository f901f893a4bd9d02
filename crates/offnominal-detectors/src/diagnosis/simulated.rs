//! Examples of faults, made of nominal transitions by rules that hold in any environment.
//!
//! | family      | what is done                                                                                      |
//! |-------------|---------------------------------------------------------------------------------------------------|
//! | observation | recorded observations are disturbed from the onset on; actions stay, though a policy would react |
//! | action      | the actions on record are changed, so that what was done is no longer what they say              |
//! | dynamics    | residuals get an error like those that the ensemble makes, which depends on state and action     |
//!
//! Each fault is as weak as can be noticed, or up to ten times stronger (an observation up to a hundred times). The
//! steps end at a random time after the onset, as those before an alarm do, and their beginning is estimated as it
//! will be.

use super::classifier::Examples;
use super::onset::{MOST, change_point, evidence};
use super::{Known, signature};
use crate::shared::residual::Residual;
use offnominal_core::Rng;
use offnominal_core::detector::Signals;
use offnominal_core::fit_progress::{FitProgress, Stopped};
use offnominal_core::transition::Transition;

/// Examples of each family.
const EACH: usize = 400;
/// Steps before the last one that are looked at.
const BACK: usize = 32;
/// The smallest evidence of a change by which a fault counts as noticed.
const NOTICED: f64 = 4.0;
/// How often a fault is made stronger until it is noticed.
const TRIALS: usize = 9;
/// Memory of a disturbance from step to step.
const MEMORY: f64 = 0.9;

/// A stretch of an episode: `rows + 1` observations and `rows` actions from step `first`, disturbed from row `onset` on.
struct Stretch {
    first: usize,
    obs: Vec<f32>,
    actions: Vec<f32>,
    rows: usize,
    onset: usize,
}

/// Standard deviation of each channel.
struct Spread {
    obs: Vec<f64>,
    actions: Vec<f64>,
}

/// How numbers are disturbed.
#[derive(Clone, Copy)]
enum Disturbance {
    Offset,
    Noise,
    MemoryNoise,
    Scaling,
    Drift,
    /// Numbers of so many steps before, or after.
    Delay(usize),
    Stuck,
}

/// Makes examples from episodes that the ensemble has not seen.
pub(super) fn examples(
    residual: &mut Residual,
    known: &Known,
    episodes: &[Signals<'_>],
    rng: &mut Rng,
    progress: FitProgress<'_>,
) -> Result<Examples, Stopped> {
    let episodes: Vec<&Signals<'_>> = episodes.iter().filter(|e| e.len() > 1).collect();
    let mut maker = Maker {
        spread: spread(&episodes),
        n_features: known.signature.n_features(),
        scratch: known.signature.scratch(),
        z: Vec::new(),
        inputs: Vec::new(),
        commands: Vec::new(),
        residual,
        known,
    };
    let mut examples = Examples { features: Vec::new(), families: Vec::new() };
    for i in 0..3 * EACH {
        progress.at(i, 3 * EACH)?;
        let family = i % 3;
        // What has no commands has no faults of them.
        if family == 1 && episodes.first().is_some_and(|e| e.act_width() == 0) {
            continue;
        }
        // Where no episode is long enough there is nothing to tell families apart by.
        let features = match episodes.len() {
            0 => vec![0.0; maker.n_features],
            n => maker.example(family, episodes[rng.below(n)], rng),
        };
        examples.features.extend(features);
        examples.families.push(family);
    }
    Ok(examples)
}

struct Maker<'a> {
    residual: &'a mut Residual,
    known: &'a Known,
    spread: Spread,
    n_features: usize,
    scratch: signature::Scratch,
    z: Vec<f64>,
    inputs: Vec<f32>,
    commands: Vec<f64>,
}

impl Maker<'_> {
    /// Features of one fault.
    fn example(&mut self, family: usize, episode: &Signals<'_>, rng: &mut Rng) -> Vec<f32> {
        let plain = cut(episode, rng);
        let (mut size, root) = (10.0_f64.powf(rng.range(-3.0, -1.0)), rng.bits());
        // Only a sensor can report anything.
        let most = if family == 0 { 2.0 } else { 1.0 };
        let beyond = if rng.uniform() < 0.5 { 1.0 } else { 10.0_f64.powf(rng.range(0.0, most)) };
        for trial in 0..TRIALS {
            if self.make(family, episode, &plain, size, &mut Rng::new(root)) > NOTICED || trial + 1 == TRIALS
            {
                break;
            }
            size *= 3.0;
        }
        self.make(family, episode, &plain, size * beyond, &mut Rng::new(root));
        let self_information = self.self_information(plain.first);
        let (first, d) = (change_point(&self_information), self.residual.width());
        let mut features = vec![0.0; self.n_features];
        let commands = &self.commands[first * self.residual.act_width()..];
        self.known.signature.of(&self.z[first * d..], commands, &mut features, &mut self.scratch);
        features
    }

    /// Fills the residuals of a disturbed stretch; returns the evidence that something changed at the onset.
    fn make(&mut self, family: usize, of: &Signals<'_>, plain: &Stretch, size: f64, rng: &mut Rng) -> f64 {
        let mut made = plain.clone_of();
        match family {
            0 => disturb_observations(&mut made, of.obs_width(), &self.spread.obs, size, rng),
            1 => disturb_commands(&mut made, of, &self.spread.actions, size, rng),
            _ => {}
        }
        self.residuals(&made, of.obs_width(), of.act_width());
        if family == 2 {
            self.disturb_residuals(made.onset, size, rng);
        }
        let after = &self.self_information(plain.first)[plain.onset..];
        let n = after.len() as f64;
        evidence(n, after.iter().map(|x| x.min(MOST)).sum::<f64>() / n)
    }

    fn residuals(&mut self, made: &Stretch, obs: usize, act: usize) {
        let d = self.residual.width();
        self.z.clear();
        self.inputs.clear();
        self.commands.clear();
        for row in 0..made.rows {
            let seen = Transition {
                obs: &made.obs[row * obs..(row + 1) * obs],
                action: &made.actions[row * act..(row + 1) * act],
                next_obs: &made.obs[(row + 1) * obs..(row + 2) * obs],
            };
            let from = self.z.len();
            self.z.resize(from + d, 0.0);
            self.residual.of(&seen, &mut self.z[from..]);
            self.inputs.extend_from_slice(self.residual.inputs());
            self.residual.commands(&mut self.commands);
        }
    }

    fn self_information(&mut self, first: usize) -> Vec<f64> {
        let d = self.residual.width();
        let rows = self.z.chunks_exact(d);
        let of = |(t, z): (usize, &[f64])| {
            self.known.self_information(first + t, self.scratch.length(&self.known.whitener, z))
        };
        rows.enumerate().map(of).collect()
    }

    /// Adds `size` times a coloured direction, or several, whose strength is constant or follows state and action.
    fn disturb_residuals(&mut self, onset: usize, size: f64, rng: &mut Rng) {
        let (d, n_inputs) = (self.residual.width(), self.residual.inputs().len());
        let forces = 1 + rng.below(2);
        for _ in 0..forces {
            let mut direction: Vec<f64> = (0..d).map(|_| rng.normal()).collect();
            self.known.whitener.colour(&mut direction);
            let constant = if rng.uniform() < 0.5 { rng.normal() } else { 0.0 };
            let follows = if constant == 0.0 || rng.uniform() < 0.3 { 1.0 } else { 0.0 };
            let few = rng.uniform() < 0.5;
            let gains: Vec<f64> = (0..n_inputs)
                .map(|_| if few && rng.uniform() < 0.8 { 0.0 } else { follows * rng.normal() })
                .collect();
            let rows = self.z.chunks_exact_mut(d).zip(self.inputs.chunks_exact(n_inputs)).skip(onset);
            for (z, input) in rows {
                let strength: f64 = gains.iter().zip(input).map(|(g, x)| g * f64::from(*x)).sum();
                let strength = size * 10.0 * (constant + strength);
                z.iter_mut().zip(&direction).for_each(|(z, e)| *z += strength * e);
            }
        }
    }
}

impl Stretch {
    fn clone_of(&self) -> Stretch {
        Stretch { obs: self.obs.clone(), actions: self.actions.clone(), ..*self }
    }
}

/// Steps around a random onset, up to a random delay after it.
fn cut(episode: &Signals<'_>, rng: &mut Rng) -> Stretch {
    let (n, obs, act) = (episode.len(), episode.obs_width(), episode.act_width());
    let onset = rng.below(n);
    let last = (onset + (1 << rng.below(7)) - 1).min(n - 1);
    let first = last.saturating_sub(BACK).min(onset);
    Stretch {
        first,
        obs: episode.observations()[first * obs..(last + 2) * obs].to_vec(),
        actions: episode.actions()[first * act..(last + 1) * act].to_vec(),
        rows: last + 1 - first,
        onset: onset - first,
    }
}

fn spread(episodes: &[&Signals<'_>]) -> Spread {
    let of = |rows: &dyn Fn(&Signals<'_>) -> (Vec<f32>, usize)| {
        let all: Vec<(Vec<f32>, usize)> = episodes.iter().map(|e| rows(e)).collect();
        let width = all.first().map_or(0, |(_, width)| *width);
        (0..width).map(|c| deviation(all.iter().flat_map(|(v, w)| v.iter().skip(c).step_by(*w)))).collect()
    };
    Spread {
        obs: of(&|e| (e.observations().to_vec(), e.obs_width())),
        actions: of(&|e| (e.actions().to_vec(), e.act_width())),
    }
}

fn deviation<'a>(values: impl Iterator<Item = &'a f32>) -> f64 {
    let (mut n, mut sum, mut squares) = (0.0, 0.0, 0.0);
    for &v in values {
        (n, sum, squares) = (n + 1.0, sum + f64::from(v), squares + f64::from(v).powi(2));
    }
    (squares / n - (sum / n) * (sum / n)).max(0.0).sqrt()
}

/// How much each channel is disturbed: none, one, some or all of them, by their own deviations or all by the same.
fn sizes(spread: &[f64], size: f64, rng: &mut Rng) -> Vec<f64> {
    let (mean, alike) = (spread.iter().sum::<f64>() / spread.len() as f64, rng.uniform() < 0.5);
    let (which, only) = (rng.uniform(), rng.below(spread.len()));
    let mut chosen = |c: usize| which < 0.5 || c == only || which > 0.8 && rng.uniform() < 0.5;
    let of = |(c, s): (usize, &f64)| if chosen(c) { size * if alike { mean } else { *s } } else { 0.0 };
    spread.iter().enumerate().map(of).collect()
}

fn drawn(kinds: &[Disturbance], rng: &mut Rng) -> Disturbance {
    match kinds[rng.below(kinds.len())] {
        Disturbance::Delay(_) => Disturbance::Delay(1 + rng.below(4)),
        other => other,
    }
}

fn disturb_observations(made: &mut Stretch, width: usize, spread: &[f64], size: f64, rng: &mut Rng) {
    const KINDS: [Disturbance; 7] = [
        Disturbance::Offset,
        Disturbance::Noise,
        Disturbance::MemoryNoise,
        Disturbance::Scaling,
        Disturbance::Drift,
        Disturbance::Delay(1),
        Disturbance::Stuck,
    ];
    let (kind, before) = (drawn(&KINDS, rng), made.obs.clone());
    let mut source = Source::new(sizes(spread, size, rng), rng);
    for row in made.onset + 1..=made.rows {
        let from = match kind {
            Disturbance::Delay(steps) => row.saturating_sub(steps),
            Disturbance::Stuck => made.onset,
            _ => row,
        };
        source.advance(kind, row - made.onset, rng);
        for c in (0..width).filter(|&c| source.size[c] > 0.0) {
            made.obs[row * width + c] = source.applied(kind, c, before[from * width + c]);
        }
    }
}

/// Writes on record what, disturbed, would have been the action that was done.
fn disturb_commands(made: &mut Stretch, of: &Signals<'_>, spread: &[f64], size: f64, rng: &mut Rng) {
    const KINDS: [Disturbance; 6] = [
        Disturbance::Offset,
        Disturbance::Noise,
        Disturbance::MemoryNoise,
        Disturbance::Scaling,
        Disturbance::Drift,
        Disturbance::Delay(1),
    ];
    let (kind, before, width) = (drawn(&KINDS, rng), made.actions.clone(), of.act_width());
    let mut source = Source::new(sizes(spread, size, rng), rng);
    for row in made.onset..made.rows {
        let from = if let Disturbance::Delay(steps) = kind { (row + steps).min(made.rows - 1) } else { row };
        source.advance(kind, row + 1 - made.onset, rng);
        for c in (0..width).filter(|&c| source.size[c] > 0.0) {
            made.actions[row * width + c] = source.undone(kind, c, before[from * width + c]);
        }
    }
}

/// A disturbance in progress.
struct Source {
    size: Vec<f64>,
    sign: f64,
    value: Vec<f64>,
}

impl Source {
    fn new(size: Vec<f64>, rng: &mut Rng) -> Source {
        let sign = if rng.uniform() < 0.5 { -1.0 } else { 1.0 };
        Source { value: vec![0.0; size.len()], size, sign }
    }

    /// The disturbance after so many steps.
    fn advance(&mut self, kind: Disturbance, age: usize, rng: &mut Rng) {
        for (value, size) in self.value.iter_mut().zip(&self.size) {
            *value = match kind {
                Disturbance::Noise => size * rng.normal(),
                Disturbance::MemoryNoise => MEMORY * *value + size * rng.normal(),
                Disturbance::Drift => self.sign * size * age as f64 / 10.0,
                _ => self.sign * size,
            };
        }
    }

    fn factor(&self, c: usize) -> f64 {
        (1.0 + self.value[c]).max(0.05)
    }

    fn applied(&self, kind: Disturbance, c: usize, v: f32) -> f32 {
        match kind {
            Disturbance::Scaling => (f64::from(v) * self.factor(c)) as f32,
            Disturbance::Delay(_) | Disturbance::Stuck => v,
            _ => v + self.value[c] as f32,
        }
    }

    fn undone(&self, kind: Disturbance, c: usize, v: f32) -> f32 {
        match kind {
            Disturbance::Scaling => (f64::from(v) / self.factor(c)) as f32,
            Disturbance::Delay(_) | Disturbance::Stuck => v,
            _ => v - self.value[c] as f32,
        }
    }
}
