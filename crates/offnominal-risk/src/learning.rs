//! `risk learn`: from the history of a training run, or from policies of which one is made, to a predictor of failure.

use crate::guide;
use crate::history;
use crate::predictors::examples::{Examples, Theta};
use crate::predictors::learn::{Fits, Form, Learned, PredictorRecipe, learn};
use crate::predictors::predictor::{About, Predictor, Skill};
use crate::request::{self, within};
use anyhow::{Context as _, Result, ensure};
use clap::Args;
use offnominal_agents::{History, TrainingEpisode};
use offnominal_core::limits::MEMBERS;
use offnominal_core::prelude::*;
use offnominal_engine::context::Context;
use offnominal_engine::request::EnvId;
use offnominal_engine::scenario::ScenarioRequest;
use offnominal_files::lock::Lock;
use offnominal_files::store::hex;
use offnominal_files::write;
use offnominal_stats::Level;
use offnominal_stats::risk::exponent::{self, Choice, EXPONENTS};
use offnominal_stats::risk::{PLAIN_SHARE, Refusal};
use offnominal_work::cli::one_of;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

/// What is learned from, and how.
#[derive(Debug, Clone, PartialEq, Args)]
pub struct Request {
    /// The environment.
    #[command(flatten)]
    pub env: EnvId,
    /// History of `train --history` or `risk learn`; repeatable
    #[arg(long = "history", value_name = "FILE", required_unless_present = "policies")]
    pub histories: Vec<PathBuf>,
    /// Policy, or folder of policies, whose episodes become a history; repeatable
    #[arg(long = "policy")]
    pub policies: Vec<String>,
    /// Episodes per policy and noise level
    #[arg(long, value_name = "N", default_value_t = 1000, requires = "policies")]
    pub episodes: usize,
    /// Action noise: standard deviation per half range; repeatable
    #[arg(long = "noise", value_name = "SHARE", default_value = "0", requires = "policies")]
    pub noises: Vec<f64>,
    /// Write the history only; learn nothing
    #[arg(long, requires = "policies", conflicts_with = "histories")]
    pub history_only: bool,
    /// History of similarly rare failures, which chooses the exponent only
    #[arg(long, value_name = "FILE")]
    pub near: Option<PathBuf>,
    /// Kind of predictor [default: hazard with places, else mlp]
    #[arg(long, value_parser = one_of::<Form>())]
    pub form: Option<Form>,
    /// Learn hazards from the place of each failure too
    #[arg(long)]
    pub places: bool,
    /// Share of training to leave out at its beginning
    #[arg(long, value_name = "SHARE", default_value_t = PredictorRecipe::default().early_share, allow_negative_numbers = true)]
    pub early: f64,
    /// Most gradient steps
    #[arg(long, value_name = "N", default_value_t = PredictorRecipe::default().steps)]
    pub steps: usize,
    /// Networks in the ensemble
    #[arg(long, value_name = "N", default_value_t = PredictorRecipe::default().members)]
    pub members: usize,
    /// Output folder; an interrupted run continues there
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// What is drawn for each episode, and by what one fails.
    #[command(flatten)]
    pub scenario: ScenarioRequest,
}

/// What was played, and what was learned.
#[derive(Debug, Clone, Serialize)]
pub struct Report {
    /// The history of the policies, if there are any.
    pub played: Option<history::Report>,
    /// What was learned, if not only the history was asked for.
    #[serde(flatten)]
    pub learned: Option<Fitted>,
}

/// What was learned.
#[derive(Debug, Clone, Serialize)]
pub struct Fitted {
    /// The predictor, if it was written.
    pub file: Option<PathBuf>,
    /// What the predictor is for.
    pub about: About,
    /// Mean cross-entropy of the later episodes with each setting that was tried.
    pub cross_entropy: BTreeMap<String, f64>,
    /// The same for their share of failures.
    pub cross_entropy_without_predictor: f64,
    /// The exponents to choose from.
    pub exponents: [f64; 8],
    /// Second moment of a weighted failure relative to p² with each exponent; null if the choice was refused.
    pub relative_squares: Option<[Estimate; 8]>,
    /// Why no exponent could be chosen.
    pub exponent_refused: Option<String>,
    /// The predictor, and how it was found.
    #[serde(skip)]
    pub found: LearnedPredictor,
}

/// Plays the policies, if there are any, and learns a predictor.
///
/// # Errors
/// If a policy cannot be had or its training is unknown, a history is none, of another environment, or holds too few
/// failures; if a file cannot be written.
pub fn run(request: &Request, context: &Context) -> Result<Report> {
    request.check()?;
    let _held = request.out.as_deref().map(Lock::folder).transpose()?;
    let played = (!request.policies.is_empty()).then(|| request.play(context)).transpose()?;
    let own = played.iter().map(|played| played.history.clone()).collect();
    let learned = (!request.history_only).then(|| request.learn(own, context)).transpose()?;
    Ok(Report { played, learned })
}

impl Request {
    fn check(&self) -> Result<()> {
        within("steps", self.steps, 1..=100_000_000)?;
        within("members", self.members, 1..=MEMBERS)?;
        within("episodes", self.episodes, 1..=u32::MAX as usize)?;
        ensure!(
            !self.places || self.form.is_none_or(|form| form == Form::Hazard),
            "places: expected the form hazard, which alone reads them, found another"
        );
        ensure!(
            !(self.histories.is_empty() && self.policies.is_empty()),
            "expected a history, or a policy whose episodes make one, found neither"
        );
        ensure!(
            !self.history_only || self.histories.is_empty() && !self.policies.is_empty(),
            "history only: expected policies and no history, from which nothing would be learned"
        );
        Ok(())
    }

    /// The history of the policies.
    fn play(&self, context: &Context) -> Result<history::Report> {
        let subjects = request::subjects(&self.scenario, &self.env, &self.policies)?;
        history::written(&subjects, &self.noises, self.episodes, self.out.as_deref(), context)
    }

    /// Learns from the histories that were given, and from those that were played for it.
    fn learn(&self, played: Vec<History>, context: &Context) -> Result<Fitted> {
        let env = self.scenario.env(&self.env)?;
        let read = |path: &PathBuf| read(path, env.spec());
        let mut histories = self.histories.iter().map(read).collect::<Result<Vec<_>>>()?;
        histories.extend(played);
        let near = self.near.as_ref().map(read).transpose()?;
        let recipe = self.recipe(env.as_ref());
        suit(&recipe, &histories)?;
        let out = self.out.as_deref();
        let found = learn_from(&histories, near.as_ref(), env.as_ref(), &recipe, out, context)?;
        let file = out.map(|folder| folder.join("predictor.safetensors"));
        if let (Some(path), Some(folder)) = (&file, out) {
            write::atomically(path, &found.predictor.to_bytes())?;
            // The next run in this folder may learn something else.
            std::fs::remove_file(folder.join(JOURNAL))
                .context("the journal of the fits cannot be removed")?;
        }
        Ok(Fitted::of(file, found))
    }

    fn recipe(&self, env: &dyn Env) -> PredictorRecipe {
        let has_places = || env.failure_search().places(&env.draw(&mut Rng::new(0))).is_some();
        let form = self.form.unwrap_or_else(|| if has_places() { Form::Hazard } else { Form::Mlp });
        PredictorRecipe {
            form,
            early_share: self.early,
            members: self.members,
            steps: self.steps,
            places: self.places,
            ..PredictorRecipe::default()
        }
    }
}

/// Refuses histories that do not say what a recipe learns from.
fn suit(recipe: &PredictorRecipe, histories: &[History]) -> Result<()> {
    ensure!(
        !recipe.places || histories.iter().flat_map(|h| &h.episodes).any(|e| e.place.is_some()),
        "places: expected a history that says where episodes failed, found none: make one with `risk learn --policy`, in an \
         environment whose episodes lead past places"
    );
    ensure!(
        recipe.form != Form::Margin || histories.iter().all(|h| h.margins().is_some()),
        "form margin: expected histories that say the smallest margin of each episode, found one without: make one with \
         `risk learn --policy`, in an environment with a margin"
    );
    Ok(())
}

impl Fitted {
    fn of(file: Option<PathBuf>, found: LearnedPredictor) -> Fitted {
        Fitted {
            file,
            about: found.predictor.about.clone(),
            cross_entropy: found.learned.tried.iter().cloned().collect(),
            cross_entropy_without_predictor: found.learned.baseline,
            exponents: EXPONENTS,
            relative_squares: found.choice.as_ref().ok().map(|choice| choice.relative_squares.clone()),
            exponent_refused: found.choice.as_ref().err().map(ToString::to_string),
            found,
        }
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.played.iter().try_for_each(|played| write!(f, "{played}"))?;
        self.learned.iter().try_for_each(|learned| write!(f, "{learned}"))
    }
}

impl fmt::Display for Fitted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let LearnedPredictor { predictor, learned, choice } = &self.found;
        let ((episodes, failures), later) = (learned.kept, learned.later.len());
        writeln!(f, "learned from {episodes} episodes, {failures} of which failed")?;
        writeln!(f, "mean cross-entropy of the {later} latest, which were not learned from at first:")?;
        for (setting, loss) in &learned.tried {
            writeln!(f, "  {setting:<24} {loss:.4}")?;
        }
        writeln!(f, "  {:<24} {:.4}", "their share of failures", learned.baseline)?;
        match choice {
            Ok(choice) => {
                writeln!(f, "second moment of a weighted failure, relative to p², by exponent:")?;
                for (exponent, cost) in EXPONENTS.iter().zip(&choice.relative_squares) {
                    let chosen = if *exponent == choice.exponent { "  chosen" } else { "" };
                    writeln!(f, "  {exponent:<24} {cost:.2}{chosen}")?;
                }
            }
            Err(why) => writeln!(f, "exponent {}: {why}", predictor.about.exponent)?,
        }
        predictor.about.skill.warning().iter().try_for_each(|why| writeln!(f, "warning: {why}"))?;
        self.file.iter().try_for_each(|path| writeln!(f, "written to {}", path.display()))
    }
}

/// Reads a history and checks that it belongs to an environment.
///
/// # Errors
/// If the file is none, or a history of another environment.
pub fn read(path: &Path, spec: &EnvSpec) -> Result<History> {
    let bytes = offnominal_files::read::bytes(path)?;
    let history = History::from_bytes(&bytes).with_context(|| path.display().to_string())?;
    let (env, initial) = (&history.run.env, &history.run.initial);
    let whose = || path.display().to_string();
    ensure!(*env == spec.id, "{}: expected a history of {}, found one of {env}", whose(), spec.id);
    ensure!(
        *initial == spec.initial,
        "{}: expected initial conditions of {:?}, found {initial:?}",
        whose(),
        spec.initial
    );
    Ok(history)
}

/// A predictor, how it was chosen, and what each exponent would cost with it.
#[derive(Debug, Clone)]
pub struct LearnedPredictor {
    /// The predictor.
    pub predictor: Predictor,
    /// What was tried, and how well the later episodes were predicted.
    pub learned: Learned,
    /// The exponent, from the later episodes; a reason if there is no choice.
    pub choice: std::result::Result<Choice, Refusal>,
}

/// The exponent if the history cannot tell: right for a predictor that is.
const USUAL_EXPONENT: f64 = 0.5;

/// Learns a predictor from the runs of one environment, side by side: what was done of each training counts, not the
/// steps.
/// The exponent is that which suits the later episodes best, or those of `near`, from which nothing else is learned. Fits
/// that the journal in the folder, if there is one, holds are not made again.
///
/// # Errors
/// If the recipe is wrong or does not suit the environment, or the histories hold too few failures.
///
/// # Panics
/// If there is no history.
pub fn learn_from(
    histories: &[History],
    near: Option<&History>,
    env: &dyn Env,
    recipe: &PredictorRecipe,
    folder: Option<&Path>,
    context: &Context,
) -> Result<LearnedPredictor> {
    let run = &histories.first().expect("at least one history").run;
    let noises = || histories.iter().flat_map(|h| &h.episodes).map(|e| e.noise);
    let largest_noise = noises().fold(0.0, f64::max);
    let share = |noise: f64| if largest_noise > 0.0 { noise / largest_noise } else { 0.0 };
    let read = |x: &[f64]| guide::reading(env, recipe.form, x);
    let example = histories.iter().flat_map(|h| &h.episodes).next();
    let features = example.map_or(Ok(run.initial.len()), |e| anyhow::Ok(read(&e.initial)?.width))?;
    ensure!(
        features > 0,
        "environment {}: expected initial conditions that tell something of an episode, found {}; with parameters that are \
         drawn for each episode (--randomise, --distribution) there is something to learn from",
        run.env,
        run.initial.join(", ")
    );
    let mut examples = Examples::new(features);
    for (theta, episode) in in_order(histories) {
        let theta = Theta { noise: share(theta.noise), ..theta };
        let places = read(&episode.initial)?;
        examples.push(&places.numbers, theta, episode.failed);
        if let Some(place) = episode.place.filter(|_| recipe.places) {
            let n = places.numbers.len() / places.width;
            ensure!((place as usize) < n, "history: expected failures at a place below {n}, found {place}");
            examples.failed_at(place);
        }
        if let Some(margin) = episode.margin {
            examples.came_within(margin);
        }
    }
    let spec = LearningSpec {
        env: run.env.clone(),
        seed: context.seed,
        recipe: recipe.clone(),
        features,
        histories: histories.iter().map(|h| hex(&Sha256::digest(h.to_bytes()))).collect(),
    };
    let mut fits = Fits::open(folder, JOURNAL, &spec, context.task(0, "fits of the predictor"))?;
    let mut rng = Seed(context.seed).child("predictor").rng();
    let learned = learn(&examples, recipe, &mut rng, &mut fits)?;
    let least_noise = noises().fold(largest_noise, f64::min);
    let about = About {
        env: run.env.clone(),
        initial: run.initial.clone(),
        features,
        form: recipe.form,
        exponent: USUAL_EXPONENT,
        largest_noise,
        noise: (share(least_noise), share(largest_noise)),
        steps: histories.iter().map(|h| h.run.steps).max().unwrap_or_default(),
        learned_from: learned.kept,
        skill: Skill::of(&learned.later, best(&learned), learned.baseline),
    };
    let mut predictor = Predictor::new(about, learned.clone());
    let predicted = near.map(|near| predicted(&predictor, near, env)).transpose()?;
    let later = predicted.as_ref().unwrap_or(&learned.later);
    predictor.about.skill = Skill::of(later, best(&learned), learned.baseline);
    let choice = exponent::choose(later, PLAIN_SHARE, Level::P95);
    predictor.about.exponent = choice.as_ref().map_or(USUAL_EXPONENT, |c| c.exponent);
    Ok(LearnedPredictor { predictor, learned, choice })
}

/// The smallest mean cross-entropy of the settings that were tried.
fn best(learned: &Learned) -> f64 {
    learned.tried.iter().map(|(_, loss)| *loss).fold(f64::INFINITY, f64::min)
}

/// What is learned from what; a journal belongs to one of these.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct LearningSpec {
    env: String,
    seed: u64,
    recipe: PredictorRecipe,
    features: usize,
    /// Digests of the histories.
    histories: Vec<String>,
}

/// Name of the journal in the output folder, until all is learned.
const JOURNAL: &str = "fits.jsonl";

/// The chance that was predicted for each episode, and whether it failed.
fn predicted(predictor: &Predictor, history: &History, env: &dyn Env) -> Result<Vec<(f64, bool)>> {
    let one = |episode: &TrainingEpisode| {
        let numbers = guide::reading(env, predictor.about.form, &episode.initial)?.numbers;
        Ok((predictor.reader(episode.step).predict(&numbers), episode.failed))
    };
    history.episodes.iter().map(one).collect()
}

/// The episodes of all runs with the share of its training that each came after, in that order.
fn in_order(histories: &[History]) -> Vec<(Theta, &TrainingEpisode)> {
    fn of_one(history: &History) -> Vec<(Theta, &TrainingEpisode)> {
        let steps = history.run.steps.max(1) as f64;
        let theta = move |e: &TrainingEpisode| Theta { iteration: e.step as f64 / steps, noise: e.noise };
        history.episodes.iter().map(move |e| (theta(e), e)).collect()
    }
    let mut all: Vec<(Theta, &TrainingEpisode)> = histories.iter().flat_map(of_one).collect();
    all.sort_by(|a, b| a.0.iteration.total_cmp(&b.0.iteration));
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Toy, context, history, rewrite, subject};

    #[test]
    fn a_killed_run_goes_on_with_the_same_bits_and_another_one_is_refused() {
        let (toy, folder) = (Toy::new(0.02), tempfile::tempdir().unwrap());
        let (subject, histories) = (subject(&toy), [history(&toy, 6000)]);
        let learn = |recipe: &PredictorRecipe, folder| {
            learn_from(&histories, None, subject.env.as_ref(), recipe, folder, &context(1))
        };
        let recipe = PredictorRecipe { members: 1, steps: 200, ..PredictorRecipe::default() };
        let whole = learn(&recipe, None).unwrap();
        let bytes = |found: &LearnedPredictor| found.predictor.to_bytes();
        assert_eq!(bytes(&learn(&recipe, Some(folder.path())).unwrap()), bytes(&whole));
        let journal = folder.path().join(JOURNAL);
        let text = std::fs::read_to_string(&journal).unwrap();
        assert_eq!(text.lines().count(), 1 + whole.learned.tried.len());
        std::fs::write(&journal, &text[..text.len() / 2]).unwrap();
        let resumed = learn(&recipe, Some(folder.path())).unwrap();
        assert_eq!((bytes(&resumed), &resumed.learned), (bytes(&whole), &whole.learned));
        assert_eq!(std::fs::read_to_string(&journal).unwrap(), text);
        std::fs::write(&journal, text.replacen("1 hidden layers", "one hidden layer", 1)).unwrap();
        let error = learn(&recipe, Some(folder.path())).unwrap_err();
        assert!(
            format!("{error:#}").contains("fits.jsonl: line 2, block 0: expected the digest"),
            "{error:#}"
        );
        // What is known is not fitted again: the journal is believed, if it was made so.
        std::fs::write(&journal, &text).unwrap();
        rewrite(&journal, |block| block["setting"] = "one hidden layer".into());
        assert!(learn(&recipe, Some(folder.path())).unwrap().learned.tried[0].0.starts_with("one"));
        let other = PredictorRecipe { steps: 100, ..recipe };
        let error = learn(&other, Some(folder.path())).unwrap_err();
        assert!(format!("{error:#}").contains("recipe, steps: expected 100, found 200"), "{error:#}");
    }
}
