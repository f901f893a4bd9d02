//! A network that may have an eye: convolutions before its dense layers.
//!
//! Parameters are those of the eye, then those of the dense layers. Only dense layers drop units or weights, so that
//! several stochastic passes of one picture look at it once.
//!
//! ```
//! use offnominal_core::Rng;
//! use offnominal_nets::{Activation, ConvNet, Filters, Init, Mlp, Net};
//!
//! let eye = ConvNet::new(1, 6, 6, &[Filters { kernel: 3, stride: 3, count: 4 }]);
//! let net = Net::new(Some(eye), Mlp::new(&[16, 8, 2], Activation::Relu).with_dropout(0.5));
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
    eye: Option<ConvNet>,
    head: Mlp,
}

/// Everything that passing batches of up to a given size through one network writes to.
#[derive(Debug, Clone)]
pub struct NetWorkspace {
    eye: Option<ConvWorkspace>,
    head: Workspace,
}

impl From<Mlp> for Net {
    fn from(head: Mlp) -> Net {
        Net { eye: None, head }
    }
}

impl Net {
    /// Dense layers that read what an eye, if there is one, makes of a picture.
    ///
    /// # Panics
    /// If they do not read as many numbers as the eye gives.
    pub fn new(eye: Option<ConvNet>, head: Mlp) -> Net {
        let seen = eye.as_ref().map_or(head.inputs(), ConvNet::outputs);
        assert_eq!(head.inputs(), seen, "width of the first dense layer");
        Net { eye, head }
    }

    /// The convolutions.
    pub fn eye(&self) -> Option<&ConvNet> {
        self.eye.as_ref()
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
        Net::new(self.eye, head)
    }

    /// Width of the input.
    pub fn inputs(&self) -> usize {
        self.eye.as_ref().map_or(self.head.inputs(), ConvNet::inputs)
    }

    /// Width of the output.
    pub fn outputs(&self) -> usize {
        self.head.outputs()
    }

    /// Parameters of the eye.
    fn n_eye(&self) -> usize {
        self.eye.as_ref().map_or(0, ConvNet::n_params)
    }

    /// Number of parameters.
    pub fn n_params(&self) -> usize {
        self.n_eye() + self.head.n_params()
    }

    /// The parameters of the eye and of the dense layers.
    pub fn split<'p>(&self, params: &'p [f32]) -> (&'p [f32], &'p [f32]) {
        params.split_at(self.n_eye())
    }

    /// As [`Net::split`], to be written to.
    pub fn split_mut<'p>(&self, params: &'p mut [f32]) -> (&'p mut [f32], &'p mut [f32]) {
        params.split_at_mut(self.n_eye())
    }

    /// Whether stochastic passes differ from one another.
    pub fn is_stochastic(&self) -> bool {
        self.head.is_stochastic()
    }

    /// Draws the first parameters.
    pub fn init(&self, params: &mut [f32], init: Init, rng: &mut Rng) {
        let (eye, head) = self.split_mut(params);
        if let Some(net) = &self.eye {
            net.init(eye, init, rng);
        }
        self.head.init(head, init, rng);
    }

    /// Buffers for batches of up to `max_batch` rows.
    pub fn workspace(&self, max_batch: usize) -> NetWorkspace {
        NetWorkspace {
            eye: self.eye.as_ref().map(|eye| eye.workspace(max_batch)),
            head: self.head.workspace(max_batch),
        }
    }

    /// Passes a batch through the network; the number of rows follows from the length of `x`.
    ///
    /// # Panics
    /// If the shapes do not fit, or the batch is larger than the workspace.
    pub fn forward<'w>(&self, params: &[f32], x: &[f32], work: &'w mut NetWorkspace) -> &'w [f32] {
        self.see(params, x, work);
        let (seen, params) = (work.eye.as_ref().map_or(x, ConvWorkspace::output), self.split(params).1);
        self.head.forward(params, seen, &mut work.head)
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
        self.see(params, x, work);
        self.again(params, x, work, rng)
    }

    /// Another stochastic pass of the batch that was passed last: an eye need not look again.
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
        let (seen, params) = (work.eye.as_ref().map_or(x, ConvWorkspace::output), self.split(params).1);
        self.head.forward_train(params, seen, &mut work.head, rng)
    }

    fn see(&self, params: &[f32], x: &[f32], work: &mut NetWorkspace) {
        if let (Some(eye), Some(work)) = (&self.eye, &mut work.eye) {
            eye.forward(self.split(params).0, x, work);
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
        let eye = ConvNet::new(2, 6, 6, &[Filters { kernel: 3, stride: 3, count: 4 }]);
        Net::new(Some(eye), Mlp::new(&[16, 8, 3], Activation::Relu))
    }

    #[test]
    fn the_parts_in_turn_are_the_whole() {
        let (net, x) = (net(), (0..144).map(|i| (i % 7) as f32 * 30.0).collect::<Vec<_>>());
        let mut params = vec![0.0; net.n_params()];
        net.init(&mut params, Init::Uniform, &mut Rng::new(1));
        let found = net.forward(&params, &x, &mut net.workspace(2)).to_vec();
        let ((eye, dense), both) = (net.split(&params), (net.eye().unwrap(), net.head()));
        let seen = both.0.forward(eye, &x, &mut both.0.workspace(2)).to_vec();
        assert_eq!(both.1.forward(dense, &seen, &mut both.1.workspace(2)), found);
        assert_eq!((net.inputs(), net.outputs(), eye.len()), (72, 3, both.0.n_params()));
    }

    #[test]
    fn without_an_eye_it_is_its_dense_layers() {
        let head = Mlp::new(&[4, 5, 2], Activation::Relu);
        let (net, x) = (Net::from(head.clone()), [0.3, -1.0, 2.0, 0.1]);
        let mut params = vec![0.0; net.n_params()];
        net.init(&mut params, Init::Uniform, &mut Rng::new(1));
        let found = net.forward(&params, &x, &mut net.workspace(1)).to_vec();
        assert_eq!(head.forward(&params, &x, &mut head.workspace(1)), found);
    }

    #[test]
    #[should_panic(expected = "width of the first dense layer")]
    fn an_eye_and_dense_layers_that_do_not_fit_are_refused() {
        Net::new(net().eye().cloned(), Mlp::new(&[15, 3], Activation::Relu));
    }
}
