//! A monitor on a stream that is being recorded: verdicts as JSON lines, each as soon as its step is over.

use crate::live::{self, Tick, Ticks};
use crate::mapping::Mapping;
use crate::score::remarks::unknown_task;
use anyhow::{Result, anyhow};
use offnominal_core::transition::Transition;
use offnominal_live::{Live, TickInput};
use offnominal_monitor::{Monitor, VerdictLine};
use offnominal_work::remarks;
use std::io::{BufRead, Write};

/// Watches a stream until its end; `beside` is told the ticks too. If the monitor has groups, the episodes are of the given one, else
/// of their tasks as the mapping names them. How many rows were dropped.
///
/// # Errors
/// If the monitor has no such group, the stream is damaged (in any part, where that is asked for) or lacks a channel of the mapping, or nobody reads the verdicts.
pub fn watch(
    mut monitor: Monitor,
    group: Option<String>,
    (mapping, strict): (&Mapping, bool),
    from: impl BufRead + 'static,
    out: impl Write,
    beside: &mut Live,
) -> Result<u64> {
    let before = Before { start_nanos: 0, observation: Vec::new(), command: Vec::new() };
    // A wrong name is said before anything comes.
    monitor.begin(group.as_deref())?;
    live::read(
        from,
        mapping,
        strict,
        Watching { monitor, group, out, beside, episodes: 0, has_steps: false, before },
    )
}

struct Watching<'l, W> {
    monitor: Monitor,
    group: Option<String>,
    out: W,
    beside: &'l mut Live,
    /// Episodes that have had a step.
    episodes: u64,
    /// Whether the present one has.
    has_steps: bool,
    before: Before,
}

/// The tick before.
struct Before {
    start_nanos: i64,
    observation: Vec<f64>,
    command: Vec<f64>,
}

impl<W: Write> Ticks for Watching<'_, W> {
    fn tick(&mut self, tick: Tick<'_>) -> Result<()> {
        if tick.is_first {
            self.begin(tick.task)?;
            self.has_steps = false;
            self.before.start_nanos = tick.time_nanos;
            self.beside.first(&seen(&tick, self.episodes));
        } else {
            self.step(&tick)?;
        }
        self.before.observation.clear();
        self.before.observation.extend_from_slice(tick.observation);
        self.before.command.clear();
        self.before.command.extend_from_slice(tick.command);
        Ok(())
    }
}

impl<W: Write> Watching<'_, W> {
    fn begin(&mut self, task: Option<&str>) -> Result<()> {
        if self.group.is_some() {
            return Ok(self.monitor.begin(self.group.as_deref())?);
        }
        if !self.monitor.begin_task(task) {
            task.iter().for_each(|task| remarks::say(unknown_task(task)));
        }
        Ok(())
    }

    fn step(&mut self, tick: &Tick<'_>) -> Result<()> {
        self.episodes += u64::from(!std::mem::replace(&mut self.has_steps, true));
        let Before { start_nanos, observation, command } = &self.before;
        let transition = Transition { obs: observation, action: command, next_obs: tick.observation };
        let acknowledged = self.beside.is_acknowledged() && self.monitor.acknowledge().is_some();
        let mut verdict = self.monitor.transition(&transition)?;
        let secs = (tick.time_nanos - start_nanos) as f64 * 1e-9;
        verdict.beyond_promise |= self.monitor.about().is_other_pace(secs, verdict.step + 1);
        let said = VerdictLine {
            time_nanos: Some(tick.time_nanos),
            secs: Some(secs),
            dropped: tick.dropped,
            acknowledged,
            ..self.monitor.line(verdict, self.episodes - 1)
        };
        let mut tell = || -> Result<()> {
            serde_json::to_writer(&mut self.out, &said)?;
            writeln!(self.out)?;
            Ok(self.out.flush()?)
        };
        tell().map_err(|why| anyhow!("the verdict at {secs:.3} s cannot be told: {why}"))?;
        self.beside.step(&seen(tick, said.episode), &said);
        Ok(())
    }
}

fn seen<'t>(tick: &Tick<'t>, episode: u64) -> TickInput<'t> {
    let Tick { time_nanos, observation, command, .. } = *tick;
    TickInput { time_nanos, episode, observation, action: Some(command) }
}
