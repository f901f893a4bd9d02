//! The processes that host the environments of one id and the policies that act in them, and those that wait for an
//! episode.

use crate::foreign::PREFIX;
use crate::foreign::actor::{About, Actor};
use crate::foreign::describe::Description;
use crate::foreign::guest::Guest;
use crate::foreign::line::Line;
use crate::foreign::repeats::Alike;
use crate::foreign::wanted::{Fresh, Wanted, WantedPolicy};
use crate::foreign::wire::Request;
use crate::foreign::worker::Worker;
use anyhow::{Context, Result, ensure};
use offnominal_files::confined;
use offnominal_work::parallel::default_jobs;
use offnominal_work::remarks;
use std::cell::RefCell;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

thread_local! {
    /// The process of the environment in which this thread plays.
    static NEAR: RefCell<Weak<Worker>> = const { RefCell::new(Weak::new()) };
}

/// Makes environments of one id, as many as episodes are played at a time, and policies beside them.
pub(super) struct Host {
    /// What is asked for.
    pub(super) wanted: Wanted,
    python: PathBuf,
    /// Declared before the processes: environments and policies go first.
    idle: Mutex<Vec<Guest>>,
    waiting: Mutex<Vec<(WantedPolicy, Actor)>>,
    workers: Mutex<Vec<Arc<Worker>>>,
    described: Mutex<Option<Arc<Described>>>,
    /// Whether each episode needs an environment of its own, as a check found.
    is_fresh_needed: AtomicBool,
    /// Whether the environment has ended an episode itself.
    has_cut: AtomicBool,
    /// Whether it was said by what its episodes fail.
    has_said: AtomicBool,
    /// Why no environment is made any longer.
    closed: Mutex<Option<String>>,
}

/// What an environment says of itself, and what its `info` was seen to offer.
pub(super) struct Described {
    pub(super) description: Description,
    pub(super) offered: Vec<String>,
    /// Whether two seeds began the same episode.
    pub(super) alike: Alike,
}

impl Host {
    /// A host without a process yet.
    pub(super) fn new(wanted: Wanted, python: PathBuf) -> Host {
        let (idle, waiting, workers) = (Mutex::default(), Mutex::default(), Mutex::default());
        let (described, closed) = (Mutex::default(), Mutex::default());
        let [is_fresh_needed, has_cut, has_said] = [(); 3].map(|()| AtomicBool::new(false));
        Host { wanted, python, idle, waiting, workers, described, closed, is_fresh_needed, has_cut, has_said }
    }

    /// An environment for an episode: one that waits, or a new one.
    ///
    /// # Errors
    /// If a new one cannot be made.
    pub(super) fn guest(&self) -> Result<Guest> {
        self.check()?;
        let waiting = {
            let mut idle = held(&self.idle);
            idle.retain(Guest::is_welcome);
            idle.pop()
        };
        waiting.map_or_else(|| Ok(self.invite()?.0), Ok)
    }

    /// What the environment says of itself.
    ///
    /// # Errors
    /// If it cannot be made.
    pub(super) fn description(&self) -> Result<Arc<Described>> {
        if let Some(known) = held(&self.described).clone() {
            return Ok(known);
        }
        let (guest, description) = self.invite()?;
        let (offered, alike) = self.check_seed(guest)?;
        let described = Arc::new(Described { description, offered, alike });
        *held(&self.described) = Some(described.clone());
        Ok(described)
    }

    /// Finds out whether a seed repeats its episode, and gives each episode an environment of its own where it needs
    /// one. Returns the keys of `info` that were seen meanwhile, and whether another seed began the same episode.
    ///
    /// # Errors
    /// If nothing repeats an episode.
    fn check_seed(&self, mut guest: Guest) -> Result<(Vec<String>, Alike)> {
        let name = format!("{PREFIX}{}", self.wanted.id);
        let checked = self.wanted.is_checked.then(|| guest.check()).transpose();
        if let Err(why) = &checked {
            self.close_if_late(guest.line().worker(), why);
        }
        let checked = checked?;
        let advice = checked.as_ref().map(|found| found.advice(&name)).transpose()?.flatten();
        match advice.filter(|_| self.wanted.fresh != Fresh::Never) {
            Some(advice) => {
                remarks::say(advice);
                self.is_fresh_needed.store(true, Ordering::Relaxed);
            }
            None => self.welcome_back(guest),
        }
        Ok(checked.map(|found| (found.offered, found.alike)).unwrap_or_default())
    }

    /// A new environment, and what it says of itself.
    ///
    /// # Errors
    /// If it cannot be made; the message names the interpreter.
    fn invite(&self) -> Result<(Guest, Description)> {
        let is_fresh = self.wanted.fresh.is_asked_for() || self.is_fresh_needed.load(Ordering::Relaxed);
        let wanted = self.wanted.json(is_fresh);
        self.made(|worker| Guest::invite(worker, &wanted, self.wanted.limit))
    }

    /// A policy for an episode: one that waits, or a new one.
    ///
    /// # Errors
    /// If a new one cannot be made.
    pub(super) fn actor(&self, policy: &WantedPolicy) -> Result<Actor> {
        self.check()?;
        let near = self.near();
        let is_near =
            |actor: &Actor| near.as_ref().is_none_or(|near| Arc::ptr_eq(near, actor.line().worker()));
        let waiting = {
            let mut waiting = held(&self.waiting);
            waiting.retain(|(_, actor)| actor.is_welcome());
            let at = waiting.iter().position(|(known, actor)| known == policy && is_near(actor));
            at.map(|at| waiting.swap_remove(at).1)
        };
        waiting.map_or_else(|| Ok(self.seat(policy)?.0), Ok)
    }

    /// Policies that this thread asks for next are to act in the process of an environment, which takes turns with them.
    pub(super) fn stay_near(guest: &Guest) {
        NEAR.set(Arc::downgrade(guest.line().worker()));
    }

    /// A new policy, and what it says of itself.
    ///
    /// # Errors
    /// As [`Host::invite`].
    pub(super) fn seat(&self, policy: &WantedPolicy) -> Result<(Actor, About)> {
        let wanted = policy.json(&self.wanted);
        let worker = self.near().map_or_else(|| self.worker(), Ok);
        self.made_in(worker, |worker| Actor::invite(worker, &wanted, self.wanted.limit, policy.commands))
    }

    /// Makes something in a process.
    fn made<T>(&self, make: impl FnOnce(Arc<Worker>) -> Result<T>) -> Result<T> {
        self.made_in(self.worker(), make)
    }

    fn made_in<T>(
        &self,
        worker: Result<Arc<Worker>>,
        make: impl FnOnce(Arc<Worker>) -> Result<T>,
    ) -> Result<T> {
        let asked = worker.as_ref().ok().cloned();
        let made = worker.and_then(make);
        if let (Err(why), Some(worker)) = (&made, asked) {
            self.close_if_late(&worker, why);
        }
        made.with_context(|| {
            format!("{} ({} names another one)", self.python.display(), crate::foreign::PYTHON)
        })
    }

    /// Makes nothing any longer if a process did not answer in time: each further one would be waited for anew.
    pub(super) fn close_if_late(&self, worker: &Worker, why: &anyhow::Error) {
        if worker.is_late() {
            held(&self.closed).get_or_insert_with(|| format!("{why:#}"));
        }
    }

    fn check(&self) -> Result<()> {
        let why = held(&self.closed).clone();
        ensure!(why.is_none(), "{} (before; its processes were ended then)", why.unwrap_or_default());
        Ok(())
    }

    /// Whether no episode has ended itself before this one.
    pub(super) fn is_first_cut(&self) -> bool {
        !self.has_cut.swap(true, Ordering::Relaxed)
    }

    /// Says by what an episode fails, if that was not said yet.
    pub(super) fn say_once(&self, id: &str, rule: &str) {
        if !self.has_said.swap(true, Ordering::Relaxed) {
            remarks::say(format!("environment {id}: {rule}"));
        }
    }

    /// Takes an environment back, for the next episode.
    pub(super) fn welcome_back(&self, guest: Guest) {
        if self.has_outgrown(guest.line().worker()) {
            return;
        }
        held(&self.idle).push(guest);
    }

    /// Retires a process that has become too large; another one takes its place.
    fn has_outgrown(&self, worker: &Worker) -> bool {
        const GB: f64 = 1e9;
        let Some(found) = worker.memory().filter(|&bytes| bytes > self.wanted.memory * GB) else {
            return false;
        };
        worker.retire();
        remarks::say(format!(
            "environment {PREFIX}{}: one of its processes had {:.1} GB, more than the {} GB of the option `memory`, and is \
             replaced: it may leak",
            self.wanted.id,
            found / GB,
            self.wanted.memory
        ));
        true
    }

    /// Takes a policy back, for the next episode.
    pub(super) fn keep_waiting(&self, policy: &WantedPolicy, actor: Actor) {
        held(&self.waiting).push((policy.clone(), actor));
    }

    /// Whether it may serve a further command: every process answers, and the user's modules are as they were.
    pub(super) fn is_fresh(&self) -> bool {
        held(&self.closed).is_none() && held(&self.workers).iter().all(|worker| self.is_current(worker))
    }

    fn is_current(&self, worker: &Arc<Worker>) -> bool {
        let asked = Line::open(worker.clone(), self.wanted.limit)
            .and_then(|mut line| Ok(line.ask(Request::HaveChanged, b'V')? == [0]));
        asked.unwrap_or(false)
    }

    /// The process of this host in which the environment of this thread is.
    fn near(&self) -> Option<Arc<Worker>> {
        let near = NEAR.with_borrow(Weak::upgrade)?;
        let is_own = near.is_open() && held(&self.workers).iter().any(|own| Arc::ptr_eq(own, &near));
        is_own.then_some(near)
    }

    /// The process with the fewest environments and policies; a new one as long as there are fewer than cores.
    fn worker(&self) -> Result<Arc<Worker>> {
        let mut workers = held(&self.workers);
        workers.retain(|worker| worker.is_open());
        // Environments first: only one of a process is stepped at a time, and a policy takes turns with its environment.
        let least = workers.iter().min_by_key(|worker| (worker.environments(), Arc::strong_count(worker)));
        // One owner is this list: such a process has no environment and no policy.
        let is_free = least.is_some_and(|worker| Arc::strong_count(worker) == 1);
        if let Some(worker) = least.filter(|_| is_free || workers.len() >= default_jobs()) {
            return Ok(worker.clone());
        }
        confined::may_run(&format!("{PREFIX}{}", self.wanted.id))?;
        let worker = Arc::new(Worker::start(&self.python)?);
        workers.push(worker.clone());
        Ok(worker)
    }
}

/// A panic elsewhere leaves no half-changed list behind.
fn held<T>(list: &Mutex<T>) -> MutexGuard<'_, T> {
    list.lock().unwrap_or_else(PoisonError::into_inner)
}
