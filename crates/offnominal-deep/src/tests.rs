//! Whole networks: derivatives against differences, files, passes, and training that goes on with the same bits.

use crate::loss::{Truth, loss};
use crate::pass::{Mode, Pass};
use crate::train::{TrainConfig, Training};
use crate::weights::{numbers, tensor, vector};
use crate::{
    Architecture, Design, Image, Inference, Modification, OutputStride, Preset, Segmenter, Segments, device,
};
use offnominal_core::{Rng, Seed};
use offnominal_nets::Tensors;
use std::convert::Infallible;

const SIZE: [usize; 2] = [16, 32];

fn design(network: Architecture, modification: Modification) -> Design {
    let classes = ["red", "grey", "blue"].map(String::from).to_vec();
    Design { network, modification, classes, ..Design::default() }
}

fn designs() -> Vec<Design> {
    use Modification::{Confidence, DimReduce, Dropout, None};
    let kinds = [Architecture::Pspnet, Architecture::Deeplab, Architecture::Deeplabv3];
    let finer = |&kind: &Architecture| Design { output_stride: OutputStride::Four, ..design(kind, None) };
    let modified = |&kind: &Architecture| [None, DimReduce, Dropout, Confidence].map(|m| design(kind, m));
    kinds.iter().flat_map(modified).chain(kinds.iter().map(finer)).collect()
}

/// Three stripes of colours with noise.
fn image(seed: u64) -> Image {
    let (mut rng, [height, width]) = (Rng::new(seed), SIZE);
    let labels: Vec<u8> = (0..height * width).map(|p| (p % width * 3 / width) as u8).collect();
    let colours = [[150, 30, 30], [100, 100, 100], [30, 30, 150]];
    let mut rgb = Vec::new();
    for &label in &labels {
        rgb.extend(colours[usize::from(label)].map(|c: u8| c + (40.0 * rng.uniform()) as u8));
    }
    Image { rgb, labels, width }
}

/// The loss of a batch of four, with the weights moved along a direction.
fn loss_at(
    net: &Segmenter,
    direction: &[Vec<f32>],
    length: f32,
    gradient: bool,
) -> (f64, Option<Vec<Vec<f32>>>) {
    let device = device::cpu();
    let mut moved = net.clone();
    for (i, direction) in direction.iter().enumerate() {
        let value = numbers(net.weights.values[i].clone());
        let value = value.iter().zip(direction).map(|(w, d)| w + length * d).collect();
        moved.weights.values[i] = vector(value, &device);
    }
    // Of different brightness, so that their means differ by more than rounding.
    let lit = |i: u8| {
        let image = image(u64::from(i));
        Image { rgb: image.rgb.iter().map(|c| c / 4 * i).collect(), ..image }
    };
    let images = [1, 2, 3, 4].map(lit);
    let channels = images.iter().flat_map(|p| crate::segments::standardised(&p.rgb)).collect();
    let labels: Vec<u8> = images.iter().flat_map(|p| p.labels.clone()).collect();
    let [height, width] = SIZE;
    let truth = Truth::new(&labels, [4, height, width], &[1.0; 3], &device);
    let mut pass = Pass::new(&moved.weights, Mode::Train(Rng::new(5)));
    let answer = moved.forward(tensor(channels, [4, 3, height, width], &device), &mut pass);
    let found = loss(answer, &truth, &mut Rng::new(6));
    let slopes = gradient.then(|| {
        let gradients = found.backward();
        let of = |taped: &burn_tensor::Tensor<1>| {
            taped.grad(&gradients).map_or_else(|| vec![0.0; taped.dims()[0]], numbers)
        };
        pass.values().iter().map(of).collect()
    });
    (f64::from(numbers(found.inner())[0]), slopes)
}

/// Along its own direction a gradient's slope is its length; were a part of it wrong, the loss would change by less.
#[test]
fn derivatives_agree_with_differences_in_every_design() {
    for design in designs() {
        let net = Segmenter::new(&design, &mut Rng::new(3), &device::cpu());
        let mut gradient = loss_at(&net, &[], 0.0, true).1.unwrap();
        let length = gradient.iter().flatten().map(|g| f64::from(g * g)).sum::<f64>().sqrt();
        gradient.iter_mut().flatten().for_each(|g| *g /= length as f32);
        // Small: the means of whole images are normalised over four numbers, which bends sharply.
        let h = 0.0001;
        let [up, down] = [h, -h].map(|h| loss_at(&net, &gradient, h, false).0);
        let difference = (up - down) / f64::from(2.0 * h);
        let close = (length - difference).abs() < 0.03 * length;
        assert!(close, "{design:?}: slope {length}, difference {difference}");
    }
}

#[test]
fn answers_have_the_layout_of_the_image() {
    for design in designs() {
        let net = Segmenter::new(&design, &mut Rng::new(3), &device::cpu());
        // Sizes that strides do not divide are answered too.
        let output = net.segment(&[90; 3 * 13 * 27], 27, 1, &mut Rng::new(0)).unwrap();
        assert_eq!(output.logits.len(), 3 * 13 * 27);
        assert_eq!(output.features.len(), output.grid.iter().product::<usize>());
        let reduced = design.modification == Modification::DimReduce;
        assert_eq!(output.grid[0], if reduced { 32 } else { 64 });
        let confidence = output.confidence.map(|c| c.iter().all(|c| (0.0..=1.0).contains(c)));
        assert_eq!(confidence, (design.modification == Modification::Confidence).then_some(true));
        assert!(output.logits.iter().all(|z| z.is_finite()));
        if design.network != Architecture::Deeplab {
            let stride = usize::from(u8::from(design.output_stride));
            assert_eq!(output.grid[1..], [13_usize.div_ceil(stride), 27_usize.div_ceil(stride)]);
        }
    }
}

/// What builds without training say of an image, for every small design.
#[test]
fn networks_say_the_same_without_differentiation() {
    for design in designs() {
        let net = Segmenter::new(&design, &mut Rng::new(3), &device::cpu());
        let alone = Inference::from_tensors(&net.to_tensors()).unwrap().unwrap();
        assert_eq!(alone.to_tensors().to_bytes(), net.to_tensors().to_bytes());
        let rgb: Vec<u8> = (0..3 * 37 * 53).map(|i| (i * 7 % 251) as u8).collect();
        for passes in [1, 2] {
            let [ours, burn] = [&alone as &dyn Segments, &net]
                .map(|n| n.segment(&rgb, 53, passes, &mut Rng::new(4)).unwrap());
            assert_eq!(ours.grid, burn.grid);
            let confidences = ours.confidence.iter().flatten().zip(burn.confidence.iter().flatten());
            let largest = burn.logits.iter().fold(0.0_f32, |m, z| m.max(z.abs()));
            let pairs = ours.logits.iter().zip(&burn.logits).chain(confidences);
            let most = pairs.map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
            assert!(most < 1e-4 * largest, "{design:?}, {passes} passes: off by {most} of {largest}");
        }
    }
}

#[test]
fn other_output_strides_are_refused() {
    let text = serde_json::to_string(&design(Architecture::Deeplab, Modification::None)).unwrap();
    let of = |stride: &str| serde_json::from_str::<Design>(&text.replace(":8", &format!(":{stride}")));
    assert_eq!(of("4").unwrap().output_stride, OutputStride::Four);
    assert!(of("5").unwrap_err().to_string().contains("expected 4 or 8, found 5"));
}

#[test]
fn random_passes_differ_and_the_same_seed_repeats_them() {
    let net = Segmenter::new(
        &design(Architecture::Pspnet, Modification::Dropout),
        &mut Rng::new(3),
        &device::cpu(),
    );
    let output = |passes, seed| net.segment(&image(1).rgb, SIZE[1], passes, &mut Rng::new(seed)).unwrap();
    let two = output(2, 7);
    let half = two.logits.len() / 2;
    assert!(two.logits[..half] != two.logits[half..] && two == output(2, 7) && two != output(2, 8));
    assert!(output(1, 7) == output(1, 8), "one pass is deterministic");
    assert!(two.features == output(1, 7).features, "features are those of a deterministic pass");
}

fn recipe(steps: usize) -> TrainConfig {
    let design = design(Architecture::Pspnet, Modification::None);
    TrainConfig { steps, batch: 4, ..TrainConfig::of(&design, SIZE, Seed(9)) }
}

fn train(kind: Architecture, modification: Modification, steps: usize, until: usize) -> Training {
    let mut training =
        Training::begin(&design(kind, modification), recipe(steps), &[5, 5, 5], &device::cpu());
    advance(&mut training, until);
    training
}

fn advance(training: &mut Training, until: usize) {
    while training.step() < until {
        training.advance::<Infallible>(6, &|i| Ok(image(i as u64))).unwrap();
    }
}

/// Share of the pixels of a new image that are named rightly.
fn right(net: &Segmenter) -> f64 {
    let image = image(77);
    let output = net.segment(&image.rgb, image.width, 1, &mut Rng::new(0)).unwrap();
    let n = image.labels.len();
    let top =
        |p: usize| (0..3).max_by(|&a, &b| output.logits[a * n + p].total_cmp(&output.logits[b * n + p]));
    (0..n).filter(|&p| top(p) == Some(usize::from(image.labels[p]))).count() as f64 / n as f64
}

#[test]
fn every_kind_learns_stripes() {
    for (kind, modification) in [
        (Architecture::Pspnet, Modification::None),
        (Architecture::Deeplab, Modification::Dropout),
        (Architecture::Deeplabv3, Modification::Confidence),
    ] {
        let training = train(kind, modification, 40, 40);
        let share = right(training.net());
        assert!(share > 0.9, "{kind:?} with {modification:?}: {share}");
    }
}

#[test]
fn a_training_that_was_stopped_goes_on_with_the_same_bits() {
    let whole = train(Architecture::Deeplab, Modification::Dropout, 6, 6).net().to_tensors();
    let half = train(Architecture::Deeplab, Modification::Dropout, 6, 3).state();
    let half = Tensors::from_bytes(&half.to_bytes()).unwrap();
    let mut again = train(Architecture::Deeplab, Modification::Dropout, 6, 0);
    again.restore(&half).unwrap();
    advance(&mut again, 6);
    assert!(again.net().to_tensors().to_bytes() == whole.to_bytes());
    let other = train(Architecture::Deeplab, Modification::Dropout, 7, 0).restore(&half).unwrap_err();
    assert!(other.to_string().contains("checkpoint of a training with"), "{other}");
}

#[test]
fn the_number_of_threads_changes_no_bit() {
    let on = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| train(Architecture::Deeplab, Modification::None, 3, 3).net().to_tensors().to_bytes())
    };
    assert!(on(1) == on(3));
}

#[test]
fn files_keep_every_bit_and_others_are_refused() {
    let net = train(Architecture::Pspnet, Modification::Confidence, 3, 3).net().clone();
    let tensors = Tensors::from_bytes(&net.to_tensors().to_bytes()).unwrap();
    let again = Segmenter::from_tensors(&tensors, &device::cpu()).unwrap();
    let output = |net: &Segmenter| net.segment(&image(3).rgb, SIZE[1], 1, &mut Rng::new(0)).unwrap();
    assert!(output(&again) == output(&net) && again.design == net.design);
    let error = Segmenter::from_tensors(&Tensors::default(), &device::cpu()).unwrap_err().to_string();
    assert!(error.contains("expected a convolutional network"), "{error}");
    let mut other = tensors;
    other.insert("head.classify.bias", &[4], &[0.0; 4]);
    let error = Segmenter::from_tensors(&other, &device::cpu()).unwrap_err().to_string();
    assert!(error.contains("head.classify.bias"), "{error}");
}

/// The number that torchvision gives for deeplabv3_resnet50 is 42,004,074 with an auxiliary classifier of 2,365,205.
#[test]
fn the_published_sizes_are_those_of_the_publications() {
    if !skips::is_slow_tier("networks at their published sizes") {
        return;
    }
    let classes: Vec<String> = (0..21).map(|i| format!("class {i}")).collect();
    let n = |network, modification| {
        let design = Design {
            network,
            preset: Preset::Paper,
            modification,
            classes: classes.clone(),
            ..Design::default()
        };
        let net = Segmenter::new(&design, &mut Rng::new(1), &device::cpu());
        assert_eq!(
            net.segment(&[100; 3 * 33 * 65], 65, 1, &mut Rng::new(1)).unwrap().logits.len(),
            21 * 33 * 65
        );
        net.weights.n_learned()
    };
    assert_eq!(n(Architecture::Deeplabv3, Modification::None), 42_004_074 - 2_365_205);
    let deeplab = n(Architecture::Deeplab, Modification::Dropout);
    // The published one has 41 million: the convolutions of its pyramid are separable, ours are whole.
    assert!((52_000_000..55_000_000).contains(&deeplab), "{deeplab}");
    let pspnet = n(Architecture::Pspnet, Modification::DimReduce);
    assert!((46_000_000..52_000_000).contains(&pspnet), "{pspnet}");
}
