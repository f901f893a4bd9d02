//! Models, and models being learned, as named tensors.
//!
//! A run that was interrupted and continues from a checkpoint ends with the same bits as one that was not.

use crate::layers::Layers;
use crate::learn::{Learning, Split};
use crate::{Inputs, InternalModel, ModelRecipe, ShiftError, Stream};
use offnominal_core::Rng;
use offnominal_nets::{AdamState, Standardiser, TensorError, Tensors};
use serde::{Deserialize, Serialize};

/// Value of the entry `format` of the header.
const FORMAT: &str = "offnominal-internal-model-1";

impl InternalModel {
    /// The model as named tensors.
    pub fn tensors(&self) -> Tensors {
        let mut file = Tensors::default();
        file.put("params", &self.params);
        for (name, scaler) in [("states", &self.states), ("actions", &self.actions)] {
            let channels: Vec<f32> = scaler.varying().iter().map(|&c| c as f32).collect();
            file.put(&format!("{name}.kept"), &channels);
            file.put(&format!("{name}.mean"), scaler.mean());
            file.put(&format!("{name}.scale"), scaler.scale());
            file.put(&format!("{name}.width"), &[scaler.inputs() as f32]);
        }
        file
    }

    /// The model of named tensors.
    ///
    /// # Errors
    /// If one is missing or does not fit.
    pub fn from_tensors(inputs: Inputs, file: &Tensors) -> Result<InternalModel, ShiftError> {
        let scaler = |name: &str| -> Result<Standardiser, ShiftError> {
            let list = |part: &str| file.get(&format!("{name}.{part}")).map(|found| found.1.to_vec());
            let channels: Vec<usize> = list("kept")?.into_iter().map(|c| c as usize).collect();
            let width = file.expect(&format!("{name}.width"), &[1])?[0] as usize;
            Standardiser::from_parts(width, channels, list("mean")?, list("scale")?)
                .map_err(|expected| TensorError::mismatch(name, expected, "others").into())
        };
        let (states, actions) = (scaler("states")?, scaler("actions")?);
        let n = Layers::new(inputs, (states.outputs(), actions.outputs()), 1).n_params;
        let params = file.expect("params", &[n])?.to_vec();
        Ok(InternalModel { inputs, states, actions, params })
    }
}

/// What is not a tensor.
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
        let mut file = self.model.tensors();
        let adam = &self.adam;
        let lists = [("mean", &adam.mean), ("square", &adam.square), ("best", &self.best.1.params)];
        lists.iter().for_each(|(name, list)| file.put(name, list));
        let state = State {
            recipe: self.recipe.clone(),
            updates: adam.steps,
            rng: self.rng.clone(),
            split: self.split.clone(),
            best: self.best.0.is_finite().then_some(self.best.0),
        };
        file.put_entry("format", FORMAT);
        file.put_json("state", &state);
        file
    }

    /// Goes on from a checkpoint, with the same runs.
    ///
    /// # Errors
    /// If it is not one, or one of another recipe or of other runs.
    pub fn resume(runs: &[Stream], recipe: &ModelRecipe, file: &Tensors) -> Result<Learning, ShiftError> {
        let require = |holds: bool, expected: String, found: String| {
            TensorError::require(holds, "checkpoint", &expected, found)
        };
        file.expect_entry("format", FORMAT)?;
        let state: State = file.json("state")?;
        let (expected, found) = (format!("a model of {recipe:?}"), format!("{:?}", state.recipe));
        require(state.recipe == *recipe, expected, found)?;
        let mut places: Vec<usize> = state.split.used.iter().chain(&state.split.held).copied().collect();
        places.sort_unstable();
        let all = places.iter().copied().eq(0..runs.len());
        let holds = all && !state.split.held.is_empty() && !state.split.used.is_empty();
        require(holds, format!("a model of {} runs", runs.len()), format!("one of {}", places.len()))?;
        let model = InternalModel::from_tensors(recipe.inputs, file)?;
        let list = |name: &str| file.expect(name, &[model.params.len()]).map(<[f32]>::to_vec);
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
        let file = Learning::begin(&runs, &recipe, &mut Rng::new(2)).unwrap().checkpoint();
        let refusal = |runs: &[Stream], recipe: &ModelRecipe, file: &Tensors| {
            Learning::resume(runs, recipe, file).err().unwrap().to_string()
        };
        assert_eq!(
            refusal(&runs[1..], &recipe, &file),
            "internal model: checkpoint: expected a model of 11 runs, found one of 12"
        );
        let other = ModelRecipe { updates: 8, ..recipe.clone() };
        assert!(refusal(&runs, &other, &file).contains("updates: 8"));
        let format = refusal(&runs, &recipe, &Tensors::default());
        let expected = "entry \"format\" of the header: expected \"offnominal-internal-model-1\", found \"\"";
        assert!(format.contains(expected), "{format}");
    }

    #[test]
    fn a_model_survives_its_file() {
        let short = ModelRecipe { updates: 3, inputs: Inputs::States, ..recipe() };
        let model = crate::learn(&circles(0.05, 200), &short, &mut Rng::new(2), &mut |_, _| ()).unwrap();
        assert_eq!(InternalModel::from_tensors(Inputs::States, &model.tensors()).unwrap(), model);
        assert!(InternalModel::from_tensors(Inputs::StatesAndActions, &model.tensors()).is_err());
    }
}
