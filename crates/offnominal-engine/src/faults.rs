//! Faults that a monitor notices, played to teach a diagnosis what they look like.
//!
//! A hypothesis is an anomaly with the direction in which its magnitude moves away from neutral. Of each, magnitudes are
//! tried from small to large in whole episodes, until the monitor notices, and until the policy is harmed: its return is
//! below that of nineteen of twenty nominal episodes. Then magnitudes are drawn, log-uniformly, from half of the one that
//! is noticed to `BEYOND` times the one that harms, with random onsets; two of three lie near the one that harms, as such
//! faults matter most. Faults that the monitor misses say nothing at an alarm, and are left out.

use crate::collect::begun;
use crate::progress::Task;
use crate::subject::{Subject, health};
use crate::{catalogues, parallel};
use anyhow::{Result, anyhow};
use offnominal_core::anomaly_spec::DYNAMICS;
use offnominal_core::prelude::*;
use offnominal_detectors::diagnosis::{Direction, Family, Fault, Hypothesis};
use offnominal_stats::{Threshold, Watch};
use offnominal_worlds::anomaly::{Class, Deviations, Domain, Search, kind, searches};
use serde_json::json;

/// Anomalies of signals that are tried if nothing else is asked for, besides parameters of an environment: those of the vector
/// benchmark, and two for actions that are choices.
pub const SIGNALS: [&str; 14] = [
    "obs-noise",
    "obs-scaling",
    "obs-offset",
    "obs-drift",
    "obs-temporal-noise",
    "obs-quantization",
    "act-noise",
    "act-scaling",
    "act-offset",
    "act-drift",
    "act-temporal-noise",
    "act-delay",
    // Where an action is a choice, it can only be repeated or lost.
    "act-stuck",
    "act-dropout",
];
/// Those of [`SIGNALS`] that an audit tries and a diagnosis is not taught.
const NOT_TAUGHT: [&str; 2] = ["act-stuck", "act-dropout"];
/// Largest magnitude in units of the smallest one that harms, both as distances from neutral.
const BEYOND: f64 = 4.0;
/// Smallest magnitude near the one that harms, in the same units.
const BELOW: f64 = 0.125;
/// Magnitudes that are tried, and episodes of each.
const RUNGS: usize = 12;
const EPISODES: usize = 3;
/// The smallest magnitude that is tried, in first steps of a search.
const SMALLEST: f64 = 1.0 / 32.0;
/// Where faults begin in them.
const FIRST: u32 = 2;
/// How many episodes are played for one fault that is noticed, at most.
const TRIES: usize = 3;

/// The anomalies that are taught if nothing else is asked for, as far as they apply to the environment.
///
/// # Errors
/// If the environment has a parameter that cannot be searched.
pub fn anomalies(env: &dyn Env) -> Result<Vec<String>> {
    let parameters = env.spec().parameters.iter().map(|p| format!("{DYNAMICS}{}", p.name));
    let mut all = Vec::new();
    let signals = SIGNALS.iter().filter(|id| !NOT_TAUGHT.contains(id)).map(|id| id.to_string());
    for anomaly in signals.chain(parameters) {
        if applies(&anomaly, env)? {
            all.push(anomaly);
        }
    }
    Ok(all)
}

/// Whether an anomaly can be in the environment: nothing can be added to an action that is a choice.
fn applies(anomaly: &str, env: &dyn Env) -> Result<bool> {
    let Some(search) = searches(env.spec(), anomaly, &Deviations::default())?.into_iter().next() else {
        return Ok(false);
    };
    let params = json!({ "magnitude": magnitude(&search, search.step.abs()) });
    let spec = AnomalySpec { anomaly: anomaly.into(), params, schedule: Schedule::WHOLE };
    Ok(spec.build(&catalogues::anomalies(), env).is_ok())
}

/// A monitor that raises alarms.
pub struct Alarming<'t> {
    /// What gives the scores.
    pub monitor: Box<dyn Scorer>,
    /// When they are too large.
    pub threshold: &'t Threshold,
}

impl Alarming<'_> {
    /// The step of the first alarm of an episode.
    pub fn first(&mut self, signals: &Signals<'_>) -> Option<usize> {
        let mut watch = Watch::new(self.threshold);
        self.monitor.reset();
        signals.transitions().position(|seen| watch.exceeds(self.monitor.score(&seen)))
    }

    /// A copy for another thread.
    #[must_use]
    pub fn fork(&self) -> Self {
        Alarming { monitor: self.monitor.fork(), threshold: self.threshold }
    }
}

/// What is to be played.
pub struct Playing<'a> {
    /// Who acts where.
    pub subject: &'a Subject,
    /// What notices.
    pub alarming: &'a Alarming<'a>,
    /// Nominal episodes, by whose lengths onsets are drawn, and by whose returns harm is told.
    pub nominal: &'a [Episode],
    /// Faults of each hypothesis.
    pub each: usize,
    /// Root of all seeds.
    pub seed: Seed,
}

/// Noticed faults, and what they are examples of.
pub struct Faults {
    /// Those of which there is an example.
    pub hypotheses: Vec<Hypothesis>,
    played: Vec<Played>,
}

struct Played {
    hypothesis: usize,
    magnitude: f64,
    episode: Episode,
    alarm: usize,
}

impl Played {
    fn view(&self) -> Fault<'_> {
        let (hypothesis, magnitude, alarm) = (self.hypothesis, self.magnitude, self.alarm);
        Fault { hypothesis, magnitude, signals: self.episode.signals(), alarm }
    }
}

impl Faults {
    /// The faults as a diagnosis is taught them.
    pub fn views(&self) -> Vec<Fault<'_>> {
        self.played.iter().map(Played::view).collect()
    }

    /// All faults but those of an anomaly.
    #[must_use]
    pub fn without(&self, anomaly: &str) -> (Vec<Hypothesis>, Vec<Fault<'_>>) {
        let keeps = |h: &&Hypothesis| h.anomaly != anomaly;
        let hypotheses: Vec<Hypothesis> = self.hypotheses.iter().filter(keeps).cloned().collect();
        let place = |h: &Hypothesis| hypotheses.iter().position(|other| other == h);
        let places: Vec<Option<usize>> = self.hypotheses.iter().map(place).collect();
        let mut faults = self.views();
        faults.retain(|f| places[f.hypothesis].is_some());
        faults.iter_mut().for_each(|f| f.hypothesis = places[f.hypothesis].unwrap_or_default());
        (hypotheses, faults)
    }
}

impl Playing<'_> {
    /// How many hypotheses there are, each of which [`Playing::play`] counts when it is done.
    ///
    /// # Errors
    /// If an anomaly does not fit the environment.
    pub fn n_hypotheses(&self, anomalies: &[String]) -> Result<usize> {
        self.wanted(anomalies).map(|wanted| wanted.len())
    }

    /// Hypotheses, and where magnitudes are looked for.
    fn wanted(&self, anomalies: &[String]) -> Result<Vec<(Hypothesis, Search)>> {
        let (mut wanted, deviations) = (Vec::new(), Deviations::of(self.nominal));
        for anomaly in anomalies {
            let Some(family) = family(kind(anomaly)?.class) else { continue };
            let searches = searches(self.subject.env.spec(), anomaly, &deviations)?;
            wanted.extend(searches.into_iter().map(|search| (hypothesis(anomaly, family, &search), search)));
        }
        Ok(wanted)
    }

    /// Plays faults of anomalies in every direction that they have, on so many threads: the same for any number of them.
    ///
    /// # Errors
    /// If an anomaly does not fit the environment, something breaks, or the work was asked to stop.
    pub fn play(&self, anomalies: &[String], jobs: usize, task: &Task) -> Result<Faults> {
        let wanted = self.wanted(anomalies)?;
        let jobs = parallel::jobs_for(self.subject.env.as_ref(), jobs);
        let all = parallel::map(jobs, wanted.len(), task, |i| self.of(&wanted[i].0, &wanted[i].1))?;
        let mut faults = Faults { hypotheses: vec![], played: vec![] };
        for ((hypothesis, _), played) in wanted.into_iter().zip(all).filter(|(_, p)| !p.is_empty()) {
            let number = faults.hypotheses.len();
            faults.hypotheses.push(hypothesis);
            faults.played.extend(played.into_iter().map(|p| Played { hypothesis: number, ..p }));
        }
        Ok(faults)
    }

    /// Noticed faults of one hypothesis; none if nothing of it is ever noticed.
    fn of(&self, hypothesis: &Hypothesis, search: &Search) -> Result<Vec<Played>> {
        let name = format!("{} {:?}", hypothesis.anomaly, hypothesis.direction);
        let (seed, env) = (self.seed.child(name.as_str()), self.subject.env.fork());
        let mut player = Player { playing: self, hypothesis, search, env, alarming: self.alarming.fork() };
        let Some(reach) = self.reach(&mut player, search, seed.child("reach"))? else { return Ok(vec![]) };
        let mut found = Vec::new();
        for i in 0..TRIES * self.each {
            let seed = seed.child(i);
            let size = reach.draw(i, &mut seed.child("magnitude").rng());
            let onset = self.onset(&mut seed.child("onset").rng());
            found.extend(player.play(rounded(size, search.domain), onset, seed)?.noticed());
            if found.len() == self.each {
                break;
            }
        }
        Ok(found)
    }

    /// The distances from neutral that are worth an example; `None` if nothing is noticed.
    fn reach(&self, player: &mut Player<'_>, search: &Search, seed: Seed) -> Result<Option<Reach>> {
        let most = (search.limit - search.neutral).abs();
        let (mut least, low_return) = (None, self.low_return());
        for size in rungs(search) {
            let (mut noticed, mut harmed) = (0, 0);
            for i in 0..EPISODES {
                let played = player.play(size, FIRST, seed.child(i))?;
                harmed += usize::from(played.episode.total_reward() < low_return);
                noticed += usize::from(played.alarm.is_some());
            }
            least = least.or((2 * noticed > EPISODES).then_some(0.5 * size));
            if let (Some(least), true) = (least, 2 * harmed > EPISODES) {
                let (near, most) = ((BELOW * size).max(least), (BEYOND * size).min(most));
                return Ok(Some(Reach { least, near, most }));
            }
        }
        Ok(least.map(|least| Reach { least, near: least, most }))
    }

    /// The return that one nominal episode of twenty falls short of.
    fn low_return(&self) -> f64 {
        let mut returns: Vec<f64> = self.nominal.iter().map(Episode::total_reward).collect();
        returns.sort_unstable_by(f64::total_cmp);
        returns[returns.len() / 20]
    }

    fn onset(&self, rng: &mut Rng) -> u32 {
        let random = Schedule { onset: Onset::Random, extent: Extent::ToEnd };
        random.draw_onset(self.nominal[rng.below(self.nominal.len())].len(), rng)
    }
}

/// Distances from neutral.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Reach {
    /// Half of the smallest one that is noticed.
    least: f64,
    /// From here on they are near the one that harms.
    near: f64,
    most: f64,
}

impl Reach {
    /// The distance of the i-th example.
    fn draw(&self, i: usize, rng: &mut Rng) -> f64 {
        let low = if i.is_multiple_of(3) { self.least } else { self.near };
        rng.range(low.ln(), self.most.ln()).exp()
    }
}

/// Plays faults of one hypothesis.
struct Player<'a> {
    playing: &'a Playing<'a>,
    hypothesis: &'a Hypothesis,
    search: &'a Search,
    env: Option<Box<dyn Env>>,
    alarming: Alarming<'a>,
}

impl Player<'_> {
    /// An episode with a fault at a distance from neutral.
    fn play(&mut self, distance: f64, onset: u32, seed: Seed) -> Result<Tried> {
        let (subject, hypothesis) = (self.playing.subject, self.hypothesis);
        let magnitude = magnitude(self.search, distance);
        let params = json!({ "magnitude": magnitude });
        let schedule = Schedule { onset: Onset::At(onset), extent: Extent::ToEnd };
        let spec = AnomalySpec { anomaly: hypothesis.anomaly.clone(), params, schedule };
        let env = self.env.as_deref().unwrap_or(subject.env.as_ref());
        let trial = Trial { env, ..subject.trial() };
        let episode = trial.disturbed(seed, &spec, onset, &catalogues::anomalies())?;
        health(env, subject.policy.as_ref()).map_err(|why| anyhow!(why))?;
        let episode = begun(subject, episode)?;
        let alarm = self.alarming.first(&episode.signals()).filter(|&alarm| alarm >= onset as usize);
        Ok(Tried { magnitude, episode, alarm })
    }
}

/// An episode with a fault, which the monitor may have noticed.
struct Tried {
    magnitude: f64,
    episode: Episode,
    alarm: Option<usize>,
}

impl Tried {
    fn noticed(self) -> Option<Played> {
        let Tried { magnitude, episode, alarm } = self;
        alarm.map(|alarm| Played { hypothesis: 0, magnitude, episode, alarm })
    }
}

/// The magnitude at a distance from neutral, which rounding carries no farther than the limit.
fn magnitude(search: &Search, distance: f64) -> f64 {
    let Search { neutral, limit, .. } = *search;
    if limit > neutral { (neutral + distance).min(limit) } else { (neutral - distance).max(limit) }
}

fn family(class: Class) -> Option<Family> {
    match class {
        Class::Observation => Some(Family::Observation),
        Class::Action => Some(Family::Action),
        Class::Dynamics => Some(Family::Dynamics),
        Class::Camera => None,
    }
}

fn hypothesis(anomaly: &str, family: Family, search: &Search) -> Hypothesis {
    let direction = if search.step > 0.0 { Direction::Up } else { Direction::Down };
    Hypothesis { anomaly: anomaly.into(), family, neutral: search.neutral, direction }
}

/// Distances from neutral, in equal ratios up to the limit of the search.
fn rungs(search: &Search) -> Vec<f64> {
    let most = (search.limit - search.neutral).abs();
    let least = rounded(SMALLEST * search.step.abs(), search.domain).min(most);
    let rung = |i: usize| least * (most / least).powf(i as f64 / (RUNGS - 1) as f64);
    let mut rungs: Vec<f64> = (0..RUNGS).map(|i| rounded(rung(i), search.domain)).collect();
    rungs.dedup();
    rungs
}

/// A distance that the domain has.
fn rounded(distance: f64, domain: Domain) -> f64 {
    if domain == Domain::Whole { distance.round().max(1.0) } else { distance }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn search(domain: Domain, limit: f64) -> Search {
        Search { neutral: 1.0, step: if limit > 1.0 { 0.5 } else { -0.5 }, limit, ceiling: limit, domain }
    }

    #[test]
    fn rungs_go_from_far_below_the_first_step_to_the_limit() {
        let rungs_of = |domain, limit| rungs(&search(domain, limit));
        let real = rungs_of(Domain::Real, -7.0);
        assert_eq!((real.len(), real[0]), (RUNGS, 1.0 / 64.0));
        assert!((real[11] - 8.0).abs() < 1e-9 && real.is_sorted());
        assert_eq!(rungs_of(Domain::Whole, 9.0), [1.0, 2.0, 3.0, 4.0, 5.0, 7.0, 8.0]);
    }

    #[test]
    fn magnitudes_end_at_the_limit() {
        let mass = Search { neutral: 1.0, step: -0.1, limit: 0.1, ceiling: 0.1, domain: Domain::Real };
        assert_eq!(magnitude(&mass, 1.0 - 0.1), 0.1);
        assert_eq!(magnitude(&mass, 0.5), 0.5);
        assert_eq!(magnitude(&search(Domain::Real, 9.0), 8.0 + 1e-9), 9.0);
    }

    #[test]
    fn two_of_three_examples_lie_near_harm() {
        let (reach, mut rng) = (Reach { least: 0.01, near: 1.0, most: 4.0 }, Rng::new(1));
        let drawn: Vec<f64> = (0..300).map(|i| reach.draw(i, &mut rng)).collect();
        assert!(drawn.iter().all(|d| (0.01..=4.0).contains(d)));
        let near = drawn.iter().filter(|d| **d >= 1.0).count();
        assert!((200..250).contains(&near), "{near}");
    }

    #[test]
    fn the_default_has_all_parameters() {
        let env = offnominal_worlds::env::catalogue().build("sap-goal0", &json!({})).unwrap();
        let all = anomalies(env.as_ref()).unwrap();
        assert!(all.contains(&"dyn-mass".into()) && all.contains(&"act-delay".into()));
        assert_eq!(all.len(), SIGNALS.len() - NOT_TAUGHT.len() + env.spec().parameters.len());
        assert!(NOT_TAUGHT.iter().all(|id| SIGNALS.contains(id) && !all.iter().any(|taught| taught == id)));
        // Its action is a choice, to which nothing can be added.
        let env = offnominal_worlds::env::catalogue().build("cartpole", &json!({})).unwrap();
        let all = anomalies(env.as_ref()).unwrap();
        assert!(all.contains(&"act-delay".into()) && !all.contains(&"act-noise".into()), "{all:?}");
    }
}
