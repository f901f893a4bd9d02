//! The network of a head, and how it learns.

use super::description::Described;
use offnominal_core::Rng;
use offnominal_nets::{Activation, Adam, AdamState, Gradients, Init, Mlp};

const BATCH: usize = 256;
const RATE: f64 = 2e-3;
const DECAY: f64 = 1e-4;

/// Places and whether something was pasted there.
#[derive(Default)]
pub(super) struct Examples {
    inputs: Vec<f32>,
    is_outlier: Vec<bool>,
}

impl Examples {
    pub fn add(&mut self, row: &[f32], is_outlier: bool) {
        self.inputs.extend_from_slice(row);
        self.is_outlier.push(is_outlier);
    }

    /// Known places and outliers.
    pub fn counts(&self) -> [usize; 2] {
        let outliers = self.is_outlier.iter().filter(|&&is| is).count();
        [self.is_outlier.len() - outliers, outliers]
    }

    fn width(&self) -> usize {
        self.inputs.len() / self.is_outlier.len()
    }

    fn row(&self, i: usize) -> &[f32] {
        let width = self.width();
        &self.inputs[i * width..][..width]
    }
}

/// The network, with the mean and one over the deviation of its inputs.
pub(super) struct Head {
    net: Mlp,
    params: Vec<f32>,
    mean: Vec<f32>,
    inverse: Vec<f32>,
}

impl Head {
    /// Learned by cross-entropy, in which known places and outliers weigh the same.
    pub fn learned(examples: &Examples, hidden: usize, epochs: usize, rng: &mut Rng) -> Head {
        let net = Mlp::new(&[examples.width(), hidden, 1], Activation::Relu);
        let (mean, inverse) = moments(&examples.inputs, examples.width());
        let params = net.first_params(Init::Uniform, rng);
        let mut head = Head { net, params, mean, inverse };
        head.learn(examples, epochs, rng);
        head
    }

    fn learn(&mut self, examples: &Examples, epochs: usize, rng: &mut Rng) {
        let [known, outliers] = examples.counts().map(|n| n as f32);
        let weight = |is_outlier: bool| 0.5 * (known + outliers) / if is_outlier { outliers } else { known };
        let mut order: Vec<usize> = (0..examples.is_outlier.len()).collect();
        let (mut state, mut grad) = (AdamState::new(self.params.len()), vec![0.0; self.params.len()]);
        let mut work = self.net.workspace(BATCH);
        for epoch in 0..epochs {
            rng.shuffle(&mut order);
            let fall = 0.5 + 0.5 * (std::f64::consts::PI * epoch as f64 / epochs as f64).cos();
            let adam = Adam { lr: RATE * fall, weight_decay: DECAY, ..Adam::default() };
            for batch in order.chunks(BATCH) {
                let mut x: Vec<f32> = batch.iter().flat_map(|&i| examples.row(i)).copied().collect();
                self.standardise(&mut x);
                let z = self.net.forward(&self.params, &x, &mut work);
                let delta: Vec<f32> = z
                    .iter()
                    .zip(batch)
                    .map(|(&z, &i)| {
                        let is_outlier = examples.is_outlier[i];
                        let error = sigmoid(z) - f32::from(u8::from(is_outlier));
                        weight(is_outlier) * error / batch.len() as f32
                    })
                    .collect();
                self.net.backward(&self.params, &x, &mut work, &delta, Gradients::params(&mut grad));
                adam.step(&mut self.params, &grad, &mut state);
            }
        }
    }

    fn standardise(&self, rows: &mut [f32]) {
        for row in rows.chunks_exact_mut(self.mean.len()) {
            row.iter_mut().zip(&self.mean).zip(&self.inverse).for_each(|((x, m), s)| *x = (*x - m) * s);
        }
    }

    /// What it says of each place, before the sigmoid.
    pub fn logits(&self, described: &Described) -> Vec<f32> {
        let mut work = self.net.workspace(BATCH);
        let mut found = Vec::with_capacity(described.rows.len() / described.width);
        for rows in described.rows.chunks(BATCH * described.width) {
            let mut x = rows.to_vec();
            self.standardise(&mut x);
            found.extend_from_slice(self.net.forward(&self.params, &x, &mut work));
        }
        found
    }
}

fn sigmoid(z: f32) -> f32 {
    1.0 / (1.0 + (-z).exp())
}

/// Mean and one over the deviation of each column; 0 where it never varies.
fn moments(rows: &[f32], width: usize) -> (Vec<f32>, Vec<f32>) {
    let n = (rows.len() / width) as f64;
    let (mut sums, mut squares) = (vec![0.0_f64; width], vec![0.0_f64; width]);
    for row in rows.chunks_exact(width) {
        for (i, &x) in row.iter().enumerate() {
            sums[i] += f64::from(x);
            squares[i] += f64::from(x).powi(2);
        }
    }
    let inverse = |(sum, square): (&f64, &f64)| {
        let variance = square / n - (sum / n).powi(2);
        if variance > 1e-12 { (1.0 / variance.sqrt()) as f32 } else { 0.0 }
    };
    let inverse = sums.iter().zip(&squares).map(inverse).collect();
    (sums.iter().map(|sum| (sum / n) as f32).collect(), inverse)
}
