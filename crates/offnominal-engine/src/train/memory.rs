//! What a run keeps besides its policy: the history of its episodes, and the policies on the way.

use crate::train::{Folder, Keepsakes};
use anyhow::{Context, Result, ensure};
use offnominal_agents::history::Run;
use offnominal_agents::{History, Trainer};
use offnominal_core::env::Env;
use offnominal_files::read;
use offnominal_files::write::atomically;

/// What has been kept.
pub(super) struct Memory {
    keepsakes: Keepsakes,
    history: History,
}

impl Memory {
    /// Nothing yet.
    pub(super) fn begin(trainer: &Trainer, env: &dyn Env, keepsakes: Keepsakes) -> Memory {
        Memory { keepsakes, history: History::new(run(trainer, env)) }
    }

    /// What the folder holds, up to the step of the checkpoint.
    ///
    /// # Errors
    /// If the history is missing, damaged, or that of another run.
    pub(super) fn resume(
        trainer: &Trainer,
        env: &dyn Env,
        keepsakes: Keepsakes,
        folder: &Folder,
    ) -> Result<Memory> {
        let mut memory = Memory::begin(trainer, env, keepsakes);
        if keepsakes.history {
            let path = folder.history();
            let bytes = read::bytes(&path)?;
            let found = History::from_bytes(&bytes).with_context(|| path.display().to_string())?;
            let same = Run { steps: memory.history.run.steps, ..found.run };
            ensure!(
                same == memory.history.run,
                "{}: expected the history of a run with seed {} in {}, found seed {} in {}",
                path.display(),
                memory.history.run.seed.0,
                memory.history.run.env,
                same.seed.0,
                same.env
            );
            memory.history.episodes = found.episodes;
            memory.history.forget_after(trainer.steps());
        }
        Ok(memory)
    }

    /// Steps until the next policy is due.
    pub(super) fn until_next(&self, trainer: &Trainer) -> u64 {
        let (n, all, now) = (self.keepsakes.checkpoints, trainer.config().steps, trainer.steps());
        (1..=n).map(|i| due(i, n, all)).find(|&step| step > now).map_or(u64::MAX, |step| step - now)
    }

    /// Takes the episodes that ended, and writes the policy if it is due.
    pub(super) fn take(&mut self, trainer: &mut Trainer, folder: &Folder) -> Result<()> {
        let ended = trainer.take_ended();
        if self.keepsakes.history {
            self.history.episodes.extend(ended);
        }
        let (n, all, now) = (self.keepsakes.checkpoints, trainer.config().steps, trainer.steps());
        if (1..=n).any(|i| due(i, n, all) == now) {
            atomically(&folder.policy_at(now), &trainer.actor().to_bytes())?;
        }
        Ok(())
    }

    /// Writes the history.
    pub(super) fn write(&self, folder: &Folder) -> Result<()> {
        if !self.keepsakes.history {
            return Ok(());
        }
        atomically(&folder.history(), &self.history.to_bytes())
    }
}

/// The step at which policy `i` of `n` is due.
fn due(i: u64, n: u64, steps: u64) -> u64 {
    (steps as u128 * u128::from(i) / u128::from(n)) as u64
}

fn run(trainer: &Trainer, env: &dyn Env) -> Run {
    Run {
        env: env.spec().id.clone(),
        initial: env.spec().initial.clone(),
        algorithm: trainer.config().algorithm.clone(),
        seed: trainer.seed(),
        steps: trainer.config().steps,
    }
}
