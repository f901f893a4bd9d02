//! A hosted environment as an environment.

use crate::foreign::ahead::{self, Ahead};
use crate::foreign::core::Stay;
use crate::foreign::failure::Ended;
use crate::foreign::guest::Guest;
use crate::foreign::host::Host;
use crate::foreign::wanted::Wanted;
use crate::foreign::wire::Reply;
use crate::foreign::{PREFIX, pool};
use crate::remarks;
use anyhow::{Context, Result, anyhow};
use offnominal_core::prelude::*;
use std::sync::{Arc, Mutex, PoisonError};

/// How many seeds there are: all that an environment's generator takes.
const SEEDS: usize = 1 << 31;

/// An environment of Gymnasium. Without an episode it is a name with a host; an environment is taken when one begins,
/// and given back when this value goes.
pub(super) struct Foreign {
    spec: Arc<EnvSpec>,
    host: Arc<Host>,
    /// What went wrong last in an episode that this environment was checked out for.
    failure: Arc<Mutex<Option<String>>>,
    guest: Option<Guest>,
    /// Whether this value lives for one episode, which is played in one thread.
    is_checked_out: bool,
    stay: Option<Stay>,
    /// The policy with which steps are played ahead, and how many more of them nothing will disturb.
    ahead: Option<(Arc<Ahead>, usize)>,
    obs: Vec<f32>,
    success: Option<bool>,
    /// Steps of the episode.
    steps: u32,
    /// The sum of its rewards.
    total: f64,
    /// Whether `info` has said that it fails.
    flagged: bool,
}

impl Foreign {
    /// The environment of that name in Gymnasium.
    pub(super) fn open(id: &str) -> Result<Foreign> {
        let environment = format!("{PREFIX}{id}");
        let place = || format!("environment {environment}");
        let host = pool::host(Wanted::read(id).with_context(place)?);
        let own = host.description().with_context(place)?.spec(&environment)?;
        let spec = host.wanted.manifest.apply(own).context("manifest").with_context(place)?;
        let spec = match &host.wanted.failure {
            Some(rule) => EnvSpec { success: rule.to_string(), ..spec },
            None => spec,
        };
        Ok(Foreign::of(Arc::new(spec), host, Arc::default()))
    }

    /// The same environment before its first episode, whose failure is told to that one or not.
    fn pristine(&self, failure: Arc<Mutex<Option<String>>>) -> Foreign {
        Foreign::of(self.spec.clone(), self.host.clone(), failure)
    }

    fn of(spec: Arc<EnvSpec>, host: Arc<Host>, failure: Arc<Mutex<Option<String>>>) -> Foreign {
        let obs = vec![0.0; spec.obs_width()];
        let (guest, is_checked_out, stay) = (None, false, None);
        let (ahead, success, steps, total, flagged) = (None, None, 0, 0.0, false);
        Foreign {
            spec,
            host,
            failure,
            guest,
            is_checked_out,
            stay,
            ahead,
            obs,
            success,
            steps,
            total,
            flagged,
        }
    }

    /// Asks the environment, which is let go where that fails.
    fn ask<T>(&mut self, ask: impl FnOnce(&mut Guest, &mut [f32]) -> Result<T>) -> Option<T> {
        let answer = ask(self.guest.as_mut()?, &mut self.obs);
        answer.map_err(|why| self.fail(&why)).ok()
    }

    fn fail(&mut self, why: &anyhow::Error) {
        if let Some(guest) = self.guest.take() {
            self.host.close_if_late(guest.line().worker(), why);
        }
        let mut failure = self.failure.lock().unwrap_or_else(PoisonError::into_inner);
        // What came first says why.
        failure.get_or_insert_with(|| format!("environment {}: {why:#}", self.spec.id));
    }

    /// What a step brings: one that was played ahead, or one that is played now.
    fn reply(&mut self, action: &[f32]) -> Option<Reply> {
        let known = self.ahead.as_ref().and_then(|(ahead, _)| ahead.step(action, &mut self.obs));
        match known {
            Some(Ok(reply)) => Some(reply),
            Some(Err(why)) => {
                self.fail(&anyhow!(why));
                None
            }
            None => self.ask(|guest, obs| guest.step(action, obs)),
        }
    }

    /// Has further steps played, if those that were are used up.
    fn play_on(&mut self) {
        let widths = (self.spec.obs_width(), self.spec.act_width());
        let Some((policy, left)) = &mut self.ahead else { return };
        let steps = ahead::at_once(widths.0, widths.1).min(*left);
        if steps > 0 && policy.is_used_up() {
            *left -= steps;
            let policy = policy.clone();
            if let Some(played) = self.ask(|guest, obs| guest.play(policy.number, steps, obs, widths.1)) {
                policy.fill(&self.obs, played);
            }
        }
    }

    /// How the episode stands by the rule that the user stated, else by the environment's own words.
    fn status(&mut self, reply: Reply) -> Status {
        if reply.truncated && !reply.terminated {
            self.tell_limit();
        }
        match &self.host.wanted.failure {
            None => Foreign::own_status(reply),
            Some(rule) => {
                let over = reply.terminated || reply.truncated || self.steps >= self.spec.horizon;
                let Reply { terminated, .. } = reply;
                let failed =
                    over && rule.holds(Ended { terminated, flagged: self.flagged, total: self.total });
                self.success = over.then_some(!failed);
                match (over, failed, terminated) {
                    (false, ..) => Status::Running,
                    (_, true, _) => Status::Failed,
                    (_, false, true) => Status::Succeeded,
                    (_, false, false) => Status::TimedOut,
                }
            }
        }
    }

    fn own_status(reply: Reply) -> Status {
        match reply {
            Reply { terminated: true, success: Some(true), .. } => Status::Succeeded,
            Reply { terminated: true, .. } => Status::Failed,
            Reply { truncated: true, .. } => Status::TimedOut,
            Reply { .. } => Status::Running,
        }
    }

    /// Says once where the environment ends its episodes, if that is before the horizon.
    fn tell_limit(&self) {
        let EnvSpec { id, horizon, .. } = self.spec.as_ref();
        if self.steps < *horizon && self.host.is_first_cut() {
            let sign = if id.contains('?') { '&' } else { '?' };
            remarks::say(format!(
                "environment {id} ends its episodes itself, the first one after {} steps: they count as timed out. \
                 `{id}{sign}horizon={}` says so from the beginning, in place of {horizon}",
                self.steps, self.steps
            ));
        }
    }
}

/// The shape of the observations of the environment of that name, where they are one box of numbers.
pub(super) fn shape(id: &str) -> Option<Vec<usize>> {
    let described = pool::host(Wanted::read(id).ok()?).description().ok()?;
    described.shape.clone()
}

impl Env for Foreign {
    fn spec(&self) -> &EnvSpec {
        &self.spec
    }

    fn draw(&self, rng: &mut Rng) -> Vec<f64> {
        vec![rng.below(SEEDS) as f64]
    }

    fn start(&mut self, x: &[f64], _: &mut Rng) {
        assert_eq!(x.len(), 1, "the initial condition is a seed");
        (self.ahead, self.success, self.steps, self.total, self.flagged) = (None, None, 0, 0.0, false);
        self.guest = self.guest.take().filter(Guest::is_welcome);
        self.obs.fill(0.0);
        if self.guest.is_none() {
            self.guest = self.host.guest().map_err(|why| self.fail(&why)).ok();
        }
        let seed = x[0] as u64;
        self.success = self.ask(|guest, obs| guest.reset(seed, obs)).and_then(|reply| reply.success);
        // Only now: the answer woke this thread on a core that was idle, if there was one.
        let played = self.guest.as_ref().filter(|_| self.is_checked_out);
        played.inspect(|guest| Host::stay_near(guest));
        self.stay = played.filter(|guest| guest.line().is_cheap()).and_then(|_| Stay::here());
    }

    fn observe(&self, obs: &mut [f32]) {
        obs.copy_from_slice(&self.obs);
    }

    fn step(&mut self, action: &[f32], _: &mut Rng) -> Step {
        let Some(reply) = self.reply(action) else {
            return Step { reward: 0.0, status: Status::Diverged };
        };
        (self.steps, self.total) = (self.steps + 1, self.total + reply.reward);
        self.flagged |= reply.flagged;
        self.success = reply.success.or(self.success);
        let status = self.status(reply);
        if status == Status::Running {
            self.play_on();
        }
        Step { reward: reply.reward, status }
    }

    fn play_ahead(&mut self, seat: &Seat, steps: u32) {
        let policy = seat.clone().downcast::<Ahead>().ok();
        let policy =
            policy.filter(|policy| self.guest.as_ref().is_some_and(|guest| guest.plays_with(policy)));
        self.ahead = policy.map(|policy| (policy, steps as usize));
        self.play_on();
    }

    fn goal_met(&self) -> Option<bool> {
        self.success
    }

    fn set_parameter(&mut self, name: &str, value: f64) -> Result<(), ParameterError> {
        self.spec.check(name, value)?;
        let is_ahead = self.ahead.as_ref().is_some_and(|(ahead, _)| !ahead.is_used_up());
        assert!(!is_ahead, "an environment that was promised steps without a change was changed");
        let index = self.spec.parameters.iter().position(|p| p.name == name);
        self.ask(|guest, _| guest.set(index.context("a parameter that was checked is there")?, value));
        Ok(())
    }

    /// An environment cannot be copied while it plays; before its first episode there is nothing to copy.
    fn fork(&self) -> Option<Box<dyn Env>> {
        self.guest.is_none().then(|| -> Box<dyn Env> { Box::new(self.pristine(Arc::default())) })
    }

    fn checkout(&self) -> Option<Box<dyn Env + '_>> {
        let mut own = self.pristine(self.failure.clone());
        own.is_checked_out = true;
        Some(Box::new(own))
    }

    fn health(&self) -> Result<(), String> {
        let failure = self.failure.lock().unwrap_or_else(PoisonError::into_inner);
        failure.clone().map_or(Ok(()), Err)
    }

    fn failure_search(&self) -> &dyn FailureSearch {
        self
    }
}

impl FailureSearch for Foreign {
    fn admits(&self, x: &[f64]) -> bool {
        matches!(x, [seed] if seed.fract() == 0.0 && (0.0..SEEDS as f64).contains(seed))
    }
}

impl Drop for Foreign {
    fn drop(&mut self) {
        if let Some(guest) = self.guest.take().filter(Guest::is_welcome) {
            self.host.welcome_back(guest);
        }
    }
}
