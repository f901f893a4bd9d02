//! Training a policy: the loop around [`Trainer`] with its files, clock and progress bar.
//!
//! The folder of a run holds `checkpoint.safetensors` (replaced as a whole, so that the run may be killed at any
//! moment), `training.json` (what belongs to the checkpoint and the trainer does not know), TensorBoard event files and,
//! at the end, `policy.safetensors` with its card `policy.json`. On request also `history.safetensors`, what became of
//! each episode, and `policies/`, the policy as it was at evenly spaced steps.

mod augmentation;
mod folder;
mod memory;
mod monitor;
mod request;

use crate::context::Context;
use crate::evaluation;
use crate::noise;
use crate::policies;
use crate::provenance;
use crate::scenario::Scenario;
use anyhow::{Context as _, Result, ensure};
use augmentation::Anomalies;
use folder::Notes;
pub use folder::{Folder, Keepsakes};
use memory::Memory;
use monitor::Monitor;
use offnominal_agents::{Actor, Card, Evaluation, Progress, TrainConfig, Trainer};
use offnominal_core::Seed;
use offnominal_core::env::Env;
use offnominal_core::policy::Policy;
use offnominal_worlds::demonstrator;
pub use request::{Request, Trained, run};
use sha2::{Digest, Sha256};
use std::time::{Duration, Instant};

/// Steps between looks at the clock.
const CHUNK: u64 = 100;
/// Longest time between checkpoints where evaluations are rarer.
const CHECKPOINT_EVERY: Duration = Duration::from_secs(120);
/// Episodes behind the numbers of a card, and where the environment shows images: an episode there is long and
/// says more.
const CARD_EPISODES: [usize; 2] = [200, 40];

/// What the files of a run say of it, and its policy does not.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Given {
    /// The command, as the card will have it.
    pub command: String,
    /// What is drawn of the environment for each episode, and by what one fails.
    pub scenario: Option<Scenario>,
    /// The policy that plays demonstrations; the environment's scripted one, if none.
    pub demonstrator: Option<String>,
}

/// A run: trainer, folder, and the time it took before.
pub struct Run {
    trainer: Trainer,
    folder: Folder,
    notes: Notes,
    memory: Memory,
    begun: Instant,
}

impl Run {
    /// A run from the beginning.
    ///
    /// # Errors
    /// If the recipe is wrong, the environment cannot be copied, or the folder already holds a run.
    pub fn begin(
        config: TrainConfig,
        env: &dyn Env,
        seed: Seed,
        folder: Folder,
        given: Given,
        keepsakes: Keepsakes,
    ) -> Result<Run> {
        ensure!(
            !folder.has_checkpoint(),
            "{} already holds a run: continue it with --resume, or choose another --out",
            folder.path().display()
        );
        let trainer = equipped(Trainer::new(config, env, seed)?, env, given.demonstrator.as_deref())?;
        let trainer = trainer.remembering();
        let memory = Memory::begin(&trainer, env, keepsakes);
        let Given { command, scenario, demonstrator } = given;
        let simulator = provenance::hosted(env.spec());
        let notes = Notes { command, seconds: 0.0, keepsakes, simulator, scenario, demonstrator };
        Ok(Run { trainer, folder, notes, memory, begun: Instant::now() })
    }

    /// Continues the run in a folder; a number of steps extends or shortens it, also in the command on the card.
    /// A seed of 0 counts as not given.
    ///
    /// # Errors
    /// If the folder holds no run, or a damaged one, or one of another environment or seed.
    pub fn resume(env: &dyn Env, folder: Folder, steps: Option<u64>, seed: Seed) -> Result<Run> {
        let (bytes, mut notes) = folder.read()?;
        let mut trainer =
            Trainer::resume(&bytes, env).with_context(|| folder.checkpoint().display().to_string())?;
        check_seed(seed, trainer.seed(), &folder)?;
        provenance::check_hosted(env.spec(), notes.simulator.as_deref())
            .with_context(|| folder.path().display().to_string())?;
        if let Some(steps) = steps {
            trainer.extend_to(steps);
            notes.command = with_steps(&notes.command, steps.max(trainer.steps()));
        }
        let trainer = equipped(trainer, env, notes.demonstrator.as_deref())?.remembering();
        let memory = Memory::resume(&trainer, env, notes.keepsakes, &folder)?;
        Ok(Run { trainer, folder, notes, memory, begun: Instant::now() })
    }

    /// Trains to the end, evaluates the best actor and writes it with its card.
    ///
    /// # Errors
    /// If a file cannot be written.
    pub fn finish(mut self, env: &dyn Env, context: &Context) -> Result<Card> {
        self.train(context)?;
        let (found, actor) = self.best();
        let card = self.card(env, &found, &actor, context)?;
        self.folder.write_policy(&actor.to_bytes(), &card)?;
        Ok(card)
    }

    /// Trains to the end; a run that is there already adds no event file.
    fn train(&mut self, context: &Context) -> Result<()> {
        if self.trainer.is_done() {
            return Ok(());
        }
        let mut monitor = Monitor::new(&self.trainer, &self.folder, context)?;
        let mut saved = Instant::now();
        while !self.trainer.is_done() {
            let n = CHUNK.min(self.memory.until_next(&self.trainer));
            let progress = self.trainer.advance_while(n, &|| context.check().is_ok());
            monitor.show(&progress, self.trainer.config())?;
            self.memory.take(&mut self.trainer, &self.folder)?;
            let is_stopped = context.check();
            if is_due(&progress, saved.elapsed()) || self.trainer.is_done() || is_stopped.is_err() {
                self.memory.write(&self.folder)?;
                self.folder.write(&self.trainer, &Notes { seconds: self.seconds(), ..self.notes.clone() })?;
                saved = Instant::now();
            }
            is_stopped.context("the run can be resumed")?;
        }
        Ok(())
    }

    /// The best actor; that of the last step if there was no evaluation.
    fn best(&self) -> (Option<Evaluation>, Actor) {
        match self.trainer.best() {
            Some((found, actor)) => (Some(*found), actor.clone()),
            None => (None, self.trainer.actor()),
        }
    }

    fn seconds(&self) -> f64 {
        self.notes.seconds + self.begun.elapsed().as_secs_f64()
    }

    fn card(
        &self,
        env: &dyn Env,
        best: &Option<Evaluation>,
        actor: &Actor,
        context: &Context,
    ) -> Result<Card> {
        let seconds = self.seconds();
        let context = &context.with_seed(Card::evaluation_seed(self.trainer.seed()));
        let shows_images = env.spec().observation.iter().any(|channel| channel.image.is_some());
        let n = CARD_EPISODES[usize::from(shows_images)];
        let (found, _) = evaluation::evaluate(env, actor, n, context)?;
        Ok(Card {
            id: format!("{}-{}", actor.env(), actor.algorithm()),
            env: actor.env().into(),
            algorithm: actor.algorithm().into(),
            mean_return: found.total_reward,
            random_return: found.random_return,
            success_rate: found.success,
            command: self.notes.command.clone(),
            seed: self.trainer.seed(),
            steps: self.trainer.steps(),
            best_step: best.map_or(self.trainer.steps(), |e| e.step),
            seconds,
            engine_version: env!("CARGO_PKG_VERSION").into(),
            sha256: hex(&Sha256::digest(actor.to_bytes())),
        })
    }
}

/// Gives the trainer what its recipe asks for and no checkpoint holds.
fn equipped(trainer: Trainer, env: &dyn Env, demonstrator: Option<&str>) -> Result<Trainer> {
    let trainer = with_demonstrator(trainer, env, demonstrator)?;
    Ok(match Anomalies::of(trainer.config(), env)? {
        Some(anomalies) => trainer.augmented_by(Box::new(anomalies)),
        None => trainer,
    })
}

/// Gives the trainer the policy of that name, or the environment's scripted one, if the recipe asks for demonstrations.
fn with_demonstrator(trainer: Trainer, env: &dyn Env, name: Option<&str>) -> Result<Trainer> {
    if trainer.config().demonstrations == 0 {
        ensure!(name.is_none(), "demonstrator: expected demonstrations above 0 in the recipe, found 0");
        return Ok(trainer);
    }
    let policy = match name {
        Some(name) => policies::find(name, env).context("demonstrator")?.policy,
        None => scripted(env)?,
    };
    Ok(trainer.demonstrated_by(policy))
}

/// The environment's scripted policy.
fn scripted(env: &dyn Env) -> Result<Box<dyn Policy>> {
    let id = noise::base(&env.spec().id);
    demonstrator::of(id).with_context(|| {
        format!(
            "demonstrations: {id} has no scripted policy; these environments have: {}; \
             another policy can be given as demonstrator",
            demonstrator::ENVIRONMENTS.join(", ")
        )
    })
}

/// Refuses a seed that is given and is not that of the run.
fn check_seed(asked: Seed, found: Seed, folder: &Folder) -> Result<()> {
    ensure!(
        asked.0 == 0 || asked == found,
        "--seed {}: expected the seed {} of the run in {}, found {}",
        asked.0,
        found.0,
        folder.path().display(),
        asked.0
    );
    Ok(())
}

/// A command with another number of steps, which stands before the seed if there was none.
fn with_steps(command: &str, steps: u64) -> String {
    const FLAG: &str = " --steps ";
    let (start, rest) = match command.find(FLAG) {
        Some(at) => {
            let value = &command[at + FLAG.len()..];
            (&command[..at], value.find(' ').map_or("", |end| &value[end..]))
        }
        None => command.split_at(command.rfind(" --seed ").unwrap_or(command.len())),
    };
    format!("{start}{FLAG}{steps}{rest}")
}

/// Whether a checkpoint is due: after every evaluation, and when the last one is old.
fn is_due(progress: &Progress, since_last: Duration) -> bool {
    progress.evaluation.is_some() || since_last >= CHECKPOINT_EVERY
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}

#[cfg(test)]
mod tests;
