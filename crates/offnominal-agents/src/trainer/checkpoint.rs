//! Checkpoints: a run that is continued ends with the same bits as one that was never interrupted.

use super::{Recent, TrainError, Trainer};
use crate::actor::Actor;
use crate::config::TrainConfig;
use crate::evaluation::Evaluation;
use crate::normaliser::RunningMoments;
use crate::trainer::lane::Past;
use offnominal_core::env::Env;
use offnominal_core::{Rng, Seed};
use offnominal_nets::{TensorError, Tensors};
use serde::{Deserialize, Serialize};

/// Value of the entry `format` of the header.
const FORMAT: &str = "offnominal-training-1";

/// What goes into a checkpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Contents {
    /// Everything: continues with the same bits.
    Full,
    /// Everything but the replay buffer, which is refilled to `learning_starts` transitions before learning goes on.
    Light,
}

/// What is not a tensor.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct State {
    env: String,
    config: TrainConfig,
    seed: Seed,
    steps: u64,
    rng: Rng,
    lanes: Vec<Past>,
    recent: Recent,
    moments: Option<RunningMoments>,
    best: Option<Evaluation>,
    #[serde(default)]
    is_due: bool,
    replay_next: usize,
}

impl Trainer {
    /// The run as bytes.
    ///
    /// # Panics
    /// Never: the state is plain data.
    pub fn checkpoint(&self, contents: Contents) -> Vec<u8> {
        let mut file = Tensors::default();
        self.learner.save(&mut file);
        if contents == Contents::Full {
            self.replay.save(&mut file);
        }
        if let Some(average) = &self.average {
            file.put("average", average);
        }
        if let Some((_, actor)) = &self.best {
            // Bytes as numbers: the file of the best actor travels inside this one.
            let bytes: Vec<f32> = actor.to_bytes().into_iter().map(f32::from).collect();
            file.put("best", &bytes);
        }
        file.put_entry("format", FORMAT);
        file.put_json("state", &self.state());
        file.to_bytes()
    }

    fn state(&self) -> State {
        State {
            env: self.pristine.spec().id.clone(),
            config: self.config.clone(),
            seed: self.seed,
            steps: self.steps,
            rng: self.rng.clone(),
            lanes: self.lanes.iter().map(|lane| lane.past().clone()).collect(),
            recent: self.recent.clone(),
            moments: self.scaling.as_ref().map(|s| s.moments.clone()),
            best: self.best.as_ref().map(|(evaluation, _)| *evaluation),
            is_due: self.is_due,
            replay_next: self.replay.next(),
        }
    }

    /// Continues a run from its bytes, in the same environment.
    ///
    /// # Errors
    /// If the bytes are not a checkpoint, or one of another environment.
    pub fn resume(bytes: &[u8], env: &dyn Env) -> Result<Trainer, TrainError> {
        let file = Tensors::from_bytes(bytes)?;
        file.expect_entry("format", FORMAT)?;
        let state: State = file.json("state")?;
        require(state.env == env.spec().id, &format!("a run in {}", env.spec().id), &state.env)?;
        let mut run = Trainer::new(state.config.clone(), env, state.seed)?;
        run.learner.load(&file)?;
        run.restore_replay(&file, state.replay_next)?;
        run.restore_lanes(state.lanes)?;
        run.restore_scaling(state.moments)?;
        run.restore_average(&file)?;
        run.best = state.best.map(|found| Ok::<_, TrainError>((found, best(&file, env)?))).transpose()?;
        (run.steps, run.is_due) = (state.steps, state.is_due);
        (run.rng, run.recent) = (state.rng, state.recent);
        Ok(run)
    }

    fn restore_replay(&mut self, file: &Tensors, next: usize) -> Result<(), TrainError> {
        let restored = self.replay.clone().restored(file, next)?;
        let most = self.config.buffer;
        let expected = format!("at most {most} transitions with their images, the next at their end");
        require(restored.is_some(), &expected, format!("something else, the next at {next}"))?;
        restored.into_iter().for_each(|replay| self.replay = replay);
        Ok(())
    }

    fn restore_lanes(&mut self, pasts: Vec<Past>) -> Result<(), TrainError> {
        let n = self.lanes.len();
        require(pasts.len() == n, &format!("{n} episodes"), pasts.len())?;
        for (i, (lane, past)) in self.lanes.iter_mut().zip(pasts).enumerate() {
            let fits = lane.rebuild(past, &self.bounds).is_some();
            require(fits, &format!("episode {i} to fit the environment"), "other widths or lengths")?;
        }
        Ok(())
    }

    fn restore_average(&mut self, file: &Tensors) -> Result<(), TrainError> {
        if self.config.average > 0 && file.get("average").is_ok() {
            let (_, params) = self.learner.actor();
            self.average = Some(file.expect("average", &[params.len()])?.to_vec());
        }
        Ok(())
    }

    fn restore_scaling(&mut self, moments: Option<RunningMoments>) -> Result<(), TrainError> {
        let sound = moments.as_ref().is_none_or(|m| m.is_sound() && m.width() == self.seen.len());
        let agrees = sound && moments.is_some() == self.scaling.is_some();
        require(agrees, "finite moments of each channel, as the recipe says", "something else")?;
        if let (Some(scaling), Some(moments)) = (&mut self.scaling, moments) {
            scaling.moments = moments;
            scaling.write();
        }
        Ok(())
    }
}

/// The best actor so far.
fn best(file: &Tensors, env: &dyn Env) -> Result<Actor, TrainError> {
    let (_, numbers) = file.get("best")?;
    let bytes: Vec<u8> = numbers.iter().map(|&v| v as u8).collect();
    Ok(Actor::from_bytes(&bytes, env.spec())?)
}

fn require(holds: bool, expected: &str, found: impl ToString) -> Result<(), TensorError> {
    TensorError::require(holds, "checkpoint", expected, found)
}
