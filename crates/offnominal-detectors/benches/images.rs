//! Images per second of every detector of images on one thread: a frame in, a score out.
//!
//! `cargo bench -p offnominal-detectors --bench images`. Images have 128 × 128 pixels, and 256 × 256 in the second
//! half of the table; networks look at 128 × 128 in both. Weights are random: the time does not depend on them. Every
//! step of a probe is scored seven times, and its fastest time counts: what is left is what the detector does,
//! without what the system does in between. The requirement is 30 images a second in the median.

#[path = "../../offnominal-nets/tests/data/networks.rs"]
mod networks;

use offnominal_core::Rng;
use offnominal_core::fit_progress::FitProgress;
use offnominal_core::image_detector::{ImageDetector, Video};
use offnominal_detectors::images::{
    DynamicsShape, FrameKnn, Metric, PatchDynamics, PatchFusion, PatchKnn, Pooling,
};
use offnominal_nets::Tensors;
use offnominal_nets::vision::Backbone;
use offnominal_nets::vision::efficientnet::{EfficientNetBackbone, EfficientNetLite, Input, Reading};
use offnominal_nets::vision::patches::{PIXELS, PatchCoder};
use offnominal_nets::vision::resnet::ResNet18;
use offnominal_nets::vision::transformer::Transformer;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Instant;

const VIDEOS: usize = 8;
const STEPS: usize = 40;
const TIMES: usize = 7;

/// A disc that wanders over noise that stands still.
fn video(side: usize, seed: u64) -> Video {
    let mut rng = Rng::new(seed);
    let ground: Vec<u8> = (0..side * side * 3).map(|i| 120 + (i / 3 / side % 80) as u8).collect();
    let (mut x, mut y) = (side as f64 / 2.0, side as f64 / 2.0);
    let (mut frames, mut actions) = (Vec::new(), Vec::new());
    for t in 0..=STEPS {
        let mut frame = ground.clone();
        for at in 0..side * side {
            if ((at % side) as f64 - x).hypot((at / side) as f64 - y) < 9.0 {
                frame[3 * at..3 * at + 3].copy_from_slice(&[200, 60, 40]);
            }
        }
        frames.extend(frame);
        if t < STEPS {
            let step = [rng.range(-3.0, 3.0), rng.range(-3.0, 3.0)];
            (x, y) = (x + step[0], y + step[1]);
            actions.extend(step.map(|s| s as f32));
        }
    }
    Video::new((side, side), frames, actions, 2)
}

fn detectors() -> Vec<(&'static str, Box<dyn ImageDetector>)> {
    let mut rng = Rng::new(1);
    let patches: Vec<f32> = (0..512 * PIXELS).map(|_| rng.range(-0.5, 0.5) as f32).collect();
    let own: Arc<dyn Backbone> = Arc::new(Arc::new(PatchCoder::train(&patches, 1, &mut rng, |_, _| ())));
    let resnet = Arc::new(ResNet18::torchvision(&networks::resnet(), 128).expect("the shapes fit"));
    let vit = Arc::new(Transformer::timm(&networks::vit(), 128).expect("the shapes fit"));
    let clip = Arc::new(Transformer::clip(&networks::clip(), 128).expect("the shapes fit"));
    let lite = Arc::new(EfficientNetLite::read(&networks::lite(0)).expect("the shapes fit"));
    let lite = |reading| -> Arc<dyn Backbone> {
        Arc::new(EfficientNetBackbone::new(lite.clone(), reading, Input::Square(128)))
    };
    let most = NonZeroUsize::new(8192).expect("positive");
    let frame = |backbone: Arc<dyn Backbone>, metric| Box::new(FrameKnn { backbone, metric });
    let patch = |backbone: Arc<dyn Backbone>, pooling| Box::new(PatchKnn { backbone, pooling, most });
    let shape =
        DynamicsShape { rows: NonZeroUsize::new(2000).expect("positive"), ..DynamicsShape::default() };
    vec![
        ("frame-knn-own", frame(own.clone(), Metric::Euclidean)),
        ("patch-knn-own", patch(own.clone(), Pooling::Top)),
        ("patch-dynamics", Box::new(PatchDynamics { backbone: own.clone(), shape: shape.clone() })),
        ("patch-fusion", Box::new(PatchFusion { backbone: own, shape: shape.clone() })),
        ("knn-resnet", frame(Arc::new(resnet), Metric::Euclidean)),
        ("knn-efficientnet", frame(lite(Reading::Pooled), Metric::Euclidean)),
        ("efficientnet-patch", patch(lite(Reading::Patches(vec![16])), Pooling::Max)),
        (
            "efficientnet-dynamics",
            Box::new(PatchDynamics { backbone: lite(Reading::Patches(vec![16])), shape }),
        ),
        ("dino-patch", patch(Arc::new(vit), Pooling::Max)),
        ("clip-sim", frame(Arc::new(clip), Metric::Cosine)),
    ]
}

fn main() {
    println!("{:<22}{:>8}{:>14}{:>12}{:>16}", "detector", "pixels", "median, ms", "p99, ms", "images/s");
    for side in [128, 256] {
        let train: Vec<Video> = (0..VIDEOS).map(|i| video(side, i as u64)).collect();
        let probe = video(side, 99);
        for (name, detector) in detectors() {
            let mut monitor = detector
                .fit(&train, &[], &mut Rng::new(1), FitProgress::unseen())
                .expect("the videos are sound");
            let mut times = vec![f64::INFINITY; STEPS];
            for _ in 0..TIMES {
                monitor.reset();
                for (time, transition) in times.iter_mut().zip(probe.transitions()) {
                    let began = Instant::now();
                    monitor.score(transition);
                    *time = time.min(1e3 * began.elapsed().as_secs_f64());
                }
            }
            times.sort_by(f64::total_cmp);
            let (median, p99) = (times[times.len() / 2], times[times.len() * 99 / 100]);
            println!("{name:<22}{side:>8}{median:>14.2}{p99:>12.2}{:>16.0}", 1e3 / median);
        }
    }
}
