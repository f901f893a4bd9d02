//! Policies of other libraries as ONNX files: what PyTorch, JAX and scikit-learn export of a feed-forward network.
//!
//! The file is read and computed by [`offnominal_nets::onnx`].
//!
//! | number  | meaning                                                                                             |
//! |---------|-----------------------------------------------------------------------------------------------------|
//! | input   | the observation: `[1, o]`, `[o]`, or the shape of the image, its planes first or last; an axis without a    |
//! |         | length is 1                                                                                         |
//! | output  | the first one: the action in the environment's own units, clipped to its bounds; or for a choice its number, |
//! |         | or a value for each choice, of which the largest is taken                                            |
//!
//! Weights must be finite. An output that is not, is an action that is not a number, which ends the episode.
//! What a file may hold and compute is limited ([`limits`](offnominal_core::limits)) before anything is allocated.

mod layout;

use crate::actor::{choices, choose};
use layout::Layout;
use offnominal_core::prelude::*;
use offnominal_core::spec::EnvSpec;
pub use offnominal_nets::onnx::{Beside, OnnxError};
use offnominal_nets::onnx::{Graph, Use, clip};

/// A network from an ONNX file, as a policy.
#[derive(Clone)]
pub struct Onnx {
    graph: Graph,
    layout: Layout,
    /// The observation in the order of the input.
    fed: Vec<f32>,
    bounds: Vec<(f32, f32)>,
    /// How many choices there are, if the action is one of them.
    choices: Option<usize>,
}

impl Onnx {
    /// Reads a file that has all of its weights, and tries it with zeros.
    ///
    /// # Errors
    /// If it is damaged, needs something that is not known here, or has other numbers than the environment.
    pub fn from_bytes(bytes: &[u8], spec: &EnvSpec) -> Result<Onnx, OnnxError> {
        Onnx::with_files(bytes, &Beside::new(), spec)
    }

    /// The names of the files in which it has weights.
    ///
    /// # Errors
    /// If it is damaged.
    pub fn files(bytes: &[u8]) -> Result<Vec<String>, OnnxError> {
        offnominal_nets::onnx::files(bytes)
    }

    /// Reads a file, some of whose weights are in others.
    ///
    /// # Errors
    /// As above, or if one of the others is not there.
    pub fn with_files(bytes: &[u8], beside: &Beside, spec: &EnvSpec) -> Result<Onnx, OnnxError> {
        let (mut graph, width) = (Graph::read(bytes, beside, Use::Action)?, spec.obs_width());
        let layout = Layout::of(graph.input(), spec)?;
        let fed = vec![0.0; width];
        let found = graph.run(&fed)?.data.len();
        let choices = choices(&spec.action);
        let expected = choices.filter(|_| found != 1).unwrap_or(spec.act_width());
        if found != expected {
            return Err(OnnxError::Shape { what: "output", expected, found });
        }
        let bounds = spec.action.iter().map(|c| (c.low as f32, c.high as f32)).collect();
        Ok(Onnx { graph, layout, fed, bounds, choices })
    }
}

impl Policy for Onnx {
    fn act(&mut self, obs: &[f32], action: &mut [f32], _: &mut Rng) {
        // Shapes are those of the trial, so there is an output.
        self.layout.feed(obs, &mut self.fed);
        let found = self.graph.run(&self.fed).map_or(&[][..], |found| &found.data);
        if self.choices.is_some() && found.len() > 1 {
            action[0] = choose(found);
            return;
        }
        action.fill(f32::NAN);
        for ((x, &found), &(low, high)) in action.iter_mut().zip(found).zip(&self.bounds) {
            *x = clip(found, low, high);
        }
    }

    fn fork(&self) -> Box<dyn Policy> {
        Box::new(self.clone())
    }
}
