//! A world and the policy that acts in it, ready to play, with the policy's identity.

use crate::frames::Studio;
use crate::frames::cache::FilmCache;
use crate::randomisation::Change;
use crate::{catalogues, policies};
use anyhow::{Result, anyhow};
use offnominal_agents::Card;
use offnominal_core::image_detector::Film;
use offnominal_core::prelude::*;
use offnominal_files::dataset::{PolicyName, Recipe};

/// A world, a policy, and who the policy is.
pub struct Cast {
    /// The pristine world.
    pub env: Box<dyn Env>,
    /// The address of the robot on which it is played, if it is.
    pub robot: Option<String>,
    /// What is drawn of the world for each episode, if anything is.
    pub shifted: Option<Change>,
    /// The policy.
    pub policy: Box<dyn Policy>,
    /// Its name and digest.
    pub name: PolicyName,
    /// What is known of it.
    pub card: Option<Card>,
    /// Films of their episodes.
    pub films: FilmCache,
}

impl Cast {
    /// Builds the world and finds the policy.
    ///
    /// # Errors
    /// If either name is unknown, or something they need is missing.
    pub fn new(env: &str, policy: &str) -> Result<Cast> {
        Cast::on(env, None, policy)
    }

    /// Builds the world around the robot at an address, if there is one, and finds the policy.
    ///
    /// # Errors
    /// As above, or if the robot cannot be used, or the world is none of robots.
    pub fn on(env: &str, robot: Option<&str>, policy: &str) -> Result<Cast> {
        let env = catalogues::world(env, robot)?;
        let found = policies::find(policy, env.as_ref())?;
        let name = PolicyName { id: found.name, digest: found.digest };
        Ok(Cast { robot: robot.map(String::from), card: found.card, ..Cast::of(env, found.policy, name) })
    }

    /// A world and a policy that nobody knows more of.
    pub fn of(env: Box<dyn Env>, policy: Box<dyn Policy>, name: PolicyName) -> Cast {
        Cast { env, robot: None, shifted: None, policy, name, card: None, films: FilmCache::default() }
    }

    /// The same policy in the world with parameters that are drawn for each episode, if there is such a change.
    ///
    /// # Errors
    /// If they cannot be drawn.
    pub fn shifted_by(self, change: Option<Change>) -> Result<Cast> {
        let Some(change) = change else { return Ok(self) };
        let env = change.apply(self.env)?;
        Ok(Cast { env, shifted: Some(change), films: FilmCache::default(), ..self })
    }

    /// The recipe of the two's episodes.
    pub fn recipe(&self, fault: Option<&Fault>, seed: u64) -> Recipe {
        let recipe = Recipe::new(self.env.spec(), self.name.clone(), fault.cloned(), seed);
        Recipe { robot: self.robot.clone(), ..recipe }
    }

    /// The episode, unless the world broke: then it says nothing of the policy.
    ///
    /// # Errors
    /// Why the world cannot be used any longer.
    pub fn trusted(&self, episode: Episode) -> Result<Episode> {
        self.env.health().map(|()| episode).map_err(|why| anyhow!(why))
    }

    /// The film of an episode; those that were made before are kept in memory as long as there is room.
    ///
    /// # Errors
    /// As [`crate::frames::film`].
    pub fn film(&self, episode: &Episode, studio: Studio) -> Result<Film> {
        self.films.film(&self.trial(), episode, studio)
    }

    /// The trial of the two.
    pub fn trial(&self) -> Trial<'_> {
        Trial::new(self.env.as_ref(), self.policy.as_ref())
    }
}
