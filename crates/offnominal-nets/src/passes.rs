//! What a training in passes over shuffled examples remembers besides its network.

use crate::{AdamState, TensorError, Tensors};
use offnominal_core::Rng;

/// The state of a training by Adam in passes over shuffled examples.
#[derive(Debug, Clone)]
pub struct Passes {
    /// What Adam remembers.
    pub adam: AdamState,
    /// The order of the examples, which each pass shuffles anew.
    pub order: Vec<usize>,
    /// Where the random numbers come from.
    pub rng: Rng,
    /// Passes that were made.
    pub done: usize,
}

impl Passes {
    /// Before the first pass.
    pub fn new(n_params: usize, examples: usize, rng: Rng) -> Passes {
        Passes { adam: AdamState::new(n_params), order: (0..examples).collect(), rng, done: 0 }
    }

    /// Adds the state to the tensors of a network.
    ///
    /// # Panics
    /// Never: the state is plain data.
    pub fn save(&self, tensors: &mut Tensors) {
        // Whole numbers as the bits of floats: a place may be larger than a float holds exactly.
        let order: Vec<f32> = self.order.iter().map(|&place| f32::from_bits(place as u32)).collect();
        let Passes { adam, rng, done, .. } = self;
        for (name, list) in [("adam.mean", &adam.mean), ("adam.square", &adam.square), ("order", &order)] {
            tensors.put(name, list);
        }
        tensors.put_json("rng", rng);
        tensors.put_entry("passes", done);
        tensors.put_entry("adam.steps", adam.steps);
    }

    /// Reads what [`Passes::save`] added.
    ///
    /// # Errors
    /// If it is of another network or of other examples, or damaged.
    pub fn restore(&mut self, tensors: &Tensors) -> Result<(), TensorError> {
        let n = self.adam.mean.len();
        let order = tensors.expect("order", &[self.order.len()])?;
        *self = Passes {
            adam: AdamState {
                steps: tensors.json("adam.steps")?,
                mean: tensors.expect("adam.mean", &[n])?.to_vec(),
                square: tensors.expect("adam.square", &[n])?.to_vec(),
            },
            order: order.iter().map(|place| place.to_bits() as usize).collect(),
            rng: tensors.json("rng")?,
            done: tensors.json("passes")?,
        };
        Ok(())
    }
}
