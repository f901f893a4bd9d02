//! A fitted f, and its file.

pub(crate) mod file;

use crate::error::RiskError;
use crate::examples::{Theta, rows};
use crate::learn::{Form, Learned, Model};
use crate::memory::Near;
use offnominal_nets::{SequenceWorkspace, Standardiser, TensorError, Tensors, Workspace};
use serde::{Deserialize, Serialize};

/// Value of the entry `format` of the header.
const FORMAT: &str = "offnominal-predictor-3";

/// What a predictor is for and where it comes from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct About {
    /// The environment.
    pub env: String,
    /// Names of the numbers of an initial condition.
    pub initial: Vec<String>,
    /// Number of features that the environment makes of them, or of each place that they lead past.
    pub features: usize,
    /// How f is represented.
    pub form: Form,
    /// The exponent α that suits it, by the later part of the history.
    pub exponent: f64,
    /// The most that the learner explored.
    pub largest_noise: f64,
    /// Shares of that between which the examples lie.
    pub noise: (f64, f64),
    /// Steps of the whole training.
    pub steps: u64,
    /// Episodes that it has learned from, and failures among them.
    pub learned_from: (usize, usize),
    /// How well it predicted what was kept from it at first.
    pub skill: Skill,
}

/// What the later part of a history says of a predictor.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Skill {
    /// Mean cross-entropy of what had learned from the earlier part alone, with the best setting.
    pub predictor: f64,
    /// The same of the share of failures in the later part itself, which needs no predictor.
    pub share: f64,
    /// How many of the later failures lie in each hundredth of the later episodes by their prediction, the highest first.
    pub failures: Vec<u64>,
}

/// Parts of the later episodes in which their failures are counted.
const PARTS: usize = 100;

impl Skill {
    /// From the chance that was predicted for each later episode, and whether it failed. Where predictions are equal, the
    /// failures among them count as the least dangerous.
    pub fn of(later: &[(f64, bool)], predictor: f64, share: f64) -> Skill {
        let (mut order, mut failures) = (later.to_vec(), vec![0; PARTS]);
        order.sort_by(|a, b| b.0.total_cmp(&a.0));
        let mut seen = 0;
        for equal in order.chunk_by(|a, b| a.0 == b.0) {
            seen += equal.len();
            let part = (PARTS * seen).div_ceil(later.len()) - 1;
            failures[part] += equal.iter().filter(|(_, failed)| *failed).count() as u64;
        }
        Skill { predictor, share, failures }
    }

    /// How many of the later failures lie outside of the given share of the episodes with the highest predictions, and how
    /// many there are.
    pub fn outside(&self, share: f64) -> (usize, usize) {
        let inside = (PARTS as f64 * share).round() as usize;
        let sum = |part: &[u64]| part.iter().sum::<u64>() as usize;
        (sum(&self.failures[inside.min(self.failures.len())..]), sum(&self.failures))
    }

    /// Why nothing is to be gained from a predictor, if that is so.
    pub fn warning(&self) -> Option<String> {
        let Skill { predictor, share, failures } = self;
        if failures.iter().sum::<u64>() == 0 {
            return Some(
                "none of the later episodes failed: whether the predictor tells failures is not known".into(),
            );
        }
        (predictor >= share).then(|| {
            format!(
                "the predictor told no more of later episodes than their share of failures does (cross-entropy {predictor:.3} \
                 against {share:.3}): it may save nothing"
            )
        })
    }
}

/// A fitted predictor.
#[derive(Debug, Clone, PartialEq)]
pub struct Predictor {
    /// What it is for.
    pub about: About,
    scaler: Standardiser,
    model: Model,
}

/// A predictor of one policy, with its own buffers.
pub struct Reader<'p> {
    predictor: &'p Predictor,
    theta: Theta,
    rows: Vec<f32>,
    scaled: Vec<f32>,
    work: Work,
}

/// The buffers of a form.
enum Work {
    Dense(Workspace),
    Neighbours(Workspace, Near),
    Sequence(SequenceWorkspace),
}

impl Predictor {
    /// What was learned, as a predictor.
    pub fn new(about: About, learned: Learned) -> Predictor {
        Predictor { about, scaler: learned.scaler, model: learned.model }
    }

    /// Opens it for the policy after so many steps of training, acting without exploration. What lies beyond the
    /// examples' θ is read at their end.
    pub fn reader(&self, step: u64) -> Reader<'_> {
        let iteration = (step as f64 / self.about.steps.max(1) as f64).min(1.0);
        let (low, high) = self.about.noise;
        let work = match &self.model {
            Model::Networks(model) => Work::Dense(model.workspace()),
            Model::Dictionary(model) => Work::Neighbours(model.net.workspace(1), Near::default()),
            Model::Hazards(model) => Work::Sequence(model.net.workspace(1)),
            Model::Margins(model) => Work::Dense(model.workspace()),
        };
        Reader {
            predictor: self,
            theta: Theta { iteration, noise: 0.0_f64.clamp(low, high) },
            rows: Vec::new(),
            scaled: Vec::new(),
            work,
        }
    }

    /// The file.
    ///
    /// # Panics
    /// Never: what was learned is plain data.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut file = Tensors::default();
        file::put(&self.model, &mut file);
        file.put_entry("format", FORMAT);
        file.put_json("about", &self.about);
        file.put_json("scaler", &self.scaler);
        file.to_bytes()
    }

    /// Reads a file.
    ///
    /// # Errors
    /// If it is not one, or holds what learning never writes.
    pub fn from_bytes(bytes: &[u8]) -> Result<Predictor, RiskError> {
        let file = Tensors::from_bytes(bytes)?;
        file.expect_entry("format", FORMAT)?;
        let (about, scaler): (About, Standardiser) = (file.json("about")?, file.json("scaler")?);
        check(&about, &scaler)?;
        let model = file::read(&file, about.form, scaler.outputs())?;
        Ok(Predictor { about, scaler, model })
    }
}

impl Reader<'_> {
    /// The chance to fail from an initial condition with these features, in [0, 1]; the form [`Form::Hazard`] reads the
    /// features of one place after the other, and means a policy that fails far more rarely than those learned from.
    ///
    /// # Panics
    /// If there are more or fewer features.
    pub fn predict(&mut self, x: &[f64]) -> f64 {
        let Predictor { about, scaler, model } = self.predictor;
        let n = x.len() / about.features;
        let fits = if about.form == Form::Hazard { n > 0 } else { n == 1 };
        assert!(fits && x.len() == n * about.features, "features of an initial condition");
        self.rows.clear();
        self.rows.extend(rows(x, about.features, self.theta));
        self.scaled.resize(n * scaler.outputs(), 0.0);
        scaler.apply(&self.rows, &mut self.scaled);
        match (model, &mut self.work) {
            (Model::Networks(model), Work::Dense(work)) => model.predict(&self.scaled, work),
            (Model::Dictionary(model), Work::Neighbours(work, near)) => {
                model.predict(&self.scaled, work, near)
            }
            (Model::Hazards(model), Work::Sequence(work)) => model.predict(&self.scaled, work),
            (Model::Margins(model), Work::Dense(work)) => model.predict(&self.scaled, work),
            _ => unreachable!("the buffers were made for the model"),
        }
    }
}

fn check(about: &About, scaler: &Standardiser) -> Result<(), TensorError> {
    let (wanted, found) = (about.features.saturating_add(2), scaler.inputs());
    TensorError::require(wanted == found, "width", &wanted.to_string(), found)?;
    sound(scaler)?;
    let exponent = about.exponent;
    let (what, holds) = ("exponent", exponent > 0.0 && exponent <= 4.0);
    TensorError::require(holds, what, "a number above 0, at most 4", exponent)?;
    let parts = about.skill.failures.len();
    TensorError::require(parts == PARTS, "parts of the later failures", &PARTS.to_string(), parts)?;
    let (low, high) = about.noise;
    let holds = (0.0..=1.0).contains(&low) && (low..=1.0).contains(&high);
    TensorError::require(holds, "noise", "shares from 0 to 1 in order", format!("{low} and {high}"))
}

/// Refuses a map that no learning makes.
pub(crate) fn sound(scaler: &Standardiser) -> Result<(), TensorError> {
    let (mean, scale) = (scaler.mean().to_vec(), scaler.scale().to_vec());
    let is_sound = Standardiser::from_parts(scaler.inputs(), scaler.varying().to_vec(), mean, scale).is_ok();
    let (holds, expected) = (is_sound && scaler.outputs() > 0, "finite means and positive scales");
    TensorError::require(holds, "scaler", expected, "something else")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::examples::Examples;
    use crate::learn::{Fits, PredictorRecipe, learn};
    use offnominal_core::Rng;
    use std::sync::LazyLock;

    fn predictor(form: Form) -> Predictor {
        let (mut rng, mut all) = (Rng::new(5), Examples::new(2));
        for i in 0..800 {
            let x = [rng.uniform(), rng.uniform()];
            let theta = Theta { iteration: f64::from(i) / 800.0, noise: 1.0 - f64::from(i) / 900.0 };
            all.push(&x, theta, rng.uniform() < x[0].powi(4));
            all.came_within(1.0 - x[0]);
        }
        let recipe = PredictorRecipe { form, members: 2, steps: 200, ..PredictorRecipe::default() };
        let learned = learn(&all, &recipe, &mut Rng::new(1), &mut Fits::unsaved()).unwrap();
        let about = About {
            env: "w".into(),
            initial: vec!["a".into(), "b".into()],
            features: 2,
            form,
            exponent: 0.5,
            largest_noise: 0.3,
            noise: (0.1, 1.0),
            steps: 800,
            learned_from: learned.kept,
            skill: Skill::of(&learned.later, 0.25, 0.5),
        };
        Predictor::new(about, learned)
    }

    #[test]
    fn a_predictor_that_tells_nothing_is_warned_of() {
        assert_eq!(Skill::of(&[(0.5, true)], 0.141, 0.156).warning(), None);
        let unknown = Skill::of(&[(0.5, false)], 0.1, 0.0).warning().unwrap();
        assert!(unknown.contains("none of the later episodes failed"), "{unknown}");
        let warning = Skill::of(&[(0.5, true)], 0.156, 0.141).warning().unwrap();
        assert!(warning.contains("cross-entropy 0.156 against 0.141"), "{warning}");
    }

    #[test]
    fn failures_outside_of_the_highest_predictions_are_counted() {
        let later: Vec<(f64, bool)> = (0..200).map(|i| (f64::from(i / 2), i >= 190 || i == 100)).collect();
        let skill = Skill::of(&later, 0.1, 0.2);
        assert_eq!([0.05, 0.04, 0.5, 0.49, 1.0].map(|share| skill.outside(share).0), [1, 3, 0, 1, 0]);
        assert_eq!(skill.outside(0.01), (9, 11));
        // Equal predictions say nothing of each other.
        let flat = Skill::of(&[(0.3, true), (0.3, false), (0.3, true)], 0.1, 0.2);
        assert_eq!((flat.outside(0.99), flat.outside(1.0)), ((2, 2), (0, 2)));
    }

    #[test]
    fn what_is_written_is_read_and_predicts_alike() {
        for form in [Form::Mlp, Form::Dictionary, Form::Hazard, Form::Margin] {
            let predictor = predictor(form);
            let read = Predictor::from_bytes(&predictor.to_bytes()).unwrap();
            assert_eq!(read, predictor);
            let (mut one, mut other) = (predictor.reader(700), read.reader(700));
            for x in [[0.1, 0.2], [0.99, 0.4], [50.0, -50.0]] {
                let f = one.predict(&x);
                assert!((0.0..=1.0).contains(&f), "{form:?} {x:?}: {f}");
                assert_eq!(f, other.predict(&x));
            }
        }
    }

    #[track_caller]
    fn refuses(change: impl Fn(&mut Tensors), want: &str) {
        static WRITTEN: LazyLock<Vec<u8>> = LazyLock::new(|| predictor(Form::Dictionary).to_bytes());
        let mut file = Tensors::from_bytes(&WRITTEN).unwrap();
        change(&mut file);
        let error = Predictor::from_bytes(&file.to_bytes()).unwrap_err().to_string();
        assert!(error.contains(want), "{error}");
    }

    #[test]
    fn what_learning_never_writes_is_refused() {
        refuses(|f| f.insert("vote", &[2], &[0.0, 0.5]), "vote");
        refuses(|f| f.insert("widths", &[1], &[3.0]), "two or more counts");
        refuses(|f| f.insert("outcomes", &[1], &[0.5]), "0 or 1");
        refuses(|f| f.insert("stands_for", &[2], &[1.0, 0.5]), "stands_for");
        refuses(|f| f.insert("parameters", &[1], &[f32::NAN]), "shape");
        refuses(|f| drop(f.metadata.insert("format".into(), "x".into())), "offnominal-predictor-3");
        refuses(|f| drop(f.metadata.insert("about".into(), "{}".into())), "missing field");
        assert!(Predictor::from_bytes(b"predictor").is_err());
    }

    #[test]
    fn layers_that_cannot_be_are_refused() {
        let mut file = Tensors::from_bytes(&predictor(Form::Hazard).to_bytes()).unwrap();
        for taps in [[4.0, 1.0, 1.0], [3.0, 0.0, 1.0], [3.0, 1.0, 2.0]] {
            file.insert("taps", &[1, 3], &taps);
            let error = Predictor::from_bytes(&file.to_bytes()).unwrap_err().to_string();
            assert!(error.starts_with("taps: expected up to 16 layers"), "{error}");
        }
    }

    #[test]
    fn damaged_bytes_never_stop_the_program() {
        let mut rng = Rng::new(2);
        for bytes in [Form::Mlp, Form::Hazard, Form::Margin].map(|form| predictor(form).to_bytes()) {
            for _ in 0..300 {
                let mut damaged = bytes.clone();
                let at = rng.below(damaged.len().min(1200));
                damaged[at] ^= 1 << rng.below(8);
                if let Ok(read) = Predictor::from_bytes(&damaged) {
                    let _ = read.reader(1).predict(&vec![0.5; read.about.features]);
                }
            }
        }
    }
}
