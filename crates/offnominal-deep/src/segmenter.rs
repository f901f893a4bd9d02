//! A network for segmentation: trunk, head and classifier, with the modifications of the paper.

use crate::deeplab::{Decoder, Plain, Sizes};
use crate::design::{Architecture, Design, Modification, Preset};
use crate::device;
use crate::layer::{Conv, ConvNorm, Kernel};
use crate::pass::{Mode, Pass};
use crate::pspnet::Pyramid;
use crate::residual::Residual;
use crate::resize::resize;
use crate::segments::{Segmentation, Segments, standardised};
use crate::small::Small;
use crate::trunk::{Maps, Trunk};
use crate::weights::{Plan, Weights, numbers, tensor};
use crate::xception::Xception;
use burn_tensor::{Device, Tensor};
use offnominal_core::Rng;
use offnominal_nets::Tensors;
use offnominal_nets::onnx::OnnxError;

/// Channels of reduced features, as in the paper.
const REDUCED: usize = 32;

/// A network with its numbers.
///
/// ```
/// use offnominal_core::Rng;
/// use offnominal_deep::{Design, Segmenter, Segments, device};
///
/// let classes = ["road", "sky"].map(String::from).to_vec();
/// let net = Segmenter::new(&Design { classes, ..Design::default() }, &mut Rng::new(1), &device::cpu());
/// let output = net.segment(&[128; 3 * 16 * 32], 32, 1, &mut Rng::new(2)).unwrap();
/// assert_eq!(output.logits.len(), 2 * 16 * 32);
/// ```
#[derive(Debug, Clone)]
pub struct Segmenter {
    /// What it is.
    pub design: Design,
    /// Its numbers.
    pub weights: Weights,
    trunk: Trunk,
    head: Head,
    reduce: Option<ConvNorm>,
    classify: Conv,
    confidence: Option<Conv>,
    auxiliary: Option<(ConvNorm, Conv)>,
}

#[derive(Debug, Clone)]
enum Head {
    Pyramid(Pyramid),
    Decoder(Decoder),
    Plain(Plain),
}

/// What a network makes of a batch, at the size of the images but for the features.
pub(crate) struct Answer {
    pub logits: Tensor<4>,
    /// ln c / (1 − c), one channel.
    pub confidence: Option<Tensor<4>>,
    pub features: Tensor<4>,
    /// Logits of an earlier stage, for training alone.
    pub auxiliary: Option<Tensor<4>>,
}

impl Segmenter {
    /// With first values.
    pub fn new(design: &Design, rng: &mut Rng, device: &Device) -> Segmenter {
        let (mut plan, plan_of) = (Plan::default(), design.clone());
        let (trunk, head, width) = trunk_and_head(&plan_of, &mut plan);
        let has = |modification| design.modification == modification;
        let reduce = has(Modification::DimReduce)
            .then(|| ConvNorm::new(&mut plan, "head.reduce", [width, REDUCED], Kernel::of(3)));
        let width = if reduce.is_some() { REDUCED } else { width };
        let is_plain = matches!(head, Head::Plain(_));
        let name = if is_plain { "classifier.4" } else { "head.classify" };
        let classify = Conv::biased(&mut plan, name, [width, design.classes.len()]);
        let confidence =
            has(Modification::Confidence).then(|| Conv::biased(&mut plan, "head.confidence", [width, 1]));
        let is_pyramid = matches!(head, Head::Pyramid(_)) && design.preset == Preset::Paper;
        let auxiliary = is_pyramid.then(|| auxiliary(&mut plan, &trunk, design.classes.len()));
        let weights = Weights::first(plan, rng, device);
        Segmenter { design: plan_of, weights, trunk, head, reduce, classify, confidence, auxiliary }
    }

    /// Runs a batch, `[images, 3, height, width]`.
    pub(crate) fn forward(&self, x: Tensor<4>, pass: &mut Pass) -> Answer {
        let [_, _, height, width] = x.dims();
        let maps = self.trunk.forward(x, pass);
        let size = [height, width];
        let auxiliary = self.auxiliary.as_ref().filter(|_| pass.is_training()).map(|(layer, classify)| {
            let features = layer.relu(maps.middle.clone(), pass);
            resize(classify.forward(features, pass), size)
        });
        let mut features = self.head.forward(maps, pass);
        if let Some(layer) = &self.reduce {
            features = layer.relu(features, pass);
        }
        let logits = resize(self.classify.forward(features.clone(), pass), size);
        let confidence =
            self.confidence.as_ref().map(|conv| resize(conv.forward(features.clone(), pass), size));
        Answer { logits, confidence, features, auxiliary }
    }

    fn judge(&self, rgb: &[u8], width: usize, passes: usize, rng: &mut Rng) -> Segmentation {
        let height = rgb.len() / 3 / width;
        let x = tensor(standardised(rgb), [1, 3, height, width], self.weights.device());
        let eval = self.forward(x.clone(), &mut Pass::new(&self.weights, Mode::Eval));
        let [_, channels, rows, columns] = eval.features.dims();
        let logits = if passes == 1 {
            numbers(eval.logits)
        } else {
            let mut pass = Pass::new(&self.weights, Mode::Random(rng.clone()));
            (0..passes).flat_map(|_| numbers(self.forward(x.clone(), &mut pass).logits)).collect()
        };
        let sigmoid = |z: f32| 1.0 / (1.0 + (-z).exp());
        let confidence = eval.confidence.map(|z| numbers(z).into_iter().map(sigmoid).collect());
        Segmentation { logits, features: numbers(eval.features), grid: [channels, rows, columns], confidence }
    }
}

impl Segments for Segmenter {
    fn design(&self) -> &Design {
        &self.design
    }

    fn to_tensors(&self) -> Tensors {
        Segmenter::to_tensors(self)
    }

    fn segment(
        &self,
        rgb: &[u8],
        width: usize,
        passes: usize,
        rng: &mut Rng,
    ) -> Result<Segmentation, OnnxError> {
        Ok(device::near(self.weights.device(), || self.judge(rgb, width, passes, rng)))
    }
}

impl Head {
    fn forward(&self, maps: Maps, pass: &mut Pass) -> Tensor<4> {
        match self {
            Head::Pyramid(head) => head.forward(maps, pass),
            Head::Decoder(head) => head.forward(maps, pass),
            Head::Plain(head) => head.forward(maps, pass),
        }
    }
}

/// The layers before the classifier, and how many channels they give it.
fn trunk_and_head(design: &Design, plan: &mut Plan) -> (Trunk, Head, usize) {
    let dropout = design.dropout();
    let trunk = match (design.preset, design.network) {
        (Preset::Small, _) => Trunk::Small(Box::new(Small::new(plan, design))),
        (Preset::Paper, Architecture::Deeplab) => Trunk::Xception(Box::new(Xception::new(plan, dropout))),
        (Preset::Paper, _) => Trunk::Residual(Residual::new(plan, dropout)),
    };
    let from = trunk.channels();
    let is_small = design.preset == Preset::Small;
    let near = design.dilated([3, 6, 9]);
    let or = |small: usize, paper: usize| if is_small { small } else { paper };
    let (head, width) = match design.network {
        Architecture::Pspnet => {
            let merged = or(64, 512);
            (Head::Pyramid(Pyramid::new(plan, from.high, or(16, 512), merged)), merged)
        }
        Architecture::Deeplab => {
            let rates = if is_small { near } else { [6, 12, 18] };
            let sizes = Sizes { width: or(64, 256), fine: or(24, 48), rates, is_separable: !is_small };
            (Head::Decoder(Decoder::new(plan, from, sizes)), sizes.width)
        }
        Architecture::Deeplabv3 => {
            let rates = if is_small { near } else { [12, 24, 36] };
            (Head::Plain(Plain::new(plan, from.high, or(64, 256), rates)), or(64, 256))
        }
    };
    (trunk, head, width)
}

/// Classifies the map before the last, so that early layers learn too.
fn auxiliary(plan: &mut Plan, trunk: &Trunk, classes: usize) -> (ConvNorm, Conv) {
    let from = trunk.channels().middle;
    let layer = ConvNorm::new(plan, "auxiliary", [from, from / 4], Kernel::of(3));
    (layer, Conv::biased(plan, "auxiliary.classify", [from / 4, classes]))
}
