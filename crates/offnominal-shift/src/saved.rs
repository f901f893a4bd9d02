//! InternalModels, and models being learned, as named numbers.
//!
//! A run that was interrupted and goes on from a checkpoint ends with the same bits as one that was not.

use crate::layers::Layers;
use crate::learn::{Learning, Split};
use crate::{InternalModel, ModelInput, ModelRecipe, ShiftError, Stream};
use offnominal_core::Rng;
use offnominal_nets::{AdamState, Standardiser, Tensors};
use serde::{Deserialize, Serialize};

/// Value of the entry `format` of the header.
const FORMAT: &str = "offnominal-internal-model-1";

impl InternalModel {
    /// The model as named numbers.
    pub fn tensors(&self) -> Tensors {
        let mut tensors = Tensors::default();
        tensors.insert("params", &[self.params.len()], &self.params);
        for (name, scaler) in [("states", &self.states), ("actions", &self.actions)] {
            let channels: Vec<f32> = scaler.kept().iter().map(|&c| c as f32).collect();
            tensors.insert(&format!("{name}.kept"), &[channels.len()], &channels);
            tensors.insert(&format!("{name}.mean"), &[channels.len()], scaler.mean());
            tensors.insert(&format!("{name}.scale"), &[channels.len()], scaler.scale());
            tensors.insert(&format!("{name}.width"), &[1], &[scaler.inputs() as f32]);
        }
        tensors
    }

    /// The model of named numbers.
    ///
    /// # Errors
    /// If one is missing or does not fit.
    pub fn from_tensors(input: ModelInput, tensors: &Tensors) -> Result<InternalModel, ShiftError> {
        let scaler = |name: &str| -> Result<Standardiser, ShiftError> {
            let list = |part: &str| tensors.get(&format!("{name}.{part}")).map(|found| found.1.to_vec());
            let channels: Vec<usize> = list("kept")?.into_iter().map(|c| c as usize).collect();
            let width = tensors.expect(&format!("{name}.width"), &[1])?[0] as usize;
            Standardiser::from_parts(width, channels, list("mean")?, list("scale")?)
                .map_err(|expected| ShiftError::Scaler { name: name.into(), expected })
        };
        let (states, actions) = (scaler("states")?, scaler("actions")?);
        let n = Layers::new(input, (states.outputs(), actions.outputs()), 1).n_params;
        let params = tensors.expect("params", &[n])?.to_vec();
        Ok(InternalModel { input, states, actions, params })
    }
}

/// What is no list of numbers.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct State {
    recipe: ModelRecipe,
    updates: u64,
    rng: Rng,
    split: Split,
    /// The lowest loss so far; none before the first validation.
    best: Option<f64>,
}

impl Learning {
    /// Everything that is needed to go on.
    ///
    /// # Panics
    /// Never: the state is plain data.
    pub fn checkpoint(&self) -> Tensors {
        let mut tensors = self.model.tensors();
        let adam = &self.adam;
        let lists = [("mean", &adam.mean), ("square", &adam.square), ("best", &self.best.1.params)];
        lists.iter().for_each(|(name, list)| tensors.insert(name, &[list.len()], list));
        let state = State {
            recipe: self.recipe.clone(),
            updates: adam.steps,
            rng: self.rng.clone(),
            split: self.split.clone(),
            best: self.best.0.is_finite().then_some(self.best.0),
        };
        let state = serde_json::to_string(&state).expect("the state is plain data");
        tensors.metadata.extend([("format".into(), FORMAT.into()), ("state".into(), state)]);
        tensors
    }

    /// Goes on from a checkpoint, with the same runs.
    ///
    /// # Errors
    /// If it is not one, or one of another recipe or of other runs.
    pub fn resume(runs: &[Stream], recipe: &ModelRecipe, tensors: &Tensors) -> Result<Learning, ShiftError> {
        let entry = |key: &str| tensors.metadata.get(key).map_or("", String::as_str);
        let refuse = |expected: String, found: String| ShiftError::Checkpoint { expected, found };
        if entry("format") != FORMAT {
            return Err(refuse(format!("the format {FORMAT}"), format!("{:?}", entry("format"))));
        }
        let state: State = serde_json::from_str(entry("state"))
            .map_err(|e| refuse("the state of a model being learned".into(), e.to_string()))?;
        if state.recipe != *recipe {
            return Err(refuse(format!("a model of {recipe:?}"), format!("{:?}", state.recipe)));
        }
        let mut places: Vec<usize> = state.split.used.iter().chain(&state.split.held).copied().collect();
        places.sort_unstable();
        let all = places.iter().copied().eq(0..runs.len()) && !state.split.held.is_empty();
        if !all || state.split.used.is_empty() {
            return Err(refuse(
                format!("a model of {} runs", runs.len()),
                format!("one of {}", places.len()),
            ));
        }
        let model = InternalModel::from_tensors(recipe.input, tensors)?;
        let list = |name: &str| tensors.expect(name, &[model.params.len()]).map(<[f32]>::to_vec);
        let adam = AdamState { steps: state.updates, mean: list("mean")?, square: list("square")? };
        let best = InternalModel { params: list("best")?, ..model.clone() };
        let loss = state.best.unwrap_or(f64::INFINITY);
        Ok(Learning::with(recipe.clone(), (model, adam), (loss, best), state.rng, state.split))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::circles;

    fn recipe() -> ModelRecipe {
        ModelRecipe {
            updates: 9,
            sequences: 2,
            length: 120,
            warm_up: 2,
            validate_every: 4,
            ..ModelRecipe::default()
        }
    }

    #[test]
    fn a_model_that_was_interrupted_ends_with_the_same_bits() {
        let (runs, recipe) = (circles(0.05, 200), recipe());
        let whole = crate::learn(&runs, &recipe, &mut Rng::new(2), &mut |_, _| ()).unwrap();
        let mut first = Learning::begin(&runs, &recipe, &mut Rng::new(2)).unwrap();
        for _ in 0..6 {
            first.step(&runs);
        }
        let bytes = first.checkpoint().to_bytes();
        let mut second = Learning::resume(&runs, &recipe, &Tensors::from_bytes(&bytes).unwrap()).unwrap();
        while !second.is_done() {
            second.step(&runs);
        }
        assert_eq!((second.updates(), second.into_model()), (9, whole));
    }

    #[test]
    fn a_checkpoint_of_something_else_is_refused() {
        let (runs, recipe) = (circles(0.05, 200), recipe());
        let tensors = Learning::begin(&runs, &recipe, &mut Rng::new(2)).unwrap().checkpoint();
        let refusal = |runs: &[Stream], recipe: &ModelRecipe, tensors: &Tensors| {
            Learning::resume(runs, recipe, tensors).err().unwrap().to_string()
        };
        assert_eq!(
            refusal(&runs[1..], &recipe, &tensors),
            "internal model: expected a model of 11 runs, found one of 12"
        );
        let other = ModelRecipe { updates: 8, ..recipe.clone() };
        assert!(refusal(&runs, &other, &tensors).contains("updates: 8"));
        let format = refusal(&runs, &recipe, &Tensors::default());
        assert!(format.contains("expected the format offnominal-internal-model-1"), "{format}");
    }

    #[test]
    fn a_model_survives_its_file() {
        let short = ModelRecipe { updates: 3, input: ModelInput::States, ..recipe() };
        let model = crate::learn(&circles(0.05, 200), &short, &mut Rng::new(2), &mut |_, _| ()).unwrap();
        assert_eq!(InternalModel::from_tensors(ModelInput::States, &model.tensors()).unwrap(), model);
        assert!(InternalModel::from_tensors(ModelInput::StatesAndActions, &model.tensors()).is_err());
    }
}
