//! Atrous spatial pyramid pooling: convolutions of several dilations beside the mean of the image.
//!
//! Reference: Chen et al., "Rethinking atrous convolution for semantic image segmentation", 2017. Names are those of
//! torchvision.

use crate::layer::{ConvNorm, Kernel};
use crate::pass::Pass;
use crate::resize::{pool, resize};
use crate::weights::Plan;
use burn_tensor::Tensor;

/// The branches and what joins them.
#[derive(Debug, Clone)]
pub struct Aspp {
    branches: Vec<ConvNorm>,
    image: ConvNorm,
    project: ConvNorm,
}

impl Aspp {
    /// Of a map with so many channels; every branch has `to`.
    pub fn new(plan: &mut Plan, name: &str, channels: [usize; 2], rates: [usize; 3]) -> Aspp {
        let to = channels[1];
        let mut layer = |place: &str, first: usize, channels, kernel| {
            let names = [format!("{name}.{place}.{first}"), format!("{name}.{place}.{}", first + 1)];
            ConvNorm::named(plan, [&names[0], &names[1]], channels, kernel)
        };
        let mut branches = vec![layer("convs.0", 0, channels, Kernel::of(1))];
        for (i, rate) in rates.into_iter().enumerate() {
            branches.push(layer(&format!("convs.{}", i + 1), 0, channels, Kernel::of(3).dilation(rate)));
        }
        let image = layer("convs.4", 1, channels, Kernel::of(1));
        let project = layer("project", 0, [(branches.len() + 1) * to, to], Kernel::of(1));
        Aspp { branches, image, project }
    }

    /// Features at the size of the map.
    pub fn forward(&self, x: Tensor<4>, pass: &mut Pass) -> Tensor<4> {
        let [_, _, height, width] = x.dims();
        let mut all: Vec<_> = self.branches.iter().map(|layer| layer.relu(x.clone(), pass)).collect();
        let image = self.image.relu(pool(x, 1), pass);
        all.push(resize(image, [height, width]));
        self.project.relu(Tensor::cat(all, 1), pass)
    }
}
