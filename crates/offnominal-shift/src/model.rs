//! Encoders, aggregator and predictions.
//!
//! f_s and f_a: kernels (4, 4), strides (2, 2), channels (64, 128); the dilations are (1, 2), because only in this order the
//! receptive field is the stated 16 (in the printed order (2, 1) it is 13). g: kernels (3, 3), channels (256, 128).
//! h_k: one linear map for each k = 1 … 16. A token stands for 16 steps and begins 4 steps after the one before, so that
//! k = 16 looks 64 steps ahead, where the text can be read as 16.

use crate::contrast::{self, Shape};
use crate::temporal::{Kernel, Layer};
use crate::{ShiftError, Stream};
use offnominal_core::Rng;
use offnominal_nets::{Activation, Init, Standardiser, Tensors};
use serde::{Deserialize, Serialize};

/// How many tokens ahead are predicted.
pub const AHEAD: usize = 16;
/// The kernels of the encoders.
pub const ENCODER: [Kernel; 2] =
    [Kernel { size: 4, stride: 2, dilation: 1 }, Kernel { size: 4, stride: 2, dilation: 2 }];
const AGGREGATOR: Kernel = Kernel { size: 3, stride: 1, dilation: 1 };
const ONE: Kernel = Kernel { size: 1, stride: 1, dilation: 1 };
const INNER: usize = 64;
/// Numbers of a token.
const TOKEN: usize = 128;
const MIXED: usize = 256;
/// Tokens that a context has seen before its last one.
const BEHIND: usize = 4;

/// What a model reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Sees {
    /// States and commands.
    StatesAndActions,
    /// States alone.
    States,
}

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
    pub(crate) sees: Sees,
    pub(crate) states: Standardiser,
    pub(crate) actions: Standardiser,
    pub(crate) params: Vec<f32>,
}

/// The layers with their buffers, for batches of one size.
pub(crate) struct Layers {
    states: [Layer; 2],
    actions: Option<[Layer; 2]>,
    mix: [Layer; 2],
    heads: Layer,
    joined: Vec<f32>,
    pub n_params: usize,
}

impl Layers {
    /// Layers for at most so many rows in all sequences together.
    pub(crate) fn new(sees: Sees, (states, actions): (usize, usize), rows: usize) -> Layers {
        let mut from = 0;
        let mut layer = |kernel, widths, output| {
            let layer = Layer::new(kernel, widths, output, from, rows);
            from = layer.params().end;
            layer
        };
        let mut encoder = |width: usize| {
            [
                layer(ENCODER[0], (width, INNER), Activation::Relu),
                layer(ENCODER[1], (INNER, TOKEN), Activation::Identity),
            ]
        };
        let states = encoder(states.max(1));
        let actions = (sees == Sees::StatesAndActions).then(|| encoder(actions.max(1)));
        let joined = if actions.is_some() { 2 * TOKEN } else { TOKEN };
        let mix = [
            layer(AGGREGATOR, (joined, MIXED), Activation::Relu),
            layer(AGGREGATOR, (MIXED, TOKEN), Activation::Relu),
        ];
        let heads = layer(ONE, (TOKEN, AHEAD * TOKEN), Activation::Identity);
        Layers { states, actions, mix, heads, joined: vec![], n_params: from }
    }

    fn all(&self) -> impl Iterator<Item = &Layer> {
        let actions = self.actions.iter().flatten();
        self.states.iter().chain(actions).chain(&self.mix).chain([&self.heads])
    }

    pub(crate) fn init(&self, rng: &mut Rng) -> Vec<f32> {
        let mut params = vec![0.0; self.n_params];
        self.all().for_each(|l| l.net().init(&mut params[l.params()], Init::Uniform, rng));
        params
    }

    /// Encodes sequences and predicts what follows.
    pub(crate) fn forward(
        &mut self,
        params: &[f32],
        states: &[f32],
        actions: &[f32],
        sequences: usize,
    ) -> Shape {
        chain(&mut self.states, params, states, sequences);
        match &mut self.actions {
            Some(layers) => {
                chain(layers, params, actions, sequences);
                join(&self.states[1].out, &layers[1].out, &mut self.joined);
            }
            None => self.joined.clone_from(&self.states[1].out),
        }
        chain(&mut self.mix, params, &self.joined, sequences);
        self.heads.forward(params, &self.mix[1].out, sequences);
        Shape {
            sequences,
            tokens: self.states[1].n_outputs(),
            contexts: self.mix[1].n_outputs(),
            behind: BEHIND,
            width: TOKEN,
            ahead: AHEAD,
        }
    }

    pub(crate) fn tokens(&self) -> &[f32] {
        &self.states[1].out
    }

    pub(crate) fn predictions(&self) -> &[f32] {
        &self.heads.out
    }

    /// Derivatives by all parameters, given those by tokens and predictions.
    pub(crate) fn backward(
        &mut self,
        params: &[f32],
        d_tokens: &mut [f32],
        d_predictions: &[f32],
        grad: &mut [f32],
    ) {
        let mut d_context = vec![0.0; self.mix[1].out.len()];
        self.heads.backward(params, d_predictions, grad, Some(&mut d_context));
        let mut d_joined = vec![0.0; self.joined.len()];
        back(&mut self.mix, params, &d_context, grad, Some(&mut d_joined));
        match &mut self.actions {
            Some(layers) => {
                let mut d_actions = vec![0.0; layers[1].out.len()];
                split(&d_joined, d_tokens, &mut d_actions);
                back(layers, params, &d_actions, grad, None);
            }
            None => d_tokens.iter_mut().zip(&d_joined).for_each(|(a, b)| *a += b),
        }
        back(&mut self.states, params, d_tokens, grad, None);
    }
}

fn chain(layers: &mut [Layer; 2], params: &[f32], input: &[f32], sequences: usize) {
    let [first, second] = layers;
    first.forward(params, input, sequences);
    second.forward(params, &first.out, sequences);
}

fn back(
    layers: &mut [Layer; 2],
    params: &[f32],
    d_out: &[f32],
    grad: &mut [f32],
    d_input: Option<&mut [f32]>,
) {
    let [first, second] = layers;
    let mut d_inner = vec![0.0; first.out.len()];
    second.backward(params, d_out, grad, Some(&mut d_inner));
    first.backward(params, &d_inner, grad, d_input);
}

/// Rows of both, side by side.
fn join(a: &[f32], b: &[f32], out: &mut Vec<f32>) {
    out.clear();
    for (a, b) in a.chunks_exact(TOKEN).zip(b.chunks_exact(TOKEN)) {
        out.extend_from_slice(a);
        out.extend_from_slice(b);
    }
}

/// Adds the left half of each row to `a`, and writes the right half to `b`.
fn split(rows: &[f32], a: &mut [f32], b: &mut [f32]) {
    for ((row, a), b) in
        rows.chunks_exact(2 * TOKEN).zip(a.chunks_exact_mut(TOKEN)).zip(b.chunks_exact_mut(TOKEN))
    {
        a.iter_mut().zip(row).for_each(|(a, r)| *a += r);
        b.copy_from_slice(&row[TOKEN..]);
    }
}

/// Steps that are looked at together when a run is judged.
const WINDOW: usize = 500;
/// Fewer steps than this have no context with a token after it.
const LEAST: usize = 36;

impl InternalModel {
    /// How often the model recognises what follows in a run.
    ///
    /// # Panics
    /// If the run is of another world.
    pub fn true_positives(&self, run: &Stream) -> TruePositives {
        let mut found = TruePositives { hits: vec![0; AHEAD], n: vec![0; AHEAD] };
        let widths = (self.states.outputs(), self.actions.outputs());
        let mut layers = Layers::new(self.sees, widths, WINDOW);
        for from in (0..run.len()).step_by(WINDOW) {
            let steps = from..(from + WINDOW).min(run.len());
            if steps.len() >= LEAST {
                let (states, actions) = self.standardised(run, steps);
                let shape = layers.forward(&self.params, &states, &actions, 1);
                count(shape, &layers, &mut found);
            }
        }
        found
    }

    /// Rows of a run as the model reads them.
    pub(crate) fn standardised(&self, run: &Stream, steps: std::ops::Range<usize>) -> (Vec<f32>, Vec<f32>) {
        let part = |scaler: &Standardiser, rows: &[f32], width: usize| {
            // A channel that never changed at home says nothing; without any there is one that is always zero.
            let mut out = vec![0.0; steps.len() * scaler.outputs().max(1)];
            if scaler.outputs() > 0 {
                scaler.apply(&rows[steps.start * width..steps.end * width], &mut out);
            }
            out
        };
        (part(&self.states, &run.states, run.widths.0), part(&self.actions, &run.actions, run.widths.1))
    }

    /// The model as named numbers.
    pub fn tensors(&self) -> Tensors {
        let mut kept = Tensors::default();
        kept.insert("params", &[self.params.len()], &self.params);
        for (name, scaler) in [("states", &self.states), ("actions", &self.actions)] {
            let channels: Vec<f32> = scaler.kept().iter().map(|&c| c as f32).collect();
            kept.insert(&format!("{name}.kept"), &[channels.len()], &channels);
            kept.insert(&format!("{name}.mean"), &[channels.len()], scaler.mean());
            kept.insert(&format!("{name}.scale"), &[channels.len()], scaler.scale());
            kept.insert(&format!("{name}.width"), &[1], &[scaler.inputs() as f32]);
        }
        kept
    }

    /// The model of named numbers.
    ///
    /// # Errors
    /// If one is missing or does not fit.
    pub fn from_tensors(sees: Sees, kept: &Tensors) -> Result<InternalModel, ShiftError> {
        let scaler = |name: &str| -> Result<Standardiser, ShiftError> {
            let list = |part: &str| kept.get(&format!("{name}.{part}")).map(|found| found.1.to_vec());
            let channels: Vec<usize> = list("kept")?.into_iter().map(|c| c as usize).collect();
            let width = kept.expect(&format!("{name}.width"), &[1])?[0] as usize;
            Standardiser::from_parts(width, channels, list("mean")?, list("scale")?)
                .map_err(|expected| ShiftError::Scaler { name: name.into(), expected })
        };
        let (states, actions) = (scaler("states")?, scaler("actions")?);
        let n = Layers::new(sees, (states.outputs(), actions.outputs()), 1).n_params;
        let params = kept.expect("params", &[n])?.to_vec();
        Ok(InternalModel { sees, states, actions, params })
    }
}

fn count(shape: Shape, layers: &Layers, found: &mut TruePositives) {
    let (tokens, predictions) = (layers.tokens(), layers.predictions());
    shape.pairs(|_, k, at, token| {
        let score = contrast::dot(&tokens[token..token + TOKEN], &predictions[at..at + TOKEN]);
        found.n[k - 1] += 1;
        found.hits[k - 1] += u64::from(score > 0.0);
    });
}
