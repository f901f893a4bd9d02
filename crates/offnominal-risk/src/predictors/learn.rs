//! From examples to a predictor.
//!
//! Early training, in which everything fails, is left out. Of the rest, the later part tells which settings predict
//! the failures of policies that come after those learned from: the layers or the filters of the networks, or the K
//! of the dictionary, and when to stop (hazards find that out by themselves). What comes out has learned from both
//! parts with the settings so found. Episodes of the policy under test are never seen.

use crate::dictionary::Dictionary;
use crate::error::RiskError;
use crate::examples::Examples;
use crate::hazard::Hazards;
use crate::margin::Margins;
use crate::network::Networks;
use crate::record::Record;
use anyhow::Result;
use offnominal_core::Rng;
use offnominal_engine::progress::Task;
use offnominal_nets::Standardiser;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::path::Path;
use strum::{EnumMessage, EnumString, IntoStaticStr, VariantArray};

/// How f is represented.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[derive(EnumString, VariantArray, IntoStaticStr, EnumMessage)]
#[strum(serialize_all = "snake_case")]
pub enum Form {
    /// Dense networks
    Mlp,
    /// Vote of the nearest stored episodes
    Dictionary,
    /// Hazards that add up along a track
    Hazard,
    /// Dense networks that predict the margin to failure
    Margin,
}

/// How a predictor is learned.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct PredictorRecipe {
    /// How f is represented.
    pub form: Form,
    /// Share of the training that is left out at its beginning.
    pub early_share: f64,
    /// Share of the failures that the later part has.
    pub later_share: f64,
    /// Number of networks.
    pub members: usize,
    /// Most gradient steps.
    pub steps: usize,
    /// Whether hazards learn from the place of each failure too.
    pub places: bool,
}

impl Default for PredictorRecipe {
    fn default() -> PredictorRecipe {
        PredictorRecipe {
            form: Form::Mlp,
            early_share: 0.1,
            later_share: 0.2,
            members: 5,
            steps: 6000,
            places: false,
        }
    }
}

/// The representation that came out.
#[derive(Debug, Clone, PartialEq)]
pub enum Model {
    /// Dense networks.
    Networks(Networks),
    /// A dictionary.
    Dictionary(Dictionary),
    /// Convolutions along a way.
    Hazards(Hazards),
    /// Dense networks of margins.
    Margins(Margins),
}

/// What was learned.
#[derive(Debug, Clone, PartialEq)]
pub struct Learned {
    /// The map that rows go through.
    pub scaler: Standardiser,
    /// The representation.
    pub model: Model,
    /// Mean cross-entropy of the later part with each setting that was tried.
    pub tried: Vec<(String, f64)>,
    /// The same for the share of failures in the later part itself, which needs no predictor.
    pub baseline: f64,
    /// Chance that was predicted for each episode of the later part by what had learned from the first part alone, as
    /// a reader of the predictor would say it, and whether it failed.
    pub later: Vec<(f64, bool)>,
    /// Episodes after the early ones, and failures among them.
    pub kept: (usize, usize),
}

/// A setting that was tried.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Fit {
    setting: String,
    /// Mean cross-entropy of the later part.
    loss: f64,
    /// Gradient steps that were best.
    steps: usize,
    /// Chances of the later part.
    later: Vec<f64>,
    /// The random numbers that come after it.
    rng: Rng,
}

/// The fits of a run: those that were made before, and where the next ones are kept.
pub(crate) struct Fits {
    bar: Task,
    record: Record,
    known: Vec<Fit>,
}

impl Fits {
    /// Those that the journal with this name in a folder holds; without a folder none, and none is kept.
    ///
    /// # Errors
    /// If the journal belongs to another run, is damaged, or cannot be read or written.
    pub(crate) fn open<S>(folder: Option<&Path>, name: &str, run: &S, bar: Task) -> Result<Fits>
    where
        S: Serialize + DeserializeOwned + PartialEq,
    {
        let (record, known) = Record::open(folder, name, run)?;
        Ok(Fits { bar, record, known })
    }

    /// Of a run that keeps none.
    #[cfg(test)]
    pub(crate) fn unsaved() -> Fits {
        Fits::open(None, "", &(), Task::hidden()).expect("no file is touched")
    }

    /// Keeps the next fit, and goes on if the work was not asked to stop.
    fn keep(&mut self, fit: &Fit) -> Result<()> {
        self.bar.check()?;
        self.record.push(fit)
    }
}

/// Failures from which something can be learned, and half of the margins.
const FEWEST: usize = 30;

/// Learns from examples, and tries the settings of the recipe's form but for those that `fits` knows.
///
/// # Errors
/// If a setting is out of its range, or fewer than 30 episodes failed after the early ones, or none or all of the
/// first part; if a fit cannot be kept.
///
/// # Panics
/// If the examples have many places, and the recipe's form has no use for them.
pub(crate) fn learn(
    examples: &Examples,
    recipe: &PredictorRecipe,
    rng: &mut Rng,
    fits: &mut Fits,
) -> Result<Learned> {
    recipe.check()?;
    assert!(examples.has_single_rows() || recipe.form == Form::Hazard, "{:?} reads no places", recipe.form);
    let kept = examples.after(recipe.early_share);
    let learns_margins = recipe.form == Form::Margin;
    enough(&kept, learns_margins, "the history after its early part")?;
    let scaler = Standardiser::fit(kept.rows(), kept.row_width());
    let scaled = kept.with_rows(scaler.outputs(), |rows, out| scaler.apply(rows, out));
    // Without failures the later part is one of episodes.
    let (first, later) = match learns_margins {
        true => scaled.split_evenly(recipe.later_share),
        false => scaled.split(recipe.later_share),
    };
    let mut tried = Vec::new();
    let mut best: Option<(Setting, Fit)> = None;
    let settings = recipe.settings();
    // What is best is fitted once more.
    fits.bar.set_length(settings.len() as u64 + 1);
    for (done, setting) in settings.into_iter().enumerate() {
        fits.bar.set_position(done as u64);
        let fit = match fits.known.get(done) {
            Some(known) => known.clone(),
            None => {
                let fit = setting.tried(&first, &later, recipe, rng);
                fits.keep(&fit)?;
                fit
            }
        };
        *rng = fit.rng.clone();
        tried.push((fit.setting.clone(), fit.loss));
        if best.as_ref().is_none_or(|(_, best)| fit.loss < best.loss) {
            best = Some((setting, fit));
        }
    }
    fits.bar.set_position(tried.len() as u64);
    let (setting, Fit { steps, later: predicted, .. }) = best.expect("at least one setting");
    // As many looks at each example as were best before.
    let steps = (steps as f64 * scaled.len() as f64 / first.len() as f64).round() as usize;
    let (model, _) = setting.fit(&scaled, None, recipe, steps.max(1), rng);
    let share = later.failures() as f64 / later.len() as f64;
    Ok(Learned {
        baseline: later.cross_entropy(&vec![share; later.len()]),
        later: predicted.into_iter().zip(later.failed().iter().map(|&f| f > 0.0)).collect(),
        kept: (kept.len(), kept.failures()),
        scaler,
        model,
        tried,
    })
}

fn enough(examples: &Examples, learns_margins: bool, where_: &'static str) -> Result<(), RiskError> {
    let (failures, episodes) = (examples.failures(), examples.len());
    let short = |what, found| RiskError::TooFew { where_, what, needed: FEWEST, found, episodes };
    if learns_margins {
        let known = examples.margins().iter().filter(|margin| margin.is_finite()).count();
        return if known == episodes && known >= 2 * FEWEST { Ok(()) } else { Err(short("margins", known)) };
    }
    match (failures, episodes - failures) {
        (found, _) if found < FEWEST => Err(short("failures", found)),
        (_, found) if found < FEWEST => Err(short("episodes without failure", found)),
        _ => Ok(()),
    }
}

impl PredictorRecipe {
    fn check(&self) -> Result<(), RiskError> {
        let (early, later) = (self.early_share, self.later_share);
        RiskError::unless((0.0..1.0).contains(&early), "early share", "a number from 0 to 1", early)?;
        RiskError::unless(later > 0.0 && later < 1.0, "later share", "a number between 0 and 1", later)?;
        RiskError::unless(self.members > 0, "members", "at least 1", self.members as f64)?;
        RiskError::unless(self.steps > 0, "steps", "at least 1", self.steps as f64)
    }

    fn settings(&self) -> Vec<Setting> {
        match self.form {
            Form::Mlp => [1, 2, 3].map(Setting::Layers).to_vec(),
            Form::Dictionary => [8, 16, 32].map(Setting::Neighbours).to_vec(),
            Form::Hazard => [8, 16].map(Setting::Filters).to_vec(),
            Form::Margin => vec![Setting::Margins],
        }
    }
}

/// What is chosen by the later part.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Setting {
    Layers(usize),
    Neighbours(usize),
    Filters(usize),
    Margins,
}

/// Width of a hidden layer.
const WIDTH: usize = 64;

impl Setting {
    /// Learns from the first part and is judged by the later one.
    fn tried(self, first: &Examples, later: &Examples, recipe: &PredictorRecipe, rng: &mut Rng) -> Fit {
        let (model, steps) = self.fit(first, Some(later), recipe, recipe.steps, rng);
        let (loss, later) = (model.loss(later), model.predict_all(later));
        Fit { setting: self.to_string(), loss, steps, later, rng: rng.clone() }
    }

    fn fit(
        self,
        train: &Examples,
        later: Option<&Examples>,
        recipe: &PredictorRecipe,
        steps: usize,
        rng: &mut Rng,
    ) -> (Model, usize) {
        match self {
            Setting::Layers(n) => {
                let (model, steps) = Networks::fit(&vec![WIDTH; n], recipe.members, train, later, steps, rng);
                (Model::Networks(model), steps)
            }
            Setting::Neighbours(k) => {
                // A step looks at so many neighbours that fewer of them do.
                let most = steps.min(recipe.steps / 4);
                let (model, steps) = Dictionary::fit(&[WIDTH, WIDTH], k, train, later, most, rng);
                (Model::Dictionary(model), steps)
            }
            Setting::Filters(n) => {
                // Its steps are those of a rate that falls to zero, however much there is to learn from.
                let model = Hazards::fit(n, recipe.members, train, recipe.steps, rng);
                (Model::Hazards(model), recipe.steps)
            }
            Setting::Margins => {
                // When to stop a held-out part of the examples says.
                let model = Margins::fit(&[WIDTH, WIDTH], recipe.members, train, recipe.steps, rng);
                (Model::Margins(model), recipe.steps)
            }
        }
    }
}

impl std::fmt::Display for Setting {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Setting::Layers(n) => write!(f, "{n} hidden layers of {WIDTH}"),
            Setting::Neighbours(k) => write!(f, "{k} neighbours"),
            Setting::Filters(n) => write!(f, "{n} filters"),
            Setting::Margins => write!(f, "margins, 2 layers of {WIDTH}"),
        }
    }
}

impl Model {
    fn predict_all(&self, examples: &Examples) -> Vec<f64> {
        match self {
            Model::Networks(model) => model.predict_all(examples),
            Model::Dictionary(model) => model.predict_all(examples),
            Model::Hazards(model) => model.predict_all(examples),
            Model::Margins(model) => model.predict_all(examples),
        }
    }

    /// Mean cross-entropy of examples.
    fn loss(&self, examples: &Examples) -> f64 {
        match self {
            Model::Hazards(model) => model.loss(examples),
            other => examples.cross_entropy(&other.predict_all(examples)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::examples::Theta;

    /// Policies that fail less and less, always where the first two numbers are large.
    fn history(n: usize, height: f64) -> Examples {
        let (mut rng, mut all) = (Rng::new(5), Examples::new(4));
        for i in 0..n {
            let x: Vec<f64> = (0..4).map(|_| rng.uniform()).collect();
            let iteration = i as f64 / n as f64;
            let danger = height * (1.0 - 0.8 * iteration) * (4.0 * (x[0] + x[1] - 2.0)).exp();
            all.push(&x, Theta { iteration, noise: 0.5 }, rng.uniform() < danger);
        }
        all
    }

    fn quick(form: Form) -> PredictorRecipe {
        PredictorRecipe { form, members: 2, steps: 1000, ..PredictorRecipe::default() }
    }

    fn predicts_better_than_the_share_of_failures(form: Form, steps: usize, least: f64) {
        let recipe = PredictorRecipe { steps, ..quick(form) };
        let found = learn(&history(4000, 2.0), &recipe, &mut Rng::new(1), &mut Fits::unsaved()).unwrap();
        let best = found.tried.iter().map(|t| t.1).fold(f64::INFINITY, f64::min);
        assert!(best < least * found.baseline, "{form:?}: {:?}, baseline {}", found.tried, found.baseline);
        assert_eq!(found.tried.len(), 3);
        let later = found.later.iter().filter(|l| l.1).count();
        assert!(later * 5 >= found.kept.1, "a fifth of the failures");
    }

    #[test]
    fn a_network_predicts_better_than_the_share_of_failures() {
        predicts_better_than_the_share_of_failures(Form::Mlp, 1000, 0.9);
    }

    #[test]
    fn a_dictionary_predicts_better_than_the_share_of_failures() {
        if skips::is_slow_tier("a dictionary of 2,400 steps") {
            predicts_better_than_the_share_of_failures(Form::Dictionary, 2400, 0.95);
        }
    }

    #[test]
    fn margins_are_learned_without_any_failure() {
        let mut all = Examples::new(4);
        let mut rng = Rng::new(6);
        for i in 0..1000 {
            let x: Vec<f64> = (0..4).map(|_| rng.uniform()).collect();
            all.push(&x, Theta { iteration: f64::from(i) / 1000.0, noise: 0.0 }, false);
            all.came_within(1.2 - x[0] - x[1] * x[1] / 3.0 + 0.05 * rng.normal());
        }
        let found = learn(&all, &quick(Form::Margin), &mut Rng::new(1), &mut Fits::unsaved()).unwrap();
        assert_eq!((found.kept.1, found.later.len()), (0, 180));
        let Model::Margins(model) = &found.model else { panic!("a model of margins") };
        let mut work = model.workspace();
        let mut at = |x: [f32; 2]| {
            let mut scaled = vec![0.0; found.scaler.outputs()];
            found.scaler.apply(&[x[0], x[1], 0.5, 0.5, 0.9, 0.0], &mut scaled);
            model.predict(&scaled, &mut work)
        };
        let [far, near, beyond] = [[0.2, 0.2], [0.9, 0.5], [0.98, 0.98]].map(&mut at);
        assert!(far < 0.3 * near && near < 0.1 && beyond > 0.5, "{far} {near} {beyond}");
        let error = learn(&history(500, 1.0), &quick(Form::Margin), &mut Rng::new(1), &mut Fits::unsaved());
        assert!(error.unwrap_err().to_string().contains("margins, found 0"));
    }

    #[test]
    fn the_same_seed_learns_the_same() {
        let examples = history(1500, 1.0);
        let once = |seed| {
            learn(&examples, &quick(Form::Mlp), &mut Rng::new(seed), &mut Fits::unsaved()).unwrap().model
        };
        assert_eq!(once(1), once(1));
        assert_ne!(once(1), once(2));
    }

    #[test]
    fn too_few_failures_are_counted_in_the_refusal() {
        let error = learn(&history(600, 0.1), &quick(Form::Mlp), &mut Rng::new(1), &mut Fits::unsaved())
            .unwrap_err()
            .to_string();
        assert!(
            error.contains("expected at least 30 failures, found ") && error.contains("train longer"),
            "{error}"
        );
        let error = learn(&history(600, 1e9), &quick(Form::Mlp), &mut Rng::new(1), &mut Fits::unsaved())
            .unwrap_err()
            .to_string();
        assert!(error.contains("episodes without failure"), "{error}");
        let bad = PredictorRecipe { early_share: 1.0, ..PredictorRecipe::default() };
        assert!(learn(&history(600, 1.0), &bad, &mut Rng::new(1), &mut Fits::unsaved()).is_err());
    }
}
