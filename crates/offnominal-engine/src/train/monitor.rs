//! What a user sees of a training run: a bar, or lines where nobody watches a bar, and event files.

use crate::context::Context;
use crate::progress::Task;
use crate::train::Folder;
use anyhow::Result;
use offnominal_agents::{Evaluation, Progress, TrainConfig, Trainer};
use offnominal_files::tensorboard::EventFile;
use std::time::Instant;

/// The displays of a run.
pub(super) struct Monitor {
    task: Task,
    events: EventFile,
    begun: Instant,
    first_step: u64,
    last: Option<Evaluation>,
}

impl Monitor {
    /// A bar that stands where the run stands, and a new event file.
    pub(super) fn new(trainer: &Trainer, folder: &Folder, context: &Context) -> Result<Monitor> {
        let work = trainer.steps()..trainer.config().steps;
        let task = context.resumed(work, "training");
        let last = trainer.best().map(|(found, _)| *found);
        let (events, begun) = (EventFile::create(folder.path())?, Instant::now());
        Ok(Monitor { task, events, begun, first_step: trainer.steps(), last })
    }

    /// Shows where the run stands; an evaluation also goes into the event file and, where lines are written, makes one.
    pub(super) fn show(&mut self, progress: &Progress, config: &TrainConfig) -> Result<()> {
        self.last = progress.evaluation.or(self.last);
        self.task.set_position(progress.steps);
        let line = self.line(progress);
        if progress.evaluation.is_some() {
            self.record(progress, config)?;
            self.task.milestone(&format!("step {} of {} · {line}", progress.steps, config.steps));
        }
        self.task.set_message(&line);
        Ok(())
    }

    /// The evaluation, or else the training episodes, in words.
    fn line(&self, progress: &Progress) -> String {
        let (total, success) = match self.last {
            Some(found) => (Some(found.mean_return), found.success),
            None => (progress.mean_return, progress.success),
        };
        let percent = |s: f64| format!(" · success {:.0} %", 100.0 * s);
        format!(
            "return {}{} · {:.0} steps/s",
            total.map_or("–".into(), |r| format!("{r:.1}")),
            success.map_or(String::new(), percent),
            self.steps_per_sec(progress)
        )
    }

    fn steps_per_sec(&self, progress: &Progress) -> f64 {
        (progress.steps - self.first_step) as f64 / self.begun.elapsed().as_secs_f64().max(1e-3)
    }

    fn record(&mut self, progress: &Progress, config: &TrainConfig) -> Result<()> {
        let losses = progress.losses;
        let mut values = vec![
            ("train/critic_loss", losses.critic),
            ("train/actor_loss", losses.actor),
            ("train/temperature", losses.temperature),
            ("train/entropy", losses.entropy),
            ("train/value", losses.value),
            ("train/learning_rate", config.lr_at(progress.steps)),
            ("time/steps_per_second", self.steps_per_sec(progress)),
        ];
        let maybe = [
            ("rollout/return", progress.mean_return),
            ("rollout/success", progress.success),
            ("eval/return", progress.evaluation.map(|e| e.mean_return)),
            ("eval/success", progress.evaluation.and_then(|e| e.success)),
        ];
        values.extend(maybe.into_iter().filter_map(|(tag, value)| value.map(|v| (tag, v))));
        self.events.scalars(progress.steps, &values)
    }
}
