//! An environment and the policy that acts in it, ready to play, with the policy's identity.

use crate::anomaly_request::AnomalyRequest;
use crate::frames::FrameSize;
use crate::frames::cache::VideoCache;
use crate::scenario::{Scenario, ScenarioRequest};
use crate::{catalogues, policies, provenance, stop};
use anyhow::{Result, anyhow, ensure};
use offnominal_agents::Card;
use offnominal_core::image_detector::Video;
use offnominal_core::prelude::*;
use offnominal_files::dataset::{DatasetRecipe, PolicyName};
use offnominal_worlds::anomaly::Deviations;

/// Nominal episodes in which the deviations of channels are measured.
const UNIT_EPISODES: usize = 10;

/// An environment, a policy, and who the policy is.
pub struct Subject {
    /// The pristine environment.
    pub env: Box<dyn Env>,
    /// The address of the robot on which it is played, if it is.
    pub robot: Option<String>,
    /// What is drawn for each episode, and by what one fails, where something is said of it.
    pub scenario: Option<Scenario>,
    /// The policy.
    pub policy: Box<dyn Policy>,
    /// Its name and digest.
    pub name: PolicyName,
    /// What is known of it.
    pub card: Option<Card>,
    /// Videos of their episodes.
    pub videos: VideoCache,
}

impl Subject {
    /// Builds the environment and finds the policy.
    ///
    /// # Errors
    /// If either name is unknown, or something they need is missing.
    pub fn new(env: &str, policy: &str) -> Result<Subject> {
        Subject::on(env, None, policy)
    }

    /// Builds the environment around the robot at an address, if there is one, and finds the policy.
    ///
    /// # Errors
    /// As above, or if the robot cannot be used, or the environment is none of robots.
    pub fn on(env: &str, robot: Option<&str>, policy: &str) -> Result<Subject> {
        let env = catalogues::environment(env, robot)?;
        let found = policies::find(policy, env.as_ref())?;
        let name = PolicyName { id: found.name, digest: found.digest };
        Ok(Subject {
            robot: robot.map(String::from),
            card: found.card,
            ..Subject::of(env, found.policy, name)
        })
    }

    /// An environment and a policy that nobody knows more of.
    pub fn of(env: Box<dyn Env>, policy: Box<dyn Policy>, name: PolicyName) -> Subject {
        Subject { env, robot: None, scenario: None, policy, name, card: None, videos: VideoCache::default() }
    }

    /// The same policy in a scenario of the environment, if there is one.
    ///
    /// # Errors
    /// If they cannot be drawn.
    pub fn under(self, scenario: Option<Scenario>) -> Result<Subject> {
        let Some(scenario) = scenario else { return Ok(self) };
        let env = scenario.apply(self.env)?;
        Ok(Subject { env, scenario: Some(scenario), videos: VideoCache::default(), ..self })
    }

    /// The anomaly that is asked for, if any is.
    ///
    /// # Errors
    /// As [`AnomalyRequest::resolve`].
    pub fn anomaly_spec(&self, request: Option<&AnomalyRequest>) -> Result<Option<AnomalySpec>> {
        let Some(request) = request else { return Ok(None) };
        let nominal = request.deviations.then(|| self.deviations()).transpose()?;
        let horizon = self.env.spec().horizon;
        request.resolve(self.env.as_ref(), &self.name.label(), horizon, nominal.as_ref()).map(Some)
    }

    /// How far the numbers of each signal stray in nominal episodes, the same ones whatever the seed of a command.
    fn deviations(&self) -> Result<Deviations> {
        let seed = Seed(0).child("deviations");
        let play = |i| self.trusted(self.trial().nominal(seed.child(i)));
        Ok(Deviations::of(&(0..UNIT_EPISODES).map(play).collect::<Result<Vec<_>>>()?))
    }

    /// The recipe of the two's episodes.
    pub fn recipe(&self, anomaly_spec: Option<&AnomalySpec>, seed: u64) -> DatasetRecipe {
        let spec = self.env.spec();
        let recipe = DatasetRecipe::new(spec, self.name.portable(), anomaly_spec.cloned(), seed);
        DatasetRecipe { robot: self.robot.clone(), simulator: provenance::simulator(spec), ..recipe }
    }

    /// The episode, unless environment or policy broke: then it says nothing of the policy.
    ///
    /// # Errors
    /// Why it cannot be used any longer.
    pub fn trusted(&self, episode: Episode) -> Result<Episode> {
        self.health().map(|()| episode).map_err(|why| anyhow!(why))
    }

    /// Insists on knowing what counts as a failure; of a hosted environment it may be that nobody has said it.
    ///
    /// # Errors
    /// If nobody has, with what the environment offers.
    pub fn knows_failure(&self) -> Result<()> {
        let EnvSpec { id, question, .. } = self.env.spec();
        ensure!(question.is_empty(), "environment {id}: {question}");
        Ok(())
    }

    /// Whether environment and policy can still be used.
    ///
    /// # Errors
    /// Why one of them cannot.
    pub fn health(&self) -> Result<(), String> {
        health(self.env.as_ref(), self.policy.as_ref())
    }

    /// The video of an episode; those that were made before are kept in memory as long as there is room.
    ///
    /// # Errors
    /// As [`crate::frames::video`].
    pub fn video(&self, episode: &Episode, frame_size: FrameSize) -> Result<Video> {
        self.videos.video(&self.trial(), episode, frame_size)
    }

    /// The trial of the two.
    pub fn trial(&self) -> Trial<'_> {
        Trial { stop: stop::is_requested, ..Trial::new(self.env.as_ref(), self.policy.as_ref()) }
    }
}

/// Whether an environment and a policy can still be used. Where both broke, they may have shared a process, and both say
/// why.
///
/// # Errors
/// Why one of them cannot.
pub fn health(env: &dyn Env, policy: &dyn Policy) -> Result<(), String> {
    match (policy.health(), env.health()) {
        (Err(policy), Err(env)) => Err(format!("{policy}; {env}")),
        (policy, env) => policy.and(env),
    }
}

impl ScenarioRequest {
    /// The environment with what is drawn of it, and the policy that acts in it.
    ///
    /// # Errors
    /// If either does not exist, or a parameter does not.
    pub fn subject(&self, env: &str, policy: &str) -> Result<Subject> {
        let subject = Subject::new(env, policy)?;
        let found = self.resolve(subject.env.spec())?;
        subject.under(found)
    }

    /// The same for a command that tells several formulas apart.
    ///
    /// # Errors
    /// As above.
    pub fn subject_of_several(&self, env: &str, policy: &str) -> Result<Subject> {
        let subject = Subject::new(env, policy)?;
        let found = self.resolve_several(subject.env.spec())?;
        subject.under(found)
    }
}
