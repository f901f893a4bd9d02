//! An environment whose episodes fail by a criterion of the user: a return that is too low, or a formula of signal
//! temporal logic that is broken, of one or of several.
//!
//! A formula names channels of the observation, channels of the action, and `reward`. A sample is taken where the
//! episode begins and after each step: what is observed then, without nominal noise, and the command and the reward
//! that led there, which are 0 at first. The episode ends as soon as no continuation could mend it; of several formulas each
//! is judged as it would be alone, so that what is broken ends nothing.

use crate::remarks;
use anyhow::{Context, Result, ensure};
use offnominal_core::channel::spans;
use offnominal_core::prelude::*;
use offnominal_stats::stl::node::Window;
use offnominal_stats::stl::{Formula, Monitor};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// By what an episode fails.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Criterion {
    /// If and only if its return is below this.
    ReturnBelow(f64),
    /// If one of the formulas is broken, or the environment says so; the most important formula first.
    Stl(#[serde(with = "one_or_several")] Vec<Formula>),
}

/// A single formula stands alone in files, as it always did.
mod one_or_several {
    use super::Formula;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Read {
        One(Formula),
        Several(Vec<Formula>),
    }

    pub fn serialize<S: Serializer>(formulas: &[Formula], to: S) -> Result<S::Ok, S::Error> {
        if let [one] = formulas { one.serialize(to) } else { formulas.serialize(to) }
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<Formula>, D::Error> {
        Ok(match Read::deserialize(from)? {
            Read::One(formula) => vec![formula],
            Read::Several(formulas) => formulas,
        })
    }
}

/// An environment whose episodes fail by a criterion.
pub struct Judged<'e> {
    env: Box<dyn Env + 'e>,
    spec: Arc<EnvSpec>,
    judge: Judge,
    /// What is required, the most important first, where there are several formulas; what the environment itself calls a
    /// failure stands last.
    requirements: Arc<[String]>,
    steps: u32,
    /// Whether the episode is over, and failed.
    failed: Option<bool>,
    /// Whether the environment has called it a failure.
    fails: bool,
}

/// What is known of the episode so far.
#[derive(Clone)]
enum Judge {
    Return { least: f64, total: f64 },
    Stl(Box<Signals>),
}

/// Formulas and their signals.
#[derive(Clone)]
struct Signals {
    monitors: Vec<Monitor>,
    /// That of each formula.
    robustness: Vec<f64>,
    /// The whole observation, and the places in it of the channels that are one number.
    obs: Vec<f32>,
    places: Arc<[usize]>,
    /// The numbers of an action that are signals: those whose names no channel of the observation has.
    actions: Arc<[usize]>,
    sample: Vec<f64>,
}

/// The margin while nothing is decided: no environment is so far from failure.
const UNDECIDED: f64 = 1e9;

/// What the environment requires, as results name it.
const OWN: &str = "what the environment itself calls a failure";

impl<'e> Judged<'e> {
    /// The environment with this criterion.
    ///
    /// # Errors
    /// If the formula names no channel of it, or the return is no finite number.
    pub fn new(env: Box<dyn Env + 'e>, criterion: &Criterion) -> Result<Judged<'e>> {
        let judge = match criterion {
            Criterion::ReturnBelow(least) => {
                ensure!(least.is_finite(), "below: expected a finite return, found {least}");
                Judge::Return { least: *least, total: 0.0 }
            }
            Criterion::Stl(formulas) => {
                let signals = Signals::new(env.spec(), formulas);
                Judge::Stl(Box::new(signals.with_context(|| format!("environment {}", env.spec().id))?))
            }
        };
        let own = if let Criterion::Stl(_) = criterion { env.spec().success.as_str() } else { "" };
        let success = format!("{own} {}", criterion.describe()).trim().to_string();
        let requirements = criterion.requirements().into();
        let spec = Arc::new(EnvSpec { success, question: String::new(), ..env.spec().clone() });
        Ok(Judged { env, spec, judge, requirements, steps: 0, failed: None, fails: false })
    }

    /// How the episode stands, once the environment has made its step.
    fn judged(&mut self, step: Step) -> Step {
        self.steps += 1;
        if step.status == Status::Diverged {
            return step;
        }
        let is_over = step.status != Status::Running || self.steps >= self.spec.horizon;
        self.fails = step.status == Status::Failed;
        let status = match &mut self.judge {
            Judge::Return { least, total } if is_over => {
                self.failed = Some(total < least);
                if total < least { Status::Failed } else { Status::Succeeded }
            }
            Judge::Return { .. } => step.status,
            Judge::Stl(signals) => {
                if is_over {
                    signals.finish();
                }
                // Zero is broken: the margin is above zero exactly where the episode has not failed.
                let is_broken = signals.robustness.iter().any(|robustness| *robustness <= 0.0);
                let is_over = is_over || is_broken && signals.robustness.len() == 1;
                self.failed = is_over.then_some(is_broken || self.fails);
                match step.status {
                    _ if is_broken && is_over => Status::Failed,
                    // Nobody has said what the end means, but the formula has.
                    Status::Ended => Status::Succeeded,
                    other => other,
                }
            }
        };
        Step { status, ..step }
    }
}

impl Signals {
    fn new(spec: &EnvSpec, formulas: &[Formula]) -> Result<Signals> {
        ensure!(!formulas.is_empty(), "formula: expected one at least, found none");
        let scalars =
            spec.observation.iter().zip(spans(&spec.observation)).filter(|(c, _)| c.image.is_none());
        let (mut names, places): (Vec<String>, Vec<usize>) =
            scalars.map(|(c, span)| (c.name.clone(), span.start)).unzip();
        let mut actions = Vec::new();
        for (i, channel) in spec.action.iter().enumerate() {
            if channel.image.is_none() && !names.contains(&channel.name) {
                names.push(channel.name.clone());
                actions.push(i);
            }
        }
        names.push("reward".into());
        let monitor = |formula: &Formula| -> Result<Monitor> {
            let monitor = Monitor::new(formula, &names, spec.dt_secs)?;
            check_windows(spec, &monitor)?;
            Ok(monitor)
        };
        let monitors = formulas.iter().map(monitor).collect::<Result<Vec<_>>>()?;
        let robustness = vec![f64::INFINITY; monitors.len()];
        let (obs, sample) = (vec![0.0; spec.obs_width()], vec![0.0; names.len()]);
        let (places, actions) = (places.into(), actions.into());
        Ok(Signals { monitors, robustness, obs, places, actions, sample })
    }

    /// Reads the state to which a command led.
    fn read(&mut self, env: &dyn Env, led: Option<(&[f32], f64)>) {
        env.observe_exactly(&mut self.obs);
        let (observed, rest) = self.sample.split_at_mut(self.places.len());
        observed.iter_mut().zip(&*self.places).for_each(|(x, i)| *x = f64::from(self.obs[*i]));
        rest.fill(0.0);
        if let Some((action, reward)) = led {
            let channels = &env.spec().action;
            rest.iter_mut().zip(&*self.actions).for_each(|(x, i)| *x = command(&channels[*i], action[*i]));
            rest[self.actions.len()] = reward;
        }
        for (monitor, robustness) in self.monitors.iter_mut().zip(&mut self.robustness) {
            monitor.push(&self.sample);
            *robustness = monitor.robustness();
        }
    }

    /// Nothing comes after what was read.
    fn finish(&mut self) {
        for (monitor, robustness) in self.monitors.iter_mut().zip(&mut self.robustness) {
            *robustness = monitor.finish();
        }
    }
}

/// Refuses windows that mean nothing in an environment, and says which ones an episode cuts off.
fn check_windows(spec: &EnvSpec, monitor: &Monitor) -> Result<()> {
    ensure!(
        !spec.assumes_dt || !monitor.is_timed(),
        "formula: expected no window in seconds, as nobody has said how many seconds a step takes; the option dt=SECONDS \
         of the id does, or `dt` in a manifest, or `dt`, `tau` or metadata[\"render_fps\"] of the environment"
    );
    let (beyond, end_secs) = (monitor.beyond(spec.horizon as usize), f64::from(spec.horizon) * spec.dt_secs);
    let listed = |windows: &[Window]| windows.iter().map(Window::to_string).collect::<Vec<_>>().join(", ");
    ensure!(
        beyond.wholly.is_empty(),
        "formula: expected windows within an episode, which lasts {end_secs} s, found {}, in which nothing would ever be \
         looked at",
        listed(&beyond.wholly)
    );
    if !beyond.partly.is_empty() {
        remarks::say(format!(
            "formula: an episode of {} lasts {end_secs} s, so that of {} only the part before is looked at",
            spec.id,
            listed(&beyond.partly)
        ));
    }
    Ok(())
}

/// A command as the environment reads it: a choice is a whole number.
fn command(channel: &Channel, number: f32) -> f64 {
    let chosen = channel.is_choice().then(|| channel.chosen(number)).flatten();
    chosen.map_or(f64::from(number), |choice| choice as f64)
}

impl offnominal_core::env_layer::EnvLayer for Judged<'_> {
    fn inner(&self) -> &dyn Env {
        self.env.as_ref()
    }

    fn inner_mut(&mut self) -> &mut dyn Env {
        self.env.as_mut()
    }

    fn around<'f>(&self, env: Box<dyn Env + 'f>) -> Option<Box<dyn Env + 'f>> {
        let (spec, requirements) = (Arc::clone(&self.spec), Arc::clone(&self.requirements));
        let Judged { ref judge, steps, failed, fails, .. } = *self;
        Some(Box::new(Judged { env, spec, judge: judge.clone(), requirements, steps, failed, fails }))
    }

    fn spec(&self) -> &EnvSpec {
        &self.spec
    }

    fn start(&mut self, x: &[f64], rng: &mut Rng) {
        (self.steps, self.failed, self.fails) = (0, None, false);
        self.env.start(x, rng);
        match &mut self.judge {
            Judge::Return { total, .. } => *total = 0.0,
            Judge::Stl(signals) => {
                signals.monitors.iter_mut().for_each(Monitor::start);
                signals.read(self.env.as_ref(), None);
            }
        }
    }

    fn step(&mut self, action: &[f32], rng: &mut Rng) -> Step {
        let step = self.env.step(action, rng);
        match &mut self.judge {
            Judge::Return { total, .. } => *total += step.reward,
            Judge::Stl(signals) => signals.read(self.env.as_ref(), Some((action, step.reward))),
        }
        self.judged(step)
    }

    fn goal_met(&self) -> Option<bool> {
        match self.judge {
            Judge::Return { .. } => Some(self.failed == Some(false)),
            Judge::Stl(_) => match self.env.goal_met() {
                Some(met) => Some(met && self.failed != Some(true)),
                None => Some(self.failed == Some(false)),
            },
        }
    }

    fn failure_search(&self) -> &dyn FailureSearch {
        self
    }
}

/// Where an episode begins is the environment's; how far it is from failure is the criterion's too.
impl FailureSearch for Judged<'_> {
    fn inner(&self) -> Option<&dyn FailureSearch> {
        Some(self.env.failure_search())
    }

    fn margin(&self) -> Option<f64> {
        match &self.judge {
            // Before its end nothing is known of a return.
            Judge::Return { .. } if self.failed.is_none() => Some(UNDECIDED),
            Judge::Return { least, total } => {
                let unit = if *least == 0.0 { 1.0 } else { least.abs() };
                Some((total - least) / unit)
            }
            Judge::Stl(signals) => {
                // The environment may fail without a margin; one that it has must agree.
                let untold = if self.fails { 0.0 } else { UNDECIDED };
                let own = self.env.failure_search().margin().unwrap_or(untold);
                let least = signals.robustness.iter().copied().fold(f64::INFINITY, f64::min);
                let margin = least.clamp(-UNDECIDED, UNDECIDED).min(own);
                // Of several formulas one may be broken before the episode has failed.
                let is_early = self.failed.is_none() && signals.robustness.len() > 1;
                Some(if is_early { margin.max(f64::MIN_POSITIVE) } else { margin })
            }
        }
    }

    fn requirements(&self) -> &[String] {
        &self.requirements
    }

    fn margin_of(&self, requirement: usize) -> f64 {
        match &self.judge {
            Judge::Stl(signals) if requirement < signals.robustness.len() => signals.robustness[requirement],
            _ => {
                let own = self.env.failure_search().margin().unwrap_or(f64::INFINITY);
                if self.fails { own.min(0.0) } else { own.max(f64::MIN_POSITIVE) }
            }
        }
    }
}

impl Criterion {
    /// In a sentence.
    pub fn describe(&self) -> String {
        match self {
            Criterion::ReturnBelow(least) => {
                format!("An episode succeeds if its return is at least {least}, and fails otherwise.")
            }
            Criterion::Stl(formulas) => {
                let quoted: Vec<String> = formulas.iter().map(|formula| format!("\"{formula}\"")).collect();
                let goes_on = if formulas.len() > 1 { "; it goes on then, for the others" } else { "" };
                format!("An episode also fails if it breaks {}{goes_on}.", quoted.join(" or "))
            }
        }
    }

    /// What is required, the most important first, where that is more than one formula.
    fn requirements(&self) -> Vec<String> {
        match self {
            Criterion::Stl(formulas) if formulas.len() > 1 => {
                formulas.iter().map(Formula::to_string).chain([OWN.into()]).collect()
            }
            _ => vec![],
        }
    }
}

#[cfg(test)]
mod tests;
