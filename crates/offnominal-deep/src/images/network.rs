//! What a detector of this family is: a recipe that makes a network, and a network that expects images.

use super::frames::Look;
use super::learning::Learning;
use super::library::Batch;
use crate::pass::Pass;
use crate::weights::Plan;
use burn_tensor::Tensor;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::fmt::Debug;

/// What a network looks at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct View {
    /// Rows of its images.
    pub rows: usize,
    /// Columns of its images.
    pub columns: usize,
    /// Numbers per action.
    pub act_width: usize,
}

impl View {
    /// Numbers per image.
    pub fn len(&self) -> usize {
        3 * self.rows * self.columns
    }

    /// Whether there is nothing to see.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Rows and columns.
    pub fn sides(&self) -> [usize; 2] {
        [self.rows, self.columns]
    }
}

/// The parameters that every recipe has.
#[derive(Debug, Clone, Copy)]
pub struct Shared<'a> {
    /// How it looks at images.
    pub look: &'a Look,
    /// How it learns.
    pub learning: &'a Learning,
    /// By how much the sides of an image must be divisible.
    pub stride: usize,
}

/// Plain data that says which network, and how it learns.
pub trait NetworkRecipe:
    Clone + Debug + PartialEq + Serialize + DeserializeOwned + Send + Sync + 'static
{
    /// The name in commands, configuration and results.
    const ID: &'static str;

    /// What it makes.
    type Network: Network;

    /// Trains on two cores within minutes.
    fn small() -> Self;

    /// As Table 11 of Anomaly-Gym has it.
    fn paper() -> Self;

    /// The parameters that every recipe has.
    fn shared(&self) -> Shared<'_>;

    /// What is wrong with it, if anything.
    fn anomaly_spec(&self) -> Option<String> {
        None
    }

    /// The layers, which ask the plan for their numbers.
    fn network(&self, plan: &mut Plan, view: View) -> Self::Network;
}

/// One step of a stream on a device.
pub struct Step {
    /// What was seen before, `[1, 3, rows, columns]`.
    pub before: Tensor<4>,
    /// The action, `[1, act_width]`.
    pub action: Tensor<2>,
    /// What was seen after.
    pub after: Tensor<4>,
}

/// The two images whose difference is the score.
pub struct Prediction {
    /// What the network expected.
    pub expected: Tensor<4>,
    /// What there was.
    pub seen: Tensor<4>,
}

/// How a difference of images becomes a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Error {
    /// The mean of its squares.
    Squared,
    /// The mean of its sizes.
    Absolute,
}

/// Layers that expect the next image.
pub trait Network: Clone + Debug + Send + Sync + 'static {
    /// What is remembered of an episode.
    type Memory: Clone + Debug + Send + Sync;

    /// How its score is made.
    const ERROR: Error;

    /// What learning makes small, the mean over the steps of a batch.
    fn loss(&self, batch: &Batch, pass: &mut Pass) -> Tensor<1>;

    /// What it expected of a step and what it saw; nothing is remembered at the first step of an episode.
    fn see(&self, memory: Option<Self::Memory>, step: Step, pass: &mut Pass) -> (Prediction, Self::Memory);

    /// Numbers that learning keeps for each step of a window, so that derivatives can be taken.
    fn floats(&self) -> usize;
}
