//! A network that may have a convolutional encoder before its dense layers.
//!
//! Parameters are those of the encoder, then those of the dense layers. Only dense layers drop units or weights, so that
//! several stochastic passes of one image encode it once.
//!
//! ```
//! use offnominal_core::Rng;
//! use offnominal_nets::{Activation, ConvNet, Filters, Init, Mlp, Net};
//!
//! let encoder = ConvNet::new(1, 6, 6, &[Filters { kernel: 3, stride: 3, count: 4 }]);
//! let net = Net::new(Some(encoder), Mlp::new(&[16, 8, 2], Activation::Relu).with_dropout(0.5));
//! let mut params = vec![0.0; net.n_params()];
//! net.init(&mut params, Init::Uniform, &mut Rng::new(1));
//! let (mut work, mut rng) = (net.workspace(1), Rng::new(2));
//! let first = net.forward_train(&params, &[128.0; 36], &mut work, &mut rng).to_vec();
//! let again = net.again(&params, &[128.0; 36], &mut work, &mut rng);
//! assert_ne!(first, again, "other units are dropped");
//! ```

use crate::{ConvNet, ConvWorkspace, Init, Mlp, Workspace};
use offnominal_core::Rng;

/// The shape of a network. Parameters are passed to each call.
#[derive(Debug, Clone, PartialEq)]
pub struct Net {
    encoder: Option<ConvNet>,
    head: Mlp,
}

/// Everything that passing batches of up to a given size through one network writes to.
#[derive(Debug, Clone)]
pub struct NetWorkspace {
    encoder: Option<ConvWorkspace>,
    head: Workspace,
}

impl From<Mlp> for Net {
    fn from(head: Mlp) -> Net {
        Net { encoder: None, head }
    }
}

impl Net {
    /// Dense layers that read what an encoder, if there is one, makes of an image.
    ///
    /// # Panics
    /// If they do not read as many numbers as the encoder gives.
    pub fn new(encoder: Option<ConvNet>, head: Mlp) -> Net {
        let features = encoder.as_ref().map_or(head.inputs(), ConvNet::outputs);
        assert_eq!(head.inputs(), features, "width of the first dense layer");
        Net { encoder, head }
    }

    /// The convolutions.
    pub fn encoder(&self) -> Option<&ConvNet> {
        self.encoder.as_ref()
    }

    /// The dense layers.
    pub fn head(&self) -> &Mlp {
        &self.head
    }

    /// The same network with other dense layers of the same widths.
    ///
    /// # Panics
    /// If they read another number of features.
    #[must_use]
    pub fn with_head(self, head: Mlp) -> Net {
        Net::new(self.encoder, head)
    }

    /// Width of the input.
    pub fn inputs(&self) -> usize {
        self.encoder.as_ref().map_or(self.head.inputs(), ConvNet::inputs)
    }

    /// Width of the output.
    pub fn outputs(&self) -> usize {
        self.head.outputs()
    }

    /// Parameters of the encoder.
    fn n_encoder(&self) -> usize {
        self.encoder.as_ref().map_or(0, ConvNet::n_params)
    }

    /// Number of parameters.
    pub fn n_params(&self) -> usize {
        self.n_encoder() + self.head.n_params()
    }

    /// The parameters of the encoder and of the dense layers.
    pub fn split<'p>(&self, params: &'p [f32]) -> (&'p [f32], &'p [f32]) {
        params.split_at(self.n_encoder())
    }

    /// As [`Net::split`], to be written to.
    pub fn split_mut<'p>(&self, params: &'p mut [f32]) -> (&'p mut [f32], &'p mut [f32]) {
        params.split_at_mut(self.n_encoder())
    }

    /// Whether stochastic passes differ from one another.
    pub fn is_stochastic(&self) -> bool {
        self.head.is_stochastic()
    }

    /// Draws the first parameters.
    pub fn init(&self, params: &mut [f32], init: Init, rng: &mut Rng) {
        let (encoder, head) = self.split_mut(params);
        if let Some(net) = &self.encoder {
            net.init(encoder, init, rng);
        }
        self.head.init(head, init, rng);
    }

    /// Buffers for batches of up to `max_batch` rows.
    pub fn workspace(&self, max_batch: usize) -> NetWorkspace {
        NetWorkspace {
            encoder: self.encoder.as_ref().map(|encoder| encoder.workspace(max_batch)),
            head: self.head.workspace(max_batch),
        }
    }

    /// Passes a batch through the network; the number of rows follows from the length of `x`.
    ///
    /// # Panics
    /// If the shapes do not fit, or the batch is larger than the workspace.
    pub fn forward<'w>(&self, params: &[f32], x: &[f32], work: &'w mut NetWorkspace) -> &'w [f32] {
        self.encode(params, x, work);
        let (features, params) =
            (work.encoder.as_ref().map_or(x, ConvWorkspace::output), self.split(params).1);
        self.head.forward(params, features, &mut work.head)
    }

    /// A stochastic pass: see [`Mlp::forward_train`].
    ///
    /// # Panics
    /// As [`Net::forward`].
    pub fn forward_train<'w>(
        &self,
        params: &[f32],
        x: &[f32],
        work: &'w mut NetWorkspace,
        rng: &mut Rng,
    ) -> &'w [f32] {
        self.encode(params, x, work);
        self.again(params, x, work, rng)
    }

    /// Another stochastic pass of the batch that was passed last, which need not be encoded again.
    ///
    /// # Panics
    /// As [`Net::forward`].
    pub fn again<'w>(
        &self,
        params: &[f32],
        x: &[f32],
        work: &'w mut NetWorkspace,
        rng: &mut Rng,
    ) -> &'w [f32] {
        let (features, params) =
            (work.encoder.as_ref().map_or(x, ConvWorkspace::output), self.split(params).1);
        self.head.forward_train(params, features, &mut work.head, rng)
    }

    fn encode(&self, params: &[f32], x: &[f32], work: &mut NetWorkspace) {
        if let (Some(encoder), Some(work)) = (&self.encoder, &mut work.encoder) {
            encoder.forward(self.split(params).0, x, work);
        }
    }
}

impl NetWorkspace {
    /// The result of the last pass, row-major.
    pub fn output(&self) -> &[f32] {
        self.head.output()
    }

    /// What the last layer read in the last pass, row-major; empty if there is one dense layer.
    pub fn features(&self) -> &[f32] {
        self.head.features()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Activation, Filters};

    fn net() -> Net {
        let encoder = ConvNet::new(2, 6, 6, &[Filters { kernel: 3, stride: 3, count: 4 }]);
        Net::new(Some(encoder), Mlp::new(&[16, 8, 3], Activation::Relu))
    }

    #[test]
    fn the_parts_in_turn_are_the_whole() {
        let (net, x) = (net(), (0..144).map(|i| (i % 7) as f32 * 30.0).collect::<Vec<_>>());
        let mut params = vec![0.0; net.n_params()];
        net.init(&mut params, Init::Uniform, &mut Rng::new(1));
        let found = net.forward(&params, &x, &mut net.workspace(2)).to_vec();
        let ((encoder, dense), both) = (net.split(&params), (net.encoder().unwrap(), net.head()));
        let features = both.0.forward(encoder, &x, &mut both.0.workspace(2)).to_vec();
        assert_eq!(both.1.forward(dense, &features, &mut both.1.workspace(2)), found);
        assert_eq!((net.inputs(), net.outputs(), encoder.len()), (72, 3, both.0.n_params()));
    }

    #[test]
    fn without_an_encoder_it_is_its_dense_layers() {
        let head = Mlp::new(&[4, 5, 2], Activation::Relu);
        let (net, x) = (Net::from(head.clone()), [0.3, -1.0, 2.0, 0.1]);
        let mut params = vec![0.0; net.n_params()];
        net.init(&mut params, Init::Uniform, &mut Rng::new(1));
        let found = net.forward(&params, &x, &mut net.workspace(1)).to_vec();
        assert_eq!(head.forward(&params, &x, &mut head.workspace(1)), found);
    }

    #[test]
    #[should_panic(expected = "width of the first dense layer")]
    fn an_encoder_and_dense_layers_that_do_not_fit_are_refused() {
        Net::new(net().encoder().cloned(), Mlp::new(&[15, 3], Activation::Relu));
    }
}
