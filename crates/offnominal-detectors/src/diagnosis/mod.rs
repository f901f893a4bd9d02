//! What is wrong, once an alarm is on: which channels deviate, which kind of fault it looks like, and since when.
//!
//! A [`Diagnoser`] remembers the last [`HISTORY`] transitions and looks at them when it is asked to, with an ensemble
//! that predicts each step (that of `ensemble-dm`). Its residuals z, in nominal standard deviations, answer all three:
//!
//! | question  | answer                                                                                              |
//! |-----------|-----------------------------------------------------------------------------------------------------|
//! | since when | the maximum-likelihood change point of the self-information at the residuals' length, against what is usual at that time of an episode |
//! | where      | channels by the root mean square of z since then                                                   |
//! | what       | a small network on features of z since then: which channels carry it, whether a changed action would explain it, whether the next step takes it back |
//!
//! The network learns from perturbed nominal transitions that were held out from the ensemble; no anomaly of any
//! benchmark is used. A disturbed observation appears in the residual into it and, taken back, in the one out of it.
//! A disturbed action moves a step where another action would have moved it. A changed environment makes errors of the
//! kind that the ensemble makes anyway, only larger.
//!
//! Without actions that vary nothing tells these from one another, and the kind is unknown, unless faults were taught.
//!
//! Assumes: one fault at a time; the fault shows in single steps.
//! Blind to: what the ensemble is blind to. A force that acts like an action, or a goal that moves, is taken for what it
//! looks like.
//! Cost: fit, that of `ensemble-dm` and a second more; nothing but a copy per step; a diagnosis one prediction per
//! remembered step.
//! Reference: change point, Page, Biometrika 1954, for exponential self-information; the rest is ours.

mod answer;
mod classifier;
mod memory;
mod onset;
mod response;
mod signature;
mod simulated;
mod taught;
mod trees;

use crate::shared::inner::Fold;
use crate::shared::prelude::*;
use crate::shared::ranges::Hidden;
use crate::shared::residual::Residual;
use crate::shared::saved;
use crate::shared::self_information::SelfInformation;
use crate::shared::training::Training;
use crate::shared::whiten::Whitener;
use answer::rank;
pub use answer::{Deviation, Diagnosis, Direction, Family, Hypothesis, LARGEST, Suspect};
use classifier::Classifier;
use memory::{Memory, ResidualHistory};
use offnominal_core::fit_progress::Stopped;
use onset::Usual;
use response::Response;
use signature::Signature;
pub use taught::{AFTER, Fault};
use taught::{Example, Taught};
use trees::{Label, Vote};

/// The most steps that are looked back.
pub const HISTORY: usize = 128;
/// Members of the ensemble, each fitted without its own share of the episodes.
const MEMBERS: NonZeroUsize = count(3);
/// Probabilities of families of which nothing is known.
const EQUAL: [f64; 3] = [1.0 / 3.0; 3];

/// What is known of nominal residuals.
struct Known {
    whitener: Whitener,
    self_information: SelfInformation,
    usual: Usual,
    signature: Signature,
    response: Response,
}

impl Known {
    /// The self-information at residuals of a length, in units of what is usual that many steps after the first.
    fn self_information(&self, step: usize, length: f64) -> f64 {
        self.usual.relative(step, self.self_information.of(length))
    }

    /// Features of named faults: those of the signature and the response, and the steps since the alarm.
    fn n_features(&self) -> usize {
        self.signature.n_features() + self.response.n_features() + 1
    }
}

/// Remembers the last steps of an episode, and says what is wrong with them. Forks share what was learned.
#[derive(Clone)]
pub struct Diagnoser {
    residual: Residual,
    known: Arc<Known>,
    classifier: Arc<Classifier>,
    taught: Option<Arc<Taught>>,
    memory: Memory,
    seen: ResidualHistory,
    features: Vec<f32>,
    answer: classifier::Scratch,
    votes: Vec<Vote>,
    diagnosis: Diagnosis,
}

impl Diagnoser {
    /// Learns what nominal steps look like, and what rules for faults make of them.
    ///
    /// # Errors
    /// As the fit of a detector.
    pub fn fit(
        train: &[Signals<'_>],
        rng: &mut Rng,
        progress: FitProgress<'_>,
    ) -> Result<Diagnoser, FitError> {
        check(train, 1)?;
        let Fold { seen, held_out } = Fold::last(train);
        let nominal = Nominal::new(&seen, &[]).with_progress(progress.between(0.0, 0.4));
        let (mut residual, of_members) =
            Residual::fit(nominal, &Hidden::small(), MEMBERS, &Training::brief(), rng)?;
        let d = residual.width();
        let whitener = Whitener::fit(of_members.iter().flat_map(|e| e.chunks_exact(d)), d);
        let signature = Signature::new(&residual, &whitener).expect("moments of sound episodes are sound");
        let lengths = lengths(&mut residual, &whitener, &held_out);
        let self_information = SelfInformation::of_nominal(lengths.concat());
        let of_episode = |e: &Vec<f64>| e.iter().map(|&length| self_information.of(length)).collect();
        let usual = Usual::of(&lengths.iter().map(of_episode).collect::<Vec<_>>());
        let response = Response::new(residual.inputs().len(), d);
        let known = Known { whitener, self_information, usual, signature, response };
        let examples =
            simulated::examples(&mut residual, &known, &held_out, rng, progress.between(0.4, 0.8))?;
        let classifier = Classifier::fit(&examples, rng, progress.between(0.8, 1.0))?;
        Ok(Diagnoser::new(residual, known, classifier, [train[0].obs_width(), train[0].act_width()]))
    }

    fn new(residual: Residual, known: Known, classifier: Classifier, widths: [usize; 2]) -> Diagnoser {
        let blank = Deviation { channel: 0, size: 1.0, bias: 0.0 };
        Diagnoser {
            memory: Memory::new(widths),
            seen: ResidualHistory::new(&residual, &known),
            features: vec![0.0; known.n_features()],
            answer: classifier.scratch(),
            votes: vec![],
            diagnosis: Diagnosis {
                family: Family::Observation,
                probabilities: EQUAL,
                steps_ago: 0,
                channels: vec![blank; residual.channels().len()],
                suspects: vec![],
            },
            residual,
            known: Arc::new(known),
            classifier: Arc::new(classifier),
            taught: None,
        }
    }

    /// Learns to name faults from examples of them, instead of those learned before; without a hypothesis it names none.
    ///
    /// # Errors
    /// If it was asked to stop.
    pub fn teach(
        &mut self,
        hypotheses: Vec<Hypothesis>,
        faults: &[Fault<'_>],
        rng: &mut Rng,
        progress: FitProgress<'_>,
    ) -> Result<(), Stopped> {
        let mut examples = Vec::with_capacity(faults.len());
        let looking = progress.between(0.0, 0.7);
        for (i, fault) in faults.iter().enumerate() {
            looking.at(i, faults.len())?;
            let size = hypotheses[fault.hypothesis].size(fault.magnitude);
            let label = Label { class: fault.hypothesis, size };
            examples.push(Example { label, features: self.features_of(fault) });
        }
        let taught = Taught::fit(hypotheses, &examples, rng, progress.between(0.7, 1.0))?;
        self.set(Some(taught).filter(|taught| !taught.hypotheses.is_empty()));
        Ok(())
    }

    fn set(&mut self, taught: Option<Taught>) {
        (self.votes, self.diagnosis.suspects) = taught.as_ref().map(Taught::blank).unwrap_or_default();
        self.taught = taught.map(Arc::new);
    }

    /// The faults that it can name.
    pub fn hypotheses(&self) -> &[Hypothesis] {
        self.taught.as_ref().map_or(&[], |taught| &taught.hypotheses)
    }

    /// Features at each of [`AFTER`], or at the end of the episode if that is earlier.
    fn features_of(&mut self, fault: &Fault<'_>) -> Vec<f32> {
        self.reset();
        let last = fault.signals.len().saturating_sub(1);
        let (mut all, mut due) = (Vec::new(), AFTER.iter().peekable());
        for (t, seen) in fault.signals.transitions().enumerate() {
            self.observe(&seen);
            while due.next_if(|&&after| t == (fault.alarm + after).min(last)).is_some() {
                let first = self.look_back();
                self.describe(first, t.saturating_sub(fault.alarm));
                all.extend_from_slice(&self.features);
            }
        }
        all
    }

    /// An episode begins.
    pub fn reset(&mut self) {
        self.memory.n = 0;
    }

    /// One step more, with gaps that were filled.
    pub fn observe_partial(&mut self, step: &Partial<'_>) {
        self.memory.observe_partial(step);
    }

    /// One step more.
    pub fn observe(&mut self, seen: &Transition<'_>) {
        self.memory.observe(seen);
    }

    /// What is wrong, judging from the steps since `reset`, so many steps after the one of the alarm. It does not allocate.
    ///
    /// # Panics
    /// If there was no step.
    pub fn diagnose(&mut self, since: usize) -> &Diagnosis {
        assert!(self.memory.n > 0, "a diagnosis needs a step");
        let first = self.look_back();
        self.describe(first, since);
        let of_signature = &self.features[..self.known.signature.n_features()];
        let found = &mut self.diagnosis;
        (found.family, found.probabilities) = match &self.taught {
            // Faults by rule differ by what they do to commands.
            None if self.residual.act_width() == 0 => (Family::Unknown, EQUAL),
            None => most(self.classifier.probabilities(of_signature, &mut self.answer)),
            Some(taught) => most(taught.judge(&self.features, since, &mut self.votes, &mut found.suspects)),
        };
        found.steps_ago = self.seen.self_information.len() - 1 - first;
        let z = &self.seen.z[first * self.residual.width()..];
        rank(&mut found.channels, self.residual.channels(), z, &self.known.whitener.deviations);
        &self.diagnosis
    }

    /// Residuals of what is remembered; returns the first step since the onset.
    fn look_back(&mut self) -> usize {
        self.seen.look_back(&self.memory, &mut self.residual, &self.known);
        onset::change_point(&self.seen.self_information)
    }

    /// Fills the features of the steps from the onset on, so many steps after an alarm.
    fn describe(&mut self, first: usize, since: usize) {
        let Diagnoser { known, seen, features, residual, .. } = self;
        let (d, n_inputs) = (residual.width(), residual.inputs().len());
        let (z, commands) = (&seen.z[first * d..], &seen.commands[first * residual.act_width()..]);
        let (of_signature, rest) = features.split_at_mut(known.signature.n_features());
        known.signature.of(z, commands, of_signature, &mut seen.signature);
        seen.w.clear();
        seen.w.extend_from_slice(z);
        seen.w.chunks_exact_mut(d).for_each(|w| known.whitener.whiten(w));
        let (of_response, of_time) = rest.split_at_mut(known.response.n_features());
        known.response.of(&seen.w, &seen.inputs[first * n_inputs..], of_response, &mut seen.response);
        of_time[0] = since as f32;
    }

    /// Writes what was learned.
    pub fn save(&self, to: &mut Writer<'_>) {
        self.residual.save(&mut to.part("ensemble"));
        self.known.whitener.save(&mut to.part("nominal"));
        self.known.self_information.save(&mut to.part("length"));
        self.known.usual.save(&mut to.part("usual"));
        self.classifier.save(&mut to.part("classifier"));
        self.taught.iter().for_each(|taught| taught.save(&mut to.part("taught")));
    }

    /// Reads what was learned, of hypotheses too if there are any.
    ///
    /// # Errors
    /// If a list is missing or is not what is written.
    pub fn load(from: &Reader<'_>, hypotheses: &[Hypothesis]) -> Result<Diagnoser, ArchiveError> {
        let residual = Residual::load(&from.part("ensemble"), &Hidden::small(), MEMBERS)?;
        let d = saved::within(from, "channels", residual.width())?;
        let whitener = Whitener::load(&from.part("nominal"), d)?;
        let made = Signature::new(&residual, &whitener);
        from.require(made.is_some(), "ensemble", "effects that can be solved for", "others")?;
        let signature = made.expect("it was checked");
        let classifier = Classifier::load(&from.part("classifier"), signature.n_features())?;
        let self_information = SelfInformation::load(&from.part("length"))?;
        let usual = Usual::load(&from.part("usual"))?;
        let response = Response::new(residual.inputs().len(), d);
        let known = Known { whitener, self_information, usual, signature, response };
        let load = |known: &Known| Taught::load(&from.part("taught"), hypotheses, known.n_features());
        let taught = (!hypotheses.is_empty()).then(|| load(&known)).transpose()?;
        let mut made = Diagnoser::new(residual, known, classifier, [from.obs_width, from.act_width]);
        made.set(taught);
        Ok(made)
    }
}

/// The most probable family.
fn most(p: [f64; 3]) -> (Family, [f64; 3]) {
    let most = (0..3).max_by(|&a, &b| p[a].total_cmp(&p[b])).unwrap_or(0);
    (Family::ALL[most], p)
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
