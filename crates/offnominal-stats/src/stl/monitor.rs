//! Robustness, sample by sample.
//!
//! Every part of a formula has a value at each time so far: the largest that it can still get. What no later sample can
//! change is *settled* and not computed again, so that a sample costs about as many operations as the longest window has
//! steps. Only `until`, and windows without end inside of others, are looked through from the beginning of the trace.

use super::StlError;
use super::bind::{Look as Looked, Part, Side, Steps, first_only, parts};
use super::formula::Formula;
use super::node::{Equality, Window};
use std::collections::VecDeque;
use std::sync::Arc;

/// A formula over a trace that grows.
#[derive(Debug, Clone)]
pub struct Monitor {
    parts: Arc<[Part]>,
    looks: Arc<[Looked]>,
    is_first_only: Arc<[bool]>,
    traces: Vec<Trace>,
    len: usize,
    candidates: VecDeque<usize>,
}

/// Windows that look behind the end of an episode.
#[derive(Debug, Clone, PartialEq)]
pub struct Beyond {
    /// With nothing of them before the end: `always` asks for nothing there and `eventually` finds nothing, whatever happens.
    pub wholly: Vec<Window>,
    /// With a part of them, wherever they begin.
    pub partly: Vec<Window>,
}

/// The values of a part.
#[derive(Debug, Clone, Default)]
struct Trace {
    values: Vec<f64>,
    /// How many of the first ones no later sample changes.
    settled: usize,
    /// Of a window of which only the first value is asked for: how far it was looked through, and the extreme so far.
    looked: (usize, Option<f64>),
}

impl Monitor {
    /// A formula over signals of these names, with a sample in every `dt_secs` seconds.
    ///
    /// # Errors
    /// If the formula names another signal, or a window holds no step.
    pub fn new(formula: &Formula, signals: &[String], dt_secs: f64) -> Result<Monitor, StlError> {
        let (parts, looks) = parts(formula, signals, dt_secs)?;
        Ok(Monitor {
            looks: looks.into(),
            is_first_only: first_only(&parts).into(),
            traces: vec![Trace::default(); parts.len()],
            parts: parts.into(),
            len: 0,
            candidates: VecDeque::new(),
        })
    }

    /// The windows that look behind an episode of so many steps, from wherever the formula asks for them.
    pub fn beyond(&self, horizon: usize) -> Beyond {
        let of = |looks: &dyn Fn(Steps) -> bool| -> Vec<Window> {
            self.looks.iter().filter(|look| looks(look.steps)).map(|look| look.window).collect()
        };
        let is_whole = |steps: Steps| steps.first > horizon;
        let is_part = |steps: Steps| !is_whole(steps) && steps.last.is_some_and(|last| last > horizon);
        Beyond { wholly: of(&is_whole), partly: of(&is_part) }
    }

    /// Whether the formula has a window of seconds.
    pub fn is_timed(&self) -> bool {
        self.looks.iter().any(|look| look.window != Window::EVER)
    }

    /// Begins a new trace.
    pub fn start(&mut self) {
        self.len = 0;
        for trace in &mut self.traces {
            trace.values.clear();
            (trace.settled, trace.looked) = (0, (0, None));
        }
    }

    /// Reads a sample.
    ///
    /// # Panics
    /// If it has fewer numbers than there are signals.
    pub fn push(&mut self, sample: &[f64]) {
        self.len += 1;
        for (part, trace) in self.parts.iter().zip(&mut self.traces) {
            if let Part::Above(term, equality) = part {
                trace.values.push(room(term.value(sample), *equality));
            }
        }
        self.look(f64::INFINITY);
        for i in 0..self.parts.len() {
            self.traces[i].settled = settled(&self.parts[i], &self.traces, self.len);
        }
    }

    /// The largest robustness that the trace can still get; infinity where nothing is decided.
    pub fn robustness(&self) -> f64 {
        let first = self.traces.last().and_then(|root| root.values.first());
        first.copied().unwrap_or(f64::INFINITY)
    }

    /// The robustness of the trace, which is over.
    pub fn finish(&mut self) -> f64 {
        self.look(f64::NEG_INFINITY);
        self.robustness()
    }

    /// Computes what is not settled, where `eventually` and `until` find `unseen` behind the end.
    fn look(&mut self, unseen: f64) {
        if self.len == 0 {
            return;
        }
        for i in 0..self.parts.len() {
            let (inner, at) = self.traces.split_at_mut(i);
            let look = Look { inner, len: self.len, unseen };
            let trace = &mut at[0];
            match (&self.parts[i], self.is_first_only[i]) {
                (Part::Above(..), _) => {}
                (Part::Both(side, a, b), first_only) => look.both(*side, [*a, *b], trace, first_only),
                (Part::Window(side, steps, a), true) => look.first(*side, *steps, &inner[*a], trace),
                (Part::Window(side, steps, a), false) => {
                    look.slide(*side, *steps, &inner[*a].values, trace, &mut self.candidates);
                }
                (Part::Until(side, a, b), _) => look.until(*side, [*a, *b], trace),
            }
        }
    }
}

/// By how much a comparison holds. What is no number does not hold, nor does its contrary. The smallest number above zero
/// stands for an equality that holds, so that all that is above zero holds and nothing else does.
fn room(value: f64, equality: Equality) -> f64 {
    match equality {
        _ if value.is_nan() => f64::NEG_INFINITY,
        Equality::Holds if value == 0.0 => f64::MIN_POSITIVE,
        _ => value,
    }
}

/// How many of the first values of a part no later sample changes.
fn settled(part: &Part, traces: &[Trace], len: usize) -> usize {
    match *part {
        Part::Above(..) => len,
        Part::Both(_, a, b) => traces[a].settled.min(traces[b].settled),
        Part::Window(_, steps, a) => steps.last.map_or(0, |last| traces[a].settled.saturating_sub(last)),
        Part::Until(..) => 0,
    }
}

/// The parts that others are made of, at a length of the trace.
struct Look<'t> {
    inner: &'t [Trace],
    len: usize,
    unseen: f64,
}

impl Look<'_> {
    /// What stands behind the end of the trace: `always` asks for nothing there.
    fn unseen(&self, side: Side) -> f64 {
        match side {
            Side::Smaller => side.neutral(),
            Side::Larger => self.unseen,
        }
    }

    fn both(&self, side: Side, pair: [usize; 2], trace: &mut Trace, first_only: bool) {
        let len = if first_only { 1 } else { self.len };
        trace.values.resize(len, side.neutral());
        let [a, b] = pair.map(|i| &self.inner[i].values);
        for t in trace.settled.min(len - 1)..len {
            trace.values[t] = side.of(a[t], b[t]);
        }
    }

    /// The first value of a window: what is settled is looked at once.
    fn first(&self, side: Side, steps: Steps, inner: &Trace, trace: &mut Trace) {
        let end = steps.last.map_or(self.len, |last| self.len.min(last + 1));
        let (mut looked, mut extreme) = trace.looked;
        let all = |from: usize, to: usize, extreme: Option<f64>| {
            let values = inner.values.get(from.max(steps.first)..to).unwrap_or_default();
            values.iter().copied().chain(extreme).reduce(|a, b| side.of(a, b))
        };
        let settled = inner.settled.min(end);
        if settled > looked {
            (extreme, looked) = (all(looked, settled, extreme), settled);
            trace.looked = (looked, extreme);
        }
        let seen = all(looked, end, extreme);
        let is_seen = steps.last.is_some_and(|last| last < self.len);
        let unseen = if is_seen { side.neutral() } else { self.unseen(side) };
        trace.values.clear();
        trace.values.push(side.of(seen.unwrap_or(side.neutral()), unseen));
    }

    /// The values of a window, from the last time to the first that is not settled. Of the places in it only those are
    /// kept whose values may become its extreme: further back in the list they are later in time and more extreme.
    fn slide(
        &self,
        side: Side,
        steps: Steps,
        inner: &[f64],
        trace: &mut Trace,
        candidates: &mut VecDeque<usize>,
    ) {
        trace.values.resize(self.len, side.neutral());
        candidates.clear();
        for t in (trace.settled..self.len).rev() {
            let (first, last) = (t + steps.first, steps.last.map_or(usize::MAX, |last| t + last));
            while candidates.front().is_some_and(|&k| k > last) {
                candidates.pop_front();
            }
            if let Some(&next) = inner.get(first) {
                while candidates.back().is_some_and(|&k| side.of(inner[k], next) == next) {
                    candidates.pop_back();
                }
                candidates.push_back(first);
            }
            let seen = candidates.front().map_or(side.neutral(), |&k| inner[k]);
            let unseen = if last < self.len { side.neutral() } else { self.unseen(side) };
            trace.values[t] = side.of(seen, unseen);
        }
    }

    /// u(t) = q(t) or (p(t) and u(t + 1)).
    fn until(&self, side: Side, pair: [usize; 2], trace: &mut Trace) {
        trace.values.resize(self.len, side.neutral());
        let [p, q] = pair.map(|i| &self.inner[i].values);
        let mut next = self.unseen(side);
        for t in (0..self.len).rev() {
            next = side.of(q[t], side.other().of(p[t], next));
            trace.values[t] = next;
        }
    }
}
