//! A model of how runs go on, and how often it recognises what followed.

use crate::layers::{AHEAD, Layers};
use crate::{Inputs, Stream};
use offnominal_nets::Standardiser;
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// How often what followed was recognised, for each k.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct TruePositives {
    /// Positives that were recognised, for k = 1 … 16.
    pub hits: Vec<u64>,
    /// Positives.
    pub n: Vec<u64>,
}

impl TruePositives {
    /// The share for each k; none where the run was too short.
    pub fn rates(&self) -> Vec<Option<f64>> {
        self.hits.iter().zip(&self.n).map(|(&h, &n)| (n > 0).then(|| h as f64 / n as f64)).collect()
    }

    /// The median of the shares over k.
    pub fn median(&self) -> Option<f64> {
        let mut rates: Vec<f64> = self.rates().into_iter().flatten().collect();
        rates.sort_unstable_by(f64::total_cmp);
        let n = rates.len();
        (n > 0).then(|| 0.5 * (rates[(n - 1) / 2] + rates[n / 2]))
    }
}

/// A model of how runs go on. Cloning copies the parameters.
#[derive(Debug, Clone, PartialEq)]
pub struct InternalModel {
    pub(crate) inputs: Inputs,
    pub(crate) states: Standardiser,
    pub(crate) actions: Standardiser,
    pub(crate) params: Vec<f32>,
}

/// Steps that are looked at together when a run is judged.
const WINDOW: usize = 500;
/// Windows that pass through the layers together.
const TOGETHER: usize = 4;
/// Fewer steps than this have no context with a token after it.
const LEAST: usize = 36;

impl InternalModel {
    /// How often the model recognises what follows in a run.
    ///
    /// # Panics
    /// If the run is of another environment.
    pub fn true_positives(&self, run: &Stream) -> TruePositives {
        let mut found = TruePositives { hits: vec![0; AHEAD], n: vec![0; AHEAD] };
        let widths = (self.states.outputs(), self.actions.outputs());
        let mut layers = Layers::new(self.inputs, widths, TOGETHER * WINDOW);
        let whole = run.len() / WINDOW * WINDOW;
        for from in (0..whole).step_by(TOGETHER * WINDOW) {
            let to = whole.min(from + TOGETHER * WINDOW);
            self.count(run, from..to, (to - from) / WINDOW, &mut layers, &mut found);
        }
        if run.len() - whole >= LEAST {
            self.count(run, whole..run.len(), 1, &mut layers, &mut found);
        }
        found
    }

    /// Counts what is recognised in steps that are so many sequences.
    fn count(
        &self,
        run: &Stream,
        steps: Range<usize>,
        sequences: usize,
        layers: &mut Layers,
        into: &mut TruePositives,
    ) {
        let (states, actions) = self.standardised(run, steps);
        layers.forward(&self.params, &states, &actions, sequences);
        layers.judge(&self.params, |k, score| {
            into.n[k - 1] += 1;
            into.hits[k - 1] += u64::from(score > 0.0);
        });
    }

    /// Rows of a run as the model reads them.
    pub(crate) fn standardised(&self, run: &Stream, steps: Range<usize>) -> (Vec<f32>, Vec<f32>) {
        let part = |scaler: &Standardiser, rows: &[f32], width: usize| {
            // A channel that is constant under nominal conditions carries no information; without any there is one
            // that is zero.
            let mut out = vec![0.0; steps.len() * scaler.outputs().max(1)];
            if scaler.outputs() > 0 {
                scaler.apply(&rows[steps.start * width..steps.end * width], &mut out);
            }
            out
        };
        (part(&self.states, &run.states, run.widths.0), part(&self.actions, &run.actions, run.widths.1))
    }
}
