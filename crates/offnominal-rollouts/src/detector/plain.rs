//! Detectors that need no training: baselines, and signals with an accumulator.

use super::{Fitted, Lesson, Scorer, Seen, Start};
use anyhow::Result;
use offnominal_core::Seed;
use offnominal_core::archive::{ArchiveError, Reader, Writer};

/// Weight of a new value in the exponentially weighted mean.
const EWMA: f64 = 0.1;

/// What is made of a signal up to a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Accumulator {
    /// The value at the step.
    Last,
    /// The largest so far.
    Max,
    /// The mean so far.
    Mean,
    /// The sum so far.
    Sum,
    /// The exponentially weighted mean.
    Ewma,
}

impl Accumulator {
    /// Its name in a detector.
    pub fn name(self) -> &'static str {
        match self {
            Accumulator::Last => "last",
            Accumulator::Max => "max",
            Accumulator::Mean => "mean",
            Accumulator::Sum => "sum",
            Accumulator::Ewma => "ewma",
        }
    }

    /// The accumulator of that name.
    pub fn named(name: &str) -> Option<Accumulator> {
        let all = [Accumulator::Max, Accumulator::Mean, Accumulator::Sum, Accumulator::Ewma];
        all.into_iter().find(|accumulator| accumulator.name() == name)
    }

    /// What becomes of values.
    pub fn of(self, values: &[f64]) -> Vec<f64> {
        let mut running = Running::new(self);
        values.iter().map(|&x| running.next(x)).collect()
    }
}

/// An accumulator at work.
#[derive(Debug, Clone)]
pub struct Running {
    of: Accumulator,
    state: Option<f64>,
    n: f64,
}

impl Running {
    /// Before the first value.
    pub fn new(of: Accumulator) -> Running {
        Running { of, state: None, n: 0.0 }
    }

    /// What has become of the values with one more.
    pub fn next(&mut self, x: f64) -> f64 {
        self.n += 1.0;
        let before = self.state.unwrap_or(match self.of {
            Accumulator::Sum | Accumulator::Mean => 0.0,
            _ => x,
        });
        let now = match self.of {
            Accumulator::Last => x,
            Accumulator::Max => x.max(before),
            Accumulator::Sum | Accumulator::Mean => before + x,
            Accumulator::Ewma => (1.0 - EWMA) * before + EWMA * x,
        };
        self.state = Some(now);
        if self.of == Accumulator::Mean { now / self.n } else { now }
    }
}

/// The number of the step.
pub(super) struct Clock;

impl Fitted for Clock {
    fn begin(&self, _: &Start<'_>) -> Result<Box<dyn Scorer>> {
        let mut steps = 0.0;
        Ok(Box::new(move |_: Seen<'_>| {
            steps += 1.0;
            steps - 1.0
        }))
    }

    fn save(&self, _: &mut Writer<'_>) {}
}

/// Uniform numbers of the rollout's own stream.
pub(super) struct Random(pub(super) Seed);

impl Random {
    pub(super) fn load(from: &Reader<'_>) -> Result<Random, ArchiveError> {
        Ok(Random(Seed(from.one("seed")?)))
    }
}

impl Fitted for Random {
    fn begin(&self, start: &Start<'_>) -> Result<Box<dyn Scorer>> {
        let mut rng = self.0.child("random").child(start.number).rng();
        Ok(Box::new(move |_: Seen<'_>| rng.uniform()))
    }

    fn save(&self, to: &mut Writer<'_>) {
        to.put("seed", &[self.0.0]);
    }
}

/// The share of failures of the task among the rollouts that are learned from, or of all tasks if the task is not among
/// them. Where nothing is learned from, it is the share among the judged rollouts themselves: what a row knows that was told
/// the outcomes of all tasks, and nothing else.
pub(super) struct TaskPrior {
    /// Of each task.
    shares: Vec<f64>,
    /// Of all tasks.
    overall: f64,
}

impl TaskPrior {
    pub(super) fn fit(lesson: &Lesson<'_>) -> TaskPrior {
        let n = lesson.data.tasks.len();
        let (mut failures, mut all) = (vec![0.0; n], vec![0.0; n]);
        let part = lesson.part;
        for &i in if part.train.is_empty() { &part.test } else { &part.train } {
            let r = &lesson.data.rollouts[i];
            failures[r.task] += f64::from(u8::from(r.fails));
            all[r.task] += 1.0;
        }
        let overall = failures.iter().sum::<f64>() / all.iter().sum::<f64>().max(1.0);
        let share = |task: usize| if all[task] > 0.0 { failures[task] / all[task] } else { overall };
        TaskPrior { shares: (0..n).map(share).collect(), overall }
    }

    pub(super) fn load(from: &Reader<'_>, n_tasks: usize) -> Result<TaskPrior, ArchiveError> {
        Ok(TaskPrior { shares: from.exactly("shares", n_tasks)?.to_vec(), overall: from.one("overall")? })
    }
}

impl Fitted for TaskPrior {
    fn begin(&self, start: &Start<'_>) -> Result<Box<dyn Scorer>> {
        let share = start.task.map_or(self.overall, |task| self.shares[task]);
        Ok(Box::new(move |_: Seen<'_>| share))
    }

    fn save(&self, to: &mut Writer<'_>) {
        to.put("shares", &self.shares);
        to.put("overall", &[self.overall]);
    }
}

/// A signal by its place.
pub(super) struct Signal {
    pub(super) accumulator: Accumulator,
    pub(super) place: usize,
}

impl Fitted for Signal {
    fn begin(&self, _: &Start<'_>) -> Result<Box<dyn Scorer>> {
        let (mut running, place) = (Running::new(self.accumulator), self.place);
        Ok(Box::new(move |seen: Seen<'_>| running.next(seen.signals[place])))
    }

    fn save(&self, _: &mut Writer<'_>) {}
}

/// The negative of another.
pub(super) struct Negative(pub(super) Box<dyn Fitted>);

impl Fitted for Negative {
    fn begin(&self, start: &Start<'_>) -> Result<Box<dyn Scorer>> {
        let mut of = self.0.begin(start)?;
        Ok(Box::new(move |seen: Seen<'_>| -of.step(seen)))
    }

    fn save(&self, to: &mut Writer<'_>) {
        self.0.save(&mut to.part("of"));
    }
}
