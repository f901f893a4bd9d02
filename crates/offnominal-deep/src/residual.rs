//! ResNet-50 with dilations instead of strides in its last two stages, so that its map is an eighth of the image.
//!
//! Reference: He et al., CVPR 2016; Yu and Koltun, ICLR 2016. Names are those of torchvision below `backbone`, so that
//! weights that were published for it can be loaded.

use crate::layer::{ConvNorm, Kernel};
use crate::pass::Pass;
use crate::trunk::{Channels, Maps};
use crate::weights::Plan;
use burn_tensor::Tensor;
use burn_tensor::activation::relu;
use burn_tensor::module::max_pool2d;
use burn_tensor::ops::MaxPoolOptions;

/// Blocks of each stage, the channels within them, stride and dilations of the first block and of the others.
const STAGES: [(usize, usize, usize, [usize; 2]); 4] =
    [(3, 64, 1, [1, 1]), (4, 128, 2, [1, 1]), (6, 256, 1, [1, 2]), (3, 512, 1, [2, 4])];

/// Channels that leave a block, for each within it.
const EXPANSION: usize = 4;

/// Of its maps.
pub const CHANNELS: Channels = Channels { low: 256, middle: 1024, high: 2048 };

/// The stage in which units are dropped, and after how many of its blocks, as in the paper.
const DROPPED: (usize, usize) = (2, 4);

/// The trunk.
#[derive(Debug, Clone)]
pub struct Residual {
    stem: ConvNorm,
    stages: Vec<Vec<Bottleneck>>,
    dropout: Option<f64>,
}

/// Three convolutions beside a short cut.
#[derive(Debug, Clone)]
struct Bottleneck {
    narrow: ConvNorm,
    square: ConvNorm,
    widen: ConvNorm,
    short_cut: Option<ConvNorm>,
}

impl Residual {
    /// Its layers; units are dropped with this probability, if any.
    pub fn new(plan: &mut Plan, dropout: Option<f64>) -> Residual {
        let names = ["backbone.conv1", "backbone.bn1"];
        let stem = ConvNorm::named(plan, names, [3, 64], Kernel::of(7).stride(2));
        let (mut stages, mut from) = (Vec::new(), 64);
        for (number, (blocks, width, stride, dilations)) in STAGES.into_iter().enumerate() {
            let mut stage = Vec::new();
            for block in 0..blocks {
                let name = format!("backbone.layer{}.{block}", number + 1);
                let (stride, dilation) = if block == 0 { (stride, dilations[0]) } else { (1, dilations[1]) };
                let kernel = Kernel::of(3).stride(stride).dilation(dilation);
                stage.push(Bottleneck::new(plan, &name, from, width, kernel, block == 0));
                from = EXPANSION * width;
            }
            stages.push(stage);
        }
        Residual { stem, stages, dropout }
    }

    /// The maps of a batch.
    pub fn forward(&self, x: Tensor<4>, pass: &mut Pass) -> Maps {
        let x = self.stem.relu(x, pass);
        let options = MaxPoolOptions::new([3; 2]).with_stride([2; 2]).with_padding([1; 2]);
        let mut maps = vec![max_pool2d(x, options)];
        for number in 0..self.stages.len() {
            maps.push(self.stage(number, maps[number].clone(), pass));
        }
        let [high, middle, _, low] = std::array::from_fn(|i| maps[maps.len() - 1 - i].clone());
        Maps { low, middle, high }
    }

    fn stage(&self, number: usize, mut x: Tensor<4>, pass: &mut Pass) -> Tensor<4> {
        for (i, block) in self.stages[number].iter().enumerate() {
            x = block.forward(x, pass);
            let drops = number == DROPPED.0 && i < DROPPED.1;
            x = pass.drop(x, self.dropout.filter(|_| drops));
        }
        x
    }
}

impl Bottleneck {
    fn new(
        plan: &mut Plan,
        name: &str,
        from: usize,
        width: usize,
        kernel: Kernel,
        is_first: bool,
    ) -> Bottleneck {
        let to = EXPANSION * width;
        let mut layer = |number: usize, channels, kernel| {
            let names = [format!("{name}.conv{number}"), format!("{name}.bn{number}")];
            ConvNorm::named(plan, [&names[0], &names[1]], channels, kernel)
        };
        let narrow = layer(1, [from, width], Kernel::of(1));
        let square = layer(2, [width; 2], kernel);
        let widen = layer(3, [width, to], Kernel::of(1));
        let names = [format!("{name}.downsample.0"), format!("{name}.downsample.1")];
        let point = Kernel::of(1).stride(kernel.every());
        let short_cut = is_first.then(|| ConvNorm::named(plan, [&names[0], &names[1]], [from, to], point));
        Bottleneck { narrow, square, widen, short_cut }
    }

    fn forward(&self, x: Tensor<4>, pass: &mut Pass) -> Tensor<4> {
        let y = self.narrow.relu(x.clone(), pass);
        let y = self.square.relu(y, pass);
        let y = self.widen.forward(y, pass);
        let x = match &self.short_cut {
            Some(layer) => layer.forward(x, pass),
            None => x,
        };
        relu(x + y)
    }
}
