//! What guides experiments: a failure predictor, opened for the policy under test.

use crate::experimenter::Experimenter;
use crate::history::steps_of;
use crate::predictors::learn::Form;
use crate::predictors::predictor::{Predictor, Reader};
use crate::record::in_chunks;
use anyhow::{Context as _, Result, ensure};
use offnominal_core::prelude::*;
use offnominal_engine::context::Context;
use offnominal_engine::subject::Subject;
use sha2::{Digest, Sha256};
use std::path::Path;

/// A predictor and the policy for which it is read.
pub struct Guide {
    predictor: Predictor,
    environment: Box<dyn Env>,
    /// SHA-256 of its file.
    pub digest: String,
    /// Step of the training that the policy stands for.
    pub step: u64,
}

impl Guide {
    /// Reads a predictor for a policy in its environment.
    ///
    /// # Errors
    /// If the file is none, or a predictor of another environment.
    pub fn open(path: &Path, subject: &Subject) -> Result<Guide> {
        let bytes = offnominal_files::read::bytes(path)?;
        let predictor = Predictor::from_bytes(&bytes).with_context(|| path.display().to_string())?;
        fits(&predictor, subject.env.as_ref()).with_context(|| path.display().to_string())?;
        let step = steps_of(&subject.name.id, subject.card.as_ref()).unwrap_or(predictor.about.steps);
        let environment = subject.env.fork().context("experiments need copies of the environment")?;
        Ok(Guide {
            step,
            environment,
            digest: offnominal_files::store::hex(&Sha256::digest(&bytes)),
            predictor,
        })
    }

    /// The exponent that suits the predictor.
    pub fn exponent(&self) -> f64 {
        self.predictor.about.exponent
    }

    /// Why nothing is to be gained from the predictor, if learning it has shown that.
    pub fn warning(&self) -> Option<String> {
        self.predictor.about.skill.warning()
    }

    /// How many of the later failures of the history lie outside of this share of the draws with the highest predictions, and
    /// how many there are.
    pub fn outside(&self, share: f64) -> (usize, usize) {
        self.predictor.about.skill.outside(share)
    }

    /// The predictor with buffers for one thread.
    pub fn reader(&self) -> Reader<'_> {
        self.predictor.reader(self.step)
    }

    /// The chance to fail from an initial condition.
    ///
    /// # Errors
    /// If the predictor says something that is no probability.
    pub fn predict(&self, reader: &mut Reader<'_>, x: &[f64]) -> Result<f64> {
        let found =
            reader.predict(&reading(self.environment.as_ref(), self.predictor.about.form, x)?.numbers);
        ensure!(
            (0.0..=1.0).contains(&found),
            "predictor: expected a number from 0 to 1, found {found} at {x:?}"
        );
        Ok(found)
    }

    /// Predictions for so many draws of a stream, on all cores.
    ///
    /// # Errors
    /// If one is no probability.
    pub fn survey(
        &self,
        by: &Experimenter<'_>,
        stream: &str,
        draws: usize,
        context: &Context,
    ) -> Result<Vec<f64>> {
        in_chunks(context, 0..draws as u64, 256, |range| {
            let mut reader = self.reader();
            range.map(|i| self.predict(&mut reader, &by.draw(by.key(stream, i)))).collect()
        })
    }
}

/// What a predictor of a form reads of an initial condition.
///
/// # Errors
/// If the form reads places, and the environment's initial conditions lead past none.
pub fn reading(env: &dyn Env, form: Form, x: &[f64]) -> Result<Places> {
    if form != Form::Hazard {
        let numbers = env.failure_search().features(x);
        return Ok(Places { width: numbers.len(), numbers });
    }
    let id = &env.spec().id;
    let places = env.failure_search().places(x);
    places.with_context(|| format!("form hazard: expected an environment with places, found {id}"))
}

fn fits(predictor: &Predictor, env: &dyn Env) -> Result<()> {
    let (about, spec) = (&predictor.about, env.spec());
    ensure!(about.env == spec.id, "expected a predictor for {}, found one for {}", spec.id, about.env);
    let features = reading(env, about.form, &env.draw(&mut Rng::new(0)))?.width;
    ensure!(
        about.initial == spec.initial && about.features == features,
        "expected a predictor for {features} features of {:?}, found one for {} of {:?}: learn it anew",
        spec.initial,
        about.features,
        about.initial
    );
    Ok(())
}
