//! A chain of dense layers.
//!
//! Layer l computes h_l = f(h_{l−1} W_l + b_l). Parameters are stored layer by layer, W_l as `[inputs, outputs]`
//! (the transpose of PyTorch's order, so that a single row streams through it), followed by b_l.

use crate::dropconnect::{self, Thinned};
use crate::filters::{Layers, column_sums, has_layers};
use crate::matmul::{self, Pack};
use crate::{Activation, Init, Workspace};
use offnominal_core::Rng;
use std::ops::Range;

/// The shape of a network. Parameters are passed to each call.
#[derive(Debug, Clone, PartialEq)]
pub struct Mlp {
    sizes: Vec<usize>,
    layers: Layers,
    hidden: Activation,
    output: Activation,
    dropout: f32,
    dropconnect: f32,
}

has_layers!(Mlp);

/// What a backward pass should compute.
#[derive(Debug, Default)]
pub struct Gradients<'a> {
    /// Derivatives by the parameters, overwritten.
    pub params: Option<&'a mut [f32]>,
    /// Derivatives by the given input channels, overwritten.
    pub input: Option<(Range<usize>, &'a mut [f32])>,
}

impl<'a> Gradients<'a> {
    /// Only by the parameters.
    pub fn params(params: &'a mut [f32]) -> Self {
        Gradients { params: Some(params), input: None }
    }

    /// Only by some input channels: cheaper, as no weight gradient is formed.
    pub fn input(channels: Range<usize>, d_in: &'a mut [f32]) -> Self {
        Gradients { params: None, input: Some((channels, d_in)) }
    }
}

impl Mlp {
    /// A network with the given widths, input first, a linear output and nothing dropped.
    ///
    /// # Panics
    /// If there are fewer than two widths or one is zero.
    pub fn new(sizes: &[usize], hidden: Activation) -> Mlp {
        assert!(sizes.len() >= 2 && !sizes.contains(&0), "expected two or more positive widths: {sizes:?}");
        let layers = Layers(sizes.windows(2).map(|pair| [pair[0], pair[1]]).collect());
        let output = Activation::Identity;
        Mlp { sizes: sizes.to_vec(), layers, hidden, output, dropout: 0.0, dropconnect: 0.0 }
    }

    /// The same network with an activation at its output.
    #[must_use]
    pub fn with_output(self, output: Activation) -> Mlp {
        Mlp { output, ..self }
    }

    /// The same network whose hidden units are dropped with probability `p` in stochastic passes.
    ///
    /// # Panics
    /// If `p` is not in [0, 1).
    #[must_use]
    pub fn with_dropout(self, p: f32) -> Mlp {
        assert!((0.0..1.0).contains(&p), "expected a probability below 1, found {p}");
        Mlp { dropout: p, ..self }
    }

    /// The same network whose weights are dropped with probability `p` in stochastic passes: those of the hidden layers,
    /// but for the first one where there are several.
    ///
    /// # Panics
    /// If `p` is not in [0, 1).
    #[must_use]
    pub fn with_dropconnect(self, p: f32) -> Mlp {
        assert!((0.0..1.0).contains(&p), "expected a probability below 1, found {p}");
        Mlp { dropconnect: p, ..self }
    }

    /// Widths, input first.
    pub fn sizes(&self) -> &[usize] {
        &self.sizes
    }

    /// Width of the input.
    pub fn inputs(&self) -> usize {
        self.sizes[0]
    }

    /// Width of the output.
    pub fn outputs(&self) -> usize {
        self.sizes[self.n_layers()]
    }

    /// Number of layers.
    pub fn n_layers(&self) -> usize {
        self.layers.len()
    }

    /// Probability that a hidden unit is dropped in a stochastic pass.
    pub fn dropout(&self) -> f32 {
        self.dropout
    }

    /// Probability that a weight of a hidden layer is dropped in a stochastic pass.
    pub fn dropconnect(&self) -> f32 {
        self.dropconnect
    }

    /// Whether stochastic passes differ from one another.
    pub fn is_stochastic(&self) -> bool {
        self.n_layers() > 1 && (self.dropout > 0.0 || self.dropconnect > 0.0)
    }

    fn activation(&self, layer: usize) -> Activation {
        if layer + 1 == self.n_layers() { self.output } else { self.hidden }
    }

    /// Buffers for batches of up to `max_batch` rows.
    pub fn workspace(&self, max_batch: usize) -> Workspace {
        let buffers = |wanted: &dyn Fn(usize) -> bool| -> Vec<Vec<f32>> {
            let len = |layer: usize| if wanted(layer) { max_batch * self.sizes[layer + 1] } else { 0 };
            (0..self.n_layers()).map(|layer| vec![0.0; len(layer)]).collect()
        };
        let drops = |layer: usize| self.dropout > 0.0 && layer + 1 < self.n_layers();
        let widest = max_batch * self.sizes[1..].iter().max().expect("a network has a layer");
        Workspace {
            max_batch,
            batch: 0,
            outputs: buffers(&|_| true),
            inner: buffers(&|layer| self.activation(layer).is_curved() && drops(layer)),
            masks: buffers(&drops),
            masked: false,
            thinned: Thinned::new(self.dropconnect, self.n_params()),
            delta: [vec![0.0; widest], vec![0.0; widest]],
            pack: Pack::default(),
        }
    }

    /// Passes a batch through the network; the number of rows follows from the length of `x`.
    ///
    /// # Panics
    /// If the shapes do not fit, or the batch is larger than the workspace.
    pub fn forward<'w>(&self, params: &[f32], x: &[f32], work: &'w mut Workspace) -> &'w [f32] {
        self.pass(params, x, work, None);
        work.output()
    }

    /// A stochastic pass: hidden units or weights are dropped at random, and the others scaled up to make good for them.
    /// Such are the passes of training, and those by which a trained network tells how sure it is (Gal & Ghahramani,
    /// ICML 2016).
    ///
    /// # Panics
    /// As [`Mlp::forward`].
    pub fn forward_train<'w>(
        &self,
        params: &[f32],
        x: &[f32],
        work: &'w mut Workspace,
        rng: &mut Rng,
    ) -> &'w [f32] {
        self.pass(params, x, work, self.is_stochastic().then_some(rng));
        work.output()
    }

    fn pass(&self, params: &[f32], x: &[f32], work: &mut Workspace, mut rng: Option<&mut Rng>) {
        let batch = x.len() / self.inputs();
        assert_eq!(params.len(), self.n_params(), "number of parameters");
        assert_eq!(x.len(), batch * self.inputs(), "width of the input");
        assert!(0 < batch && batch <= work.max_batch, "{batch} rows, workspace for {}", work.max_batch);
        (work.batch, work.masked) = (batch, rng.is_some() && self.dropout > 0.0);
        let thinned = dropconnect::layers(self.n_layers()).map(|layer| self.weights(layer));
        work.thinned.draw(params, thinned, rng.as_deref_mut());
        for layer in 0..self.n_layers() {
            let (before, from) = work.outputs.split_at_mut(layer);
            let h = before.last().map_or(x, |h| &h[..batch * self.sizes[layer]]);
            let y = &mut from[0][..batch * self.sizes[layer + 1]];
            let (used, f) = (work.thinned.of(params), self.activation(layer));
            let (w, b) = (&used[self.weights(layer)], &used[self.biases(layer)]);
            matmul::forward(h, w, b, f.slope(), y, &mut work.pack);
            f.apply(y);
            if let (Some(rng), true) = (rng.as_deref_mut(), work.masked && layer + 1 < self.n_layers()) {
                if f.is_curved() {
                    // The derivative follows from the value, which dropping is about to overwrite.
                    work.inner[layer][..y.len()].copy_from_slice(y);
                }
                drop_units(self.dropout, y, &mut work.masks[layer][..], rng);
            }
        }
    }

    /// Derivatives of a loss, given those by the output of the last forward pass, which must have read `x`.
    ///
    /// # Panics
    /// If the shapes do not fit the last forward pass.
    pub fn backward(
        &self,
        params: &[f32],
        x: &[f32],
        work: &mut Workspace,
        d_out: &[f32],
        mut wanted: Gradients<'_>,
    ) {
        let batch = work.batch;
        assert_eq!((x.len(), d_out.len()), (batch * self.inputs(), batch * self.outputs()), "shapes");
        work.delta[0][..d_out.len()].copy_from_slice(d_out);
        for layer in (0..self.n_layers()).rev() {
            let (n_in, n_out) = (self.sizes[layer], self.sizes[layer + 1]);
            self.chain(layer, work);
            let [delta, next] = &mut work.delta;
            let delta = &delta[..batch * n_out];
            if let Some(grad) = &mut wanted.params {
                let h = if layer == 0 { x } else { &work.outputs[layer - 1][..batch * n_in] };
                matmul::to_weights(h, delta, n_out, &mut grad[self.weights(layer)], &mut work.pack);
                column_sums(delta, &mut grad[self.biases(layer)]);
            }
            let w = &work.thinned.of(params)[self.weights(layer)];
            if layer > 0 {
                matmul::to_input(delta, w, n_out, &mut next[..batch * n_in], &mut work.pack);
            } else if let Some((channels, d_in)) = wanted.input.take() {
                let w = &w[channels.start * n_out..channels.end * n_out];
                matmul::to_input(delta, w, n_out, d_in, &mut work.pack);
            }
            work.delta.swap(0, 1);
        }
        if let Some(grad) = wanted.params {
            work.thinned.chain(grad);
        }
    }

    /// Takes the derivatives of a layer back through dropout and activation.
    fn chain(&self, layer: usize, work: &mut Workspace) {
        let delta = &mut work.delta[0][..work.batch * self.sizes[layer + 1]];
        let masked = work.masked && layer + 1 < self.n_layers();
        if masked {
            delta.iter_mut().zip(&work.masks[layer]).for_each(|(d, m)| *d *= m);
        }
        let f = self.activation(layer);
        let from = if masked && f.is_curved() { &work.inner } else { &work.outputs };
        f.chain(delta, &from[layer]);
    }
}

/// Drops each unit with probability `p` and scales the others by 1/(1 − p).
fn drop_units(p: f32, units: &mut [f32], mask: &mut [f32], rng: &mut Rng) {
    let kept = 1.0 / (1.0 - p);
    for (unit, mask) in units.iter_mut().zip(mask) {
        *mask = if rng.uniform() < f64::from(p) { 0.0 } else { kept };
        *unit *= *mask;
    }
}
