//! What a committor reads of an episode in progress.

use super::root::Importance;
use offnominal_core::prelude::*;
use offnominal_core::run::Branch;
use offnominal_risk::balanced::{Buffers, Network};

/// A network with the buffers of one thread.
pub struct Reader<'n> {
    network: &'n Network,
    row: Vec<f32>,
    buffers: Buffers,
}

impl<'n> Reader<'n> {
    /// Opens a network.
    pub fn new(network: &'n Network) -> Reader<'n> {
        Reader { network, row: Vec::new(), buffers: network.buffers() }
    }
}

impl Importance for Reader<'_> {
    fn value(&mut self, branch: &Branch) -> f64 {
        self.row.clear();
        read(branch, &mut self.row);
        self.network.value(&self.row, &mut self.buffers)
    }
}

/// Adds what a committor reads of a state: the observation, what the environment knows beyond it, and the time.
pub fn read(branch: &Branch, row: &mut Vec<f32>) {
    row.extend_from_slice(branch.observation());
    row.extend(branch.env().failure_search().outlook().iter().map(|&v| v as f32));
    row.push(branch.time() as f32);
}

/// How many numbers it reads in an environment.
pub fn width(env: &dyn Env) -> usize {
    env.spec().obs_width() + env.failure_search().outlook().len() + 1
}
