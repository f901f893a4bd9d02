//! A hosted environment as an environment.

use crate::foreign::ahead::{self, Ahead};
use crate::foreign::core::Stay;
use crate::foreign::failure::Ended;
use crate::foreign::guest::Guest;
use crate::foreign::host::Host;
use crate::foreign::judging::Judging;
use crate::foreign::repeats::Alike;
use crate::foreign::wanted::Wanted;
use crate::foreign::wire::Reply;
use crate::foreign::{PREFIX, pool};
use anyhow::{Context, Result, anyhow};
use offnominal_core::prelude::*;
use offnominal_work::remarks;
use std::collections::BTreeMap;
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
    /// What is known of it.
    so_far: Ended,
    /// How far its state is from failure, where `info` tells it.
    margin: f64,
    judging: Arc<Judging>,
    /// Parameters that were set, by their places: they hold until they are set again, in this episode and in the next.
    set: BTreeMap<u32, f64>,
}

/// The margin while nobody has told one: no environment is so far from failure.
const UNTOLD: f64 = 1e9;

impl Foreign {
    /// The environment of that name in Gymnasium.
    pub(super) fn open(id: &str) -> Result<Foreign> {
        let environment = format!("{PREFIX}{id}");
        let place = || format!("environment {environment}");
        let host = pool::host(Wanted::read(id).with_context(place)?);
        let described = host.description().with_context(place)?;
        let spec = described.description.spec(&environment, &host.wanted)?;
        let registered = described.description.registered.as_deref();
        let judging = Arc::new(Judging::of(&host.wanted, registered, &described.offered));
        let success = format!("{judging}{}", described.alike.remark());
        host.say_once(&environment, &success);
        let question = judging.question();
        let spec = Arc::new(EnvSpec { success, question, ..spec });
        let (failure, guest, is_checked_out, stay, ahead) = (Arc::default(), None, false, None, None);
        let (obs, success, steps, so_far) = (vec![0.0; spec.obs_width()], None, 0, Ended::default());
        let (margin, set) = (UNTOLD, BTreeMap::new());
        Ok(Foreign {
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
            so_far,
            margin,
            judging,
            set,
        })
    }

    /// The same environment, with the parameters that were set, before its first episode; its failure is told to that one
    /// or not.
    fn pristine(&self, failure: Arc<Mutex<Option<String>>>) -> Foreign {
        let (spec, host, judging) = (self.spec.clone(), self.host.clone(), self.judging.clone());
        let (obs, set) = (vec![0.0; spec.obs_width()], self.set.clone());
        let (guest, is_checked_out, stay, ahead) = (None, false, None, None);
        let (success, steps, so_far, margin) = (None, 0, Ended::default(), UNTOLD);
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
            so_far,
            margin,
            judging,
            set,
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

    /// How the episode stands once the environment has answered.
    fn status(&mut self, reply: Reply) -> Status {
        if reply.truncated && !reply.terminated {
            self.tell_limit();
        }
        let so_far = Ended {
            terminated: reply.terminated,
            flagged: self.so_far.flagged || reply.flagged,
            flagged_last: reply.flagged,
            total: self.so_far.total + reply.reward,
        };
        self.so_far = so_far;
        let (status, success) = self.judging.status(reply, so_far, self.steps >= self.spec.horizon);
        self.success = success.or(self.success);
        // Whoever follows it finds out whether it agrees with the rule.
        self.margin = reply.margin.min(UNTOLD);
        status
    }

    /// The place of a parameter.
    fn place(&self, name: &str) -> Option<u32> {
        let place = self.spec.parameters.iter().position(|p| p.name == name)?;
        u32::try_from(place).ok()
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
    described.description.shape.clone()
}

/// Whether two different seeds began the same episode of the environment of that name, and nothing was seen to be drawn.
pub(super) fn begins_alike(id: &str) -> bool {
    let described = Wanted::read(id).and_then(|wanted| pool::host(wanted).description());
    described.is_ok_and(|described| described.alike == Alike::Yes)
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
        (self.ahead, self.success, self.steps, self.so_far) = (None, None, 0, Ended::default());
        self.guest = self.guest.take().filter(Guest::is_welcome);
        self.obs.fill(0.0);
        if self.guest.is_none() {
            self.guest = self.host.guest().map_err(|why| self.fail(&why)).ok();
        }
        let (seed, set) = (x[0] as u64, self.set.clone().into_iter().collect::<Vec<_>>());
        let reply = self.ask(|guest, obs| guest.reset(seed, &set, obs));
        self.success = reply.and_then(|reply| reply.success);
        self.margin = reply.map_or(UNTOLD, |reply| reply.margin.min(UNTOLD));
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
        self.steps += 1;
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
        let Some(index) = self.place(name) else { return Ok(()) };
        // Without an episode it is kept for the next one, whose reset sets it.
        self.set.insert(index, value);
        self.ask(|guest, _| guest.set(index, value));
        Ok(())
    }

    /// What a process sets it reads back, and what it does not find there again fails the episode.
    fn parameter(&self, name: &str) -> Option<f64> {
        let nominal = self.spec.parameter(name).ok()?.nominal;
        Some(self.set.get(&self.place(name)?).copied().unwrap_or(nominal))
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
    /// A seed is a name: nothing can be learned from its digits.
    fn features(&self, _: &[f64]) -> Vec<f64> {
        vec![]
    }

    /// Another seed, or the same one: none is nearer than others.
    fn vary(&self, x: &[f64], rng: &mut Rng) -> Option<Vec<f64>> {
        Some(if rng.uniform() < 0.5 { self.draw(rng) } else { x.to_vec() })
    }

    fn margin(&self) -> Option<f64> {
        self.host.wanted.margin.as_ref().map(|_| self.margin)
    }

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
