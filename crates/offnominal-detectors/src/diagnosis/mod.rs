//! What is wrong, once an alarm is on: which channels deviate, which kind of fault it looks like, and since when.
//!
//! A [`Diagnoser`] remembers the last [`HISTORY`] transitions and looks at them when it is asked to, with an ensemble
//! that predicts each step (that of `ensemble-dm`). Its residuals z, in nominal standard deviations, answer all three:
//!
//! | question  | answer                                                                                              |
//! |-----------|-----------------------------------------------------------------------------------------------------|
//! | since when | the maximum-likelihood change point of the surprises at the residuals' length, against what is usual at that time of an episode |
//! | where      | channels by the root mean square of z since then                                                   |
//! | what       | a small network on features of z since then: which channels carry it, whether a changed action would explain it, whether the next step takes it back |
//!
//! The network learns from perturbed nominal transitions that were held out from the ensemble; no anomaly of any
//! benchmark is used. A disturbed observation appears in the residual into it and, taken back, in the one out of it.
//! A disturbed action moves a step where another action would have moved it. A changed environment makes errors of the
//! kind that the ensemble makes anyway, only larger.
//!
//! Assumes: one fault at a time; the fault shows in single steps.
//! Blind to: what the ensemble is blind to. A force that acts like an action, or a goal that moves, is taken for what it
//! looks like.
//! Cost: fit, that of `ensemble-dm` and a second more; nothing but a copy per step; a diagnosis one prediction per
//! remembered step.
//! Reference: change point, Page, Biometrika 1954, for exponential surprises; the rest is ours.

mod classifier;
mod onset;
mod signature;
mod simulated;

use crate::shared::inner::split;
use crate::shared::marginal::Marginal;
use crate::shared::prelude::*;
use crate::shared::ranges::Hidden;
use crate::shared::residual::Residual;
use crate::shared::saved;
use crate::shared::surprise::Surprise;
use crate::shared::training::Training;
use crate::shared::whiten::Whitener;
use classifier::Classifier;
use onset::Usual;
use signature::Signature;

/// The most steps that are looked back.
pub const HISTORY: usize = 128;
/// The largest size that is told: what is further off is a channel that hardly moved in training, so that its nominal
/// deviation is close to nothing and says only that it should not move.
pub const LARGEST: f64 = 1000.0;
/// Members of the ensemble, each fitted without its own share of the episodes.
const MEMBERS: NonZeroUsize = count(3);

/// Where a fault lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Family {
    /// What the policy reads is not what is.
    Observation,
    /// What is done is not what the policy actions.
    Action,
    /// The environment answers otherwise.
    Dynamics,
}

impl Family {
    /// All families, in the order of probabilities.
    pub const ALL: [Family; 3] = [Family::Observation, Family::Action, Family::Dynamics];

    /// Name in results.
    pub fn id(self) -> &'static str {
        match self {
            Family::Observation => "observation",
            Family::Action => "action",
            Family::Dynamics => "dynamics",
        }
    }
}

/// What is thought to be wrong.
#[derive(Debug, Clone, PartialEq)]
pub struct Diagnosis {
    /// The kind of fault that it looks like most.
    pub family: Family,
    /// Probability of each of [`Family::ALL`], as far as simulated faults tell.
    pub probabilities: [f64; 3],
    /// How many steps before the last one it began; at most [`HISTORY`] − 1.
    pub steps_ago: usize,
    /// Channels that vary, most deviant first.
    pub channels: Vec<Deviation>,
}

/// How far a channel is off.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Deviation {
    /// Which number of the observation.
    pub channel: usize,
    /// Root mean square of the residuals since the onset, in nominal standard deviations; near one if nothing is wrong, and
    /// at most [`LARGEST`].
    pub size: f64,
    /// Their mean.
    pub bias: f64,
}

/// What is known of nominal residuals.
struct Known {
    whitener: Whitener,
    surprise: Surprise,
    usual: Usual,
    signature: Signature,
}

impl Known {
    /// The surprise at residuals of a length, in units of what is usual that many steps after the first.
    fn surprise(&self, step: usize, length: f64) -> f64 {
        self.usual.relative(step, self.surprise.of(length))
    }
}

/// Remembers the last steps of an episode, and says what is wrong with them. Forks share what was learned.
#[derive(Clone)]
pub struct Diagnoser {
    residual: Residual,
    known: Arc<Known>,
    classifier: Arc<Classifier>,
    widths: [usize; 2],
    /// The last transitions, `[HISTORY, obs + action + obs]`, overwritten in turn.
    ring: Vec<f32>,
    /// What of them was not read, `[HISTORY, obs + obs]`.
    missing: Vec<bool>,
    /// Steps since `reset`.
    n: usize,
    work: Work,
    diagnosis: Diagnosis,
}

/// Residuals of remembered steps, oldest first, with the actions in standard units.
#[derive(Clone)]
struct Work {
    z: Vec<f64>,
    commands: Vec<f64>,
    surprises: Vec<f64>,
    features: Vec<f32>,
    marginal: Marginal,
    scratch: signature::Scratch,
    answer: classifier::Scratch,
}

impl Diagnoser {
    /// Learns what nominal steps look like, and what simulated faults make of them.
    ///
    /// # Errors
    /// As the fit of a detector.
    pub fn fit(
        train: &[Signals<'_>],
        rng: &mut Rng,
        progress: FitProgress<'_>,
    ) -> Result<Diagnoser, FitError> {
        check(train, 1)?;
        let (seen, held_out) = split(train);
        let nominal = Nominal::new(&seen, &[]).with_progress(progress.between(0.0, 0.4));
        let (mut residual, of_members) =
            Residual::fit(nominal, &Hidden::small(), MEMBERS, &Training::brief(), rng)?;
        let d = residual.width();
        let whitener = Whitener::fit(of_members.iter().flat_map(|e| e.chunks_exact(d)), d);
        let signature = Signature::new(&residual, &whitener).expect("moments of sound episodes are sound");
        let lengths = lengths(&mut residual, &whitener, &held_out);
        let surprise = Surprise::of_nominal(lengths.concat());
        let of_episode = |e: &Vec<f64>| e.iter().map(|&length| surprise.of(length)).collect();
        let usual = Usual::of(&lengths.iter().map(of_episode).collect::<Vec<_>>());
        let known = Known { whitener, surprise, usual, signature };
        let examples =
            simulated::examples(&mut residual, &known, &held_out, rng, progress.between(0.4, 0.8))?;
        let classifier = Classifier::fit(&examples, rng, progress.between(0.8, 1.0))?;
        Ok(Diagnoser::new(residual, known, classifier, [train[0].obs_width(), train[0].act_width()]))
    }

    fn new(residual: Residual, known: Known, classifier: Classifier, widths: [usize; 2]) -> Diagnoser {
        let d = residual.width();
        let blank = Deviation { channel: 0, size: 1.0, bias: 0.0 };
        let room = |n: usize| Vec::with_capacity(HISTORY * n);
        let work = Work {
            z: room(d),
            commands: room(residual.act_width()),
            surprises: room(1),
            features: vec![0.0; known.signature.n_features()],
            marginal: Marginal::new(d),
            scratch: known.signature.scratch(),
            answer: classifier.scratch(),
        };
        Diagnoser {
            ring: vec![0.0; HISTORY * (2 * widths[0] + widths[1])],
            missing: vec![false; HISTORY * 2 * widths[0]],
            widths,
            n: 0,
            work,
            diagnosis: Diagnosis {
                family: Family::Observation,
                probabilities: [1.0 / 3.0; 3],
                steps_ago: 0,
                channels: vec![blank; residual.channels().len()],
            },
            residual,
            known: Arc::new(known),
            classifier: Arc::new(classifier),
        }
    }

    /// An episode begins.
    pub fn reset(&mut self) {
        self.n = 0;
    }

    /// One step more, with gaps that were filled.
    pub fn observe_partial(&mut self, step: &Partial<'_>) {
        let (obs, place) = (self.widths[0], self.n % HISTORY);
        self.observe(&step.seen);
        let (before, after) = self.missing[place * 2 * obs..][..2 * obs].split_at_mut(obs);
        before.copy_from_slice(step.missing_before);
        after.copy_from_slice(step.missing_after);
    }

    /// One step more.
    pub fn observe(&mut self, seen: &Transition<'_>) {
        let ([obs, act], place) = (self.widths, self.n % HISTORY);
        let len = 2 * obs + act;
        self.missing[place * 2 * obs..][..2 * obs].fill(false);
        let row = &mut self.ring[place * len..][..len];
        row[..obs].copy_from_slice(seen.obs);
        row[obs..obs + act].copy_from_slice(seen.action);
        row[obs + act..].copy_from_slice(seen.next_obs);
        self.n += 1;
    }

    /// What is wrong, judging from the steps since `reset`. It does not allocate.
    ///
    /// # Panics
    /// If there was no step.
    pub fn diagnose(&mut self) -> &Diagnosis {
        assert!(self.n > 0, "a diagnosis needs a step");
        self.look_back();
        let work = &mut self.work;
        let d = self.residual.width();
        let first = onset::change_point(&work.surprises);
        let (z, commands) = (&work.z[first * d..], &work.commands[first * self.residual.act_width()..]);
        self.known.signature.of(z, commands, &mut work.features, &mut work.scratch);
        self.diagnosis.probabilities = self.classifier.probabilities(&work.features, &mut work.answer);
        let p = self.diagnosis.probabilities;
        let most = (0..3).max_by(|&a, &b| p[a].total_cmp(&p[b])).unwrap_or(0);
        self.diagnosis.family = Family::ALL[most];
        self.diagnosis.steps_ago = work.surprises.len() - 1 - first;
        rank(&mut self.diagnosis.channels, self.residual.channels(), z, &self.known.whitener.deviations);
        &self.diagnosis
    }

    /// Residuals, actions and surprises of what is remembered.
    fn look_back(&mut self) {
        let Diagnoser { residual, known, widths: [obs, act], ring, missing, n, work, .. } = self;
        let (len, d) = (2 * *obs + *act, residual.width());
        work.z.clear();
        work.commands.clear();
        work.surprises.clear();
        for step in n.saturating_sub(HISTORY)..*n {
            let row = &ring[step % HISTORY * len..][..len];
            let (before, rest) = row.split_at(*obs);
            let (action, after) = rest.split_at(*act);
            let seen = Transition { obs: before, action, next_obs: after };
            let (missing_before, missing_after) =
                missing[step % HISTORY * 2 * *obs..][..2 * *obs].split_at(*obs);
            let partial = Partial { seen, missing_before, missing_after };
            let from = work.z.len();
            work.z.resize(from + d, 0.0);
            residual.of_partial(&partial, &known.whitener, &mut work.marginal, &mut work.z[from..]);
            residual.commands(&mut work.commands);
            let length = work.scratch.length(&known.whitener, &work.z[from..]);
            work.surprises.push(known.surprise(step, work.marginal.rescaled(length)));
        }
    }

    /// Writes what was learned.
    pub fn save(&self, to: &mut Writer<'_>) {
        self.residual.save(&mut to.part("ensemble"));
        self.known.whitener.save(&mut to.part("nominal"));
        self.known.surprise.save(&mut to.part("length"));
        self.known.usual.save(&mut to.part("usual"));
        self.classifier.save(&mut to.part("classifier"));
    }

    /// Reads what was learned.
    ///
    /// # Errors
    /// If a list is missing or is not what is written.
    pub fn load(from: &Reader<'_>) -> Result<Diagnoser, ArchiveError> {
        let residual = Residual::load(&from.part("ensemble"), &Hidden::small(), MEMBERS)?;
        saved::within(from, "channels", residual.width())?;
        let whitener = Whitener::load(&from.part("nominal"), residual.width())?;
        let made = Signature::new(&residual, &whitener);
        from.require(made.is_some(), "ensemble", "effects that can be solved for", "others")?;
        let signature = made.expect("it was checked");
        let classifier = Classifier::load(&from.part("classifier"), signature.n_features())?;
        let surprise = Surprise::load(&from.part("length"))?;
        let usual = Usual::load(&from.part("usual"))?;
        let known = Known { whitener, surprise, usual, signature };
        Ok(Diagnoser::new(residual, known, classifier, [from.obs_width, from.act_width]))
    }
}

/// Squared lengths of whitened residuals of every step, episode by episode.
fn lengths(residual: &mut Residual, whitener: &Whitener, episodes: &[Signals<'_>]) -> Vec<Vec<f64>> {
    let mut z = vec![0.0; residual.width()];
    let mut length = |seen: Transition<'_>| {
        residual.of(&seen, &mut z);
        whitener.mean_square(&mut z)
    };
    episodes.iter().map(|e| e.transitions().map(&mut length).collect()).collect()
}

/// Fills the deviations of the channels, most deviant first.
fn rank(out: &mut [Deviation], channels: &[usize], z: &[f64], deviations: &[f64]) {
    let (d, n) = (deviations.len(), (z.len() / deviations.len()) as f64);
    for (j, (deviation, &channel)) in out.iter_mut().zip(channels).enumerate() {
        let column = || z.iter().skip(j).step_by(d).map(|z| z / deviations[j]);
        let size = (column().map(|w| w * w).sum::<f64>() / n).sqrt();
        *deviation = Deviation { channel, size, bias: column().sum::<f64>() / n };
    }
    out.sort_unstable_by(|a, b| b.size.total_cmp(&a.size).then(a.channel.cmp(&b.channel)));
    for Deviation { size, bias, .. } in out {
        (*size, *bias) = (size.min(LARGEST), bias.clamp(-LARGEST, LARGEST));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_channel_that_never_moved_is_first_with_a_size_that_can_be_read() {
        let mut found = [Deviation { channel: 0, size: 0.0, bias: 0.0 }; 2];
        rank(&mut found, &[3, 5], &[3.0, -4e5, 4.0, -4e5], &[1.0, 1e-3]);
        assert_eq!((found[0].channel, found[0].size, found[0].bias), (5, LARGEST, -LARGEST));
        assert_eq!((found[1].channel, found[1].bias), (3, 3.5));
    }
}
