//! What holds of all five detectors: derivatives, what they notice, files, seeds, and what they refuse.

use super::fit::TrainedDetector;
use super::frames::{Commands, Scaling, Shrink};
use super::library::Library;
use super::network::{Network, NetworkRecipe, View};
use super::window;
use super::*;
use crate::device;
use crate::pass::{Mode, Pass};
use crate::weights::{Plan, Weights, numbers, vector};
use offnominal_core::prelude::*;
use offnominal_laws::{assert_lawful, image_detector};
use offnominal_nets::Tensors;
use serde_json::{Value, json};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;

const SIDE: usize = 16;
const STEPS: usize = 24;
/// When something happens in a video in which something happens.
const ONSET: usize = 15;

/// What happens.
#[derive(Clone, Copy, PartialEq)]
enum Event {
    Nothing,
    Jump,
    Colour,
}

/// A square that moves by 1 or 2 pixels a step as commanded, comes in again where it left, and may jump or turn blue.
fn video(seed: u64, event: Event) -> Video {
    let mut rng = Rng::new(seed);
    let (mut x, y) = (rng.below(SIDE), 3 + rng.below(6));
    let (mut frames, mut actions) = (Vec::new(), Vec::new());
    for t in 0..=STEPS {
        let has_come = t > ONSET;
        let shift = if has_come && event == Event::Jump { SIDE / 2 } else { 0 };
        let colour = if has_come && event == Event::Colour { [10, 60, 250] } else { [220, 180, 40] };
        for (row, column) in (0..SIDE).flat_map(|row| (0..SIDE).map(move |column| (row, column))) {
            let is_in = (y..y + 5).contains(&row) && (column + 2 * SIDE - x - shift) % SIDE < 5;
            frames.extend(if is_in { colour } else { [60, 70, 60] });
        }
        if t < STEPS {
            actions.push(rng.below(2) as f32);
            x = (x + 1 + actions[t] as usize) % SIDE;
        }
    }
    Video::new((SIDE, SIDE), frames, actions, 1)
}

fn videos(seeds: std::ops::Range<u64>) -> Vec<Video> {
    seeds.map(|seed| video(seed, Event::Nothing)).collect()
}

/// Parameters of a network that learns these videos in seconds.
fn tiny(id: &str, steps: usize) -> Value {
    let codec = json!({ "channels": [12, 24], "strides": [2, 2], "features": 48 });
    let learning = json!({ "steps": steps, "rate": 3e-3, "batch": 8 });
    let mut params = json!({ "look": { "side": SIDE }, "learning": learning });
    if id == "prednet" {
        params["channels"] = json!([3, 8, 16]);
        params["learning"]["batch"] = json!(4);
    } else {
        params["codec"] = codec;
    }
    if id == "lrdm" || id == "rssm-ppm" {
        (params["learning"]["batch"], params["learning"]["window"]) = (json!(4), json!(8));
    }
    if id == "rssm-ppm" {
        params["learning"]["batch"] = json!(8);
        params["sizes"] = json!({ "state": 16, "memory": 64, "enter": 64, "prior": 64, "posterior": 64 });
    }
    params
}

fn detector(id: &str, params: &Value) -> Box<dyn TrainedDetector> {
    find(id).unwrap().detector(params, Runtime::default()).unwrap()
}

fn trained(
    id: &str,
    params: &Value,
    [train, validation]: [&[Video]; 2],
    seed: u64,
) -> Box<dyn TrainedMonitor> {
    to_end(detector(id, params).begin(train, validation, &mut Rng::new(seed)).unwrap())
}

fn to_end(mut fit: Box<dyn TrainedFit + '_>) -> Box<dyn TrainedMonitor> {
    while !fit.is_done() {
        fit.advance().unwrap();
    }
    fit.finish()
}

fn fitted(id: &str, steps: usize, seed: u64) -> Box<dyn TrainedMonitor> {
    trained(id, &tiny(id, steps), [&videos(0..24), &videos(50..54)], seed)
}

/// The loss of a batch with the weights moved along a direction, and its slopes.
fn loss_at<N: Network>(
    network: &N,
    weights: &Weights,
    batch: &library::Batch,
    moved: Option<(&[Vec<f32>], f32)>,
) -> (f64, Vec<Vec<f32>>) {
    let mut weights = weights.clone();
    for (value, (direction, length)) in
        weights.values.iter_mut().zip(moved.iter().flat_map(|(d, h)| d.iter().map(move |d| (d, h))))
    {
        let at: Vec<f32> =
            numbers(value.clone()).iter().zip(direction).map(|(w, d)| w + length * d).collect();
        *value = vector(at, &device::cpu());
    }
    let mut pass = Pass::new(&weights, Mode::Train(Rng::new(5)));
    let loss = network.loss(batch, &mut pass);
    let gradients = loss.backward();
    let slopes = pass.values().iter().map(|v| v.grad(&gradients).map_or(Vec::new(), numbers)).collect();
    (f64::from(numbers(loss.inner())[0]), slopes)
}

/// Along its own direction a gradient's slope is its length; were a part of it wrong, the loss would change by less.
fn derivatives_agree<R: NetworkRecipe>() {
    let params = find(R::ID).unwrap().recipe(&tiny(R::ID, 1)).unwrap();
    let recipe: R = serde_json::from_value(params).unwrap();
    let (videos, view) = (videos(0..3), View { rows: SIDE, columns: SIDE, act_width: 1 });
    let library = Library::new(&videos, view, &Shrink::new([SIDE; 2], [SIDE; 2]));
    let scaling = Scaling::new(recipe.shared().look.scale, library.frames(), view.len());
    // One of the windows ends before the others.
    let windows = [(0, 0, 5), (1, 7, 5), (2, 20, 4)];
    let windows = windows.map(|(video, start, len)| window::Window { video, start, len });
    let batch = library.batch(&windows, &scaling, &Commands::new(&videos), &device::cpu());
    let mut plan = Plan::default();
    let network = recipe.network(&mut plan, view);
    let weights = Weights::first(plan, &mut Rng::new(3), &device::cpu());
    let mut gradient = loss_at(&network, &weights, &batch, None).1;
    assert!(gradient.iter().all(|g| !g.is_empty()), "{}: a weight has no gradient", R::ID);
    let length = gradient.iter().flatten().map(|g| f64::from(g * g)).sum::<f64>().sqrt();
    gradient.iter_mut().flatten().for_each(|g| *g /= length as f32);
    let h = 1e-3;
    let [up, down] = [h, -h].map(|h| loss_at(&network, &weights, &batch, Some((&gradient, h))).0);
    let difference = (up - down) / f64::from(2.0 * h);
    assert!(
        (length - difference).abs() < 0.02 * length,
        "{}: slope {length}, difference {difference}",
        R::ID
    );
}

#[test]
fn derivatives_agree_with_differences() {
    derivatives_agree::<PredAe>();
    derivatives_agree::<PredNet>();
    derivatives_agree::<Ldm>();
    derivatives_agree::<Lrdm>();
    derivatives_agree::<RssmPpm>();
}

/// The score of the step in which something happens, over the highest of the same video without it.
fn rise(monitor: &mut dyn TrainedMonitor, event: Event) -> f64 {
    let of = |seed: u64, monitor: &mut dyn TrainedMonitor| {
        let nominal = monitor.score_video(&video(seed, Event::Nothing));
        let highest = nominal[6..].iter().copied().fold(0.0, f64::max);
        monitor.score_video(&video(seed, event))[ONSET] / highest
    };
    (80..84).map(|seed| of(seed, monitor)).fold(f64::INFINITY, f64::min)
}

#[test]
fn what_happens_is_noticed_and_nothing_is_not() {
    for kind in ALL {
        let steps = match kind.id {
            "pred-ae" | "ldm" => 500,
            "rssm-ppm" => 800,
            _ => 300,
        };
        let mut monitor = fitted(kind.id, steps, 1);
        let [nothing, jump, colour] =
            [Event::Nothing, Event::Jump, Event::Colour].map(|event| rise(&mut *monitor, event));
        assert!(nothing <= 1.0, "{}: {nothing} of nothing", kind.id);
        assert!(jump > 1.5 && colour > 1.5, "{}: jump {jump}, colour {colour}", kind.id);
    }
}

#[test]
fn the_same_seed_gives_the_same_bits() {
    let scores = |id, seed| fitted(id, 3, seed).score_video(&video(90, Event::Jump));
    for kind in ALL {
        assert!(scores(kind.id, 1) == scores(kind.id, 1), "{}", kind.id);
        assert!(scores(kind.id, 1) != scores(kind.id, 2), "{}", kind.id);
    }
}

#[test]
fn each_obeys_the_laws() {
    let exempt = [(Law::SeesGrossFaults, "it has learned for three steps only")];
    for kind in ALL {
        let detector = detector(kind.id, &tiny(kind.id, 3));
        assert_lawful(kind.id, &image_detector(detector.as_ref(), &exempt));
    }
}

#[test]
fn a_monitor_forgets_and_comes_back_from_its_file() {
    for kind in ALL {
        let mut monitor = fitted(kind.id, 3, 1);
        let video = video(90, Event::Jump);
        let scores = monitor.score_video(&video);
        assert!(scores == monitor.score_video(&video), "{}: the episode before is remembered", kind.id);
        let bytes = monitor.to_tensors().to_bytes();
        let mut loaded = load(&Tensors::from_bytes(&bytes).unwrap(), &Runtime::default()).unwrap();
        assert!(scores == loaded.score_video(&video), "{}: other scores from the file", kind.id);
        assert_eq!((loaded.heat(), loaded.expected()), (monitor.heat(), monitor.expected()));
        let (heat, pixels) = (loaded.heat().unwrap(), loaded.expected().unwrap().len());
        assert_eq!((heat.rows, heat.columns, pixels), (16, 16, video.frame_len()));
    }
}

/// Devices round in another order, and no more.
#[cfg(feature = "gpu")]
#[test]
fn a_graphics_card_scores_as_the_processor_does() {
    let Ok(card) = device::gpu() else { return skips::skip("graphics card", "scores of networks") };
    for kind in ALL {
        let mut here = fitted(kind.id, 3, 1);
        let mut there =
            load(&here.to_tensors(), &Runtime { device: card.clone(), ..Runtime::default() }).unwrap();
        let video = video(90, Event::Jump);
        for (a, b) in here.score_video(&video).into_iter().zip(there.score_video(&video)) {
            assert!((a - b).abs() < 1e-4 * a, "{}: {a} and {b}", kind.id);
        }
    }
}

#[test]
fn images_of_another_size_are_resized_if_asked_for_and_else_refused() {
    let side = json!({ "look": { "side": 8 }, "learning": { "steps": 2 }, "codec": tiny("ldm", 1)["codec"] });
    let mut monitor = trained("ldm", &side, [&videos(0..2), &videos(2..3)], 1);
    assert!(monitor.score(video(4, Event::Nothing).transition(0)) > 0.0);
    let heat = monitor.heat().unwrap();
    assert_eq!((heat.rows, monitor.expected().unwrap().len()), (8, 3 * SIDE * SIDE));
    let other = Video::new((8, 8), vec![0; 2 * 192], vec![0.0], 1);
    let refused = catch_unwind(AssertUnwindSafe(|| monitor.score(other.transition(0)))).unwrap_err();
    let message = refused.downcast_ref::<String>().unwrap();
    assert!(message.contains("expected an image of 16 x 16 pixels"), "{message}");
    let found = |params: &Value, train: &[Video]| {
        detector("ldm", params)
            .fit(train, &videos(0..1), &mut Rng::new(1), FitProgress::unseen())
            .err()
            .unwrap()
            .to_string()
    };
    let found_sizes = found(&side, std::slice::from_ref(&other));
    assert!(found_sizes.contains("images of 16 x 16") && found_sizes.contains("8 x 8"), "{found_sizes}");
    let odd = Video::new((SIDE, SIDE - 1), vec![0; 2 * 720], vec![0.0], 1);
    let found = detector("pred-ae", &json!({ "look": { "side": null } })).fit(
        &[odd],
        &[],
        &mut Rng::new(1),
        FitProgress::unseen(),
    );
    let found = found.err().unwrap().to_string();
    assert!(found.contains("multiples of 16") && found.contains("set look.side"), "{found}");
}

#[test]
fn files_of_something_else_are_refused() {
    let good = fitted("lrdm", 1, 1).to_tensors();
    let refused = |tensors: &Tensors| load(tensors, &Runtime::default()).err().unwrap().to_string();
    let with = |name: &str, text: &str| {
        let mut tensors = good.clone();
        tensors.metadata.insert(name.into(), text.into());
        refused(&tensors)
    };
    assert!(refused(&Tensors::default()).contains("expected \"image-monitor\""));
    assert!(with("model", "segmenter").contains("found \"segmenter\""));
    assert!(with("detector", "lrmd").contains("lrdm"));
    assert!(with("recipe", "{}").contains("\"recipe\""));
    assert!(with("videos", r#"{"width":0,"height":16,"act_width":1}"#).contains("fit together"));
    let mut other = good.clone();
    other.insert("out.bias", &[3], &[0.0; 3]);
    assert!(refused(&other).contains("\"out.bias\": expected shape [48], found [3]"));
    assert!(Tensors::from_bytes(b"\x80\x04\x95 a pickle").is_err());
}

#[test]
fn too_little_memory_is_said_before_anything_is_learned() {
    let runtime = Runtime { memory: Some(1 << 20), ..Runtime::default() };
    let ldm = find("ldm").unwrap().detector(&json!({ "preset": "paper" }), runtime).unwrap();
    let refusal = ldm.begin(&videos(0..1), &[], &mut Rng::new(1)).err().unwrap().to_string();
    assert!(refusal.contains("of free memory, found 0.00 GiB"), "{refusal}");
}

#[test]
fn a_fit_tells_how_far_it_is_and_learns_the_same() {
    let (ldm, told) = (detector("ldm", &tiny("ldm", 4)), Mutex::new(Vec::new()));
    let tell = |part: f64| {
        told.lock().unwrap().push(part);
        true
    };
    let mut telling = ldm.fit(&videos(0..2), &[], &mut Rng::new(1), FitProgress::new(&tell)).unwrap();
    assert_eq!(*told.lock().unwrap(), [0.0, 0.25, 0.5, 0.75, 1.0]);
    let stopped = ldm.fit(&videos(0..2), &[], &mut Rng::new(1), FitProgress::new(&|part| part < 0.5));
    assert!(matches!(stopped.err(), Some(FitError::Stopped(_))));
    let (mut silent, video) = (
        ldm.fit(&videos(0..2), &[], &mut Rng::new(1), FitProgress::unseen()).unwrap(),
        video(90, Event::Jump),
    );
    assert_eq!(telling.score_video(&video), silent.score_video(&video));
}

#[test]
fn a_fit_that_was_stopped_ends_with_the_same_bits() {
    let (train, validation) = (videos(0..2), videos(50..51));
    for kind in ALL {
        let detector = detector(kind.id, &tiny(kind.id, 9));
        let begin = || detector.begin(&train, &validation, &mut Rng::new(1)).unwrap();
        let whole = to_end(begin()).to_tensors();
        // In the first epoch, in a later one, and where nothing was made yet.
        for stop in [0, 1, 7] {
            let mut stopped = begin();
            for _ in 0..stop {
                stopped.advance().unwrap();
            }
            let state = Tensors::from_bytes(&stopped.state().to_bytes()).unwrap();
            let mut resumed = begin();
            resumed.restore(&state).unwrap();
            assert_eq!(resumed.steps(), [stop, 9]);
            assert!(to_end(resumed).to_tensors() == whole, "{} after {stop} steps", kind.id);
        }
    }
}

#[test]
fn the_state_of_another_fit_is_refused() {
    let (train, ldm, lrdm) =
        (videos(0..2), detector("ldm", &tiny("ldm", 2)), detector("lrdm", &tiny("lrdm", 2)));
    let state = ldm.begin(&train, &[], &mut Rng::new(1)).unwrap().state();
    let mut other = lrdm.begin(&train, &[], &mut Rng::new(1)).unwrap();
    assert!(other.restore(&state).is_err() && other.restore(&Tensors::default()).is_err());
}

#[test]
fn a_loss_that_goes_to_infinity_is_an_error() {
    let wild = json!({ "learning": { "steps": 20, "rate": 1e30 }, "look": { "side": SIDE } });
    let found = detector("pred-ae", &wild).fit(&videos(0..2), &[], &mut Rng::new(1), FitProgress::unseen());
    assert!(matches!(found.err().unwrap(), FitError::Diverged { .. }));
}

#[test]
fn parameters_are_checked_and_named() {
    let refused = |id: &str, params: Value| find(id).unwrap().recipe(&params).err().unwrap().to_string();
    assert!(
        refused("ldm", json!({ "preset": "large" })).contains("expected small or paper, found \"large\"")
    );
    assert!(refused("ldm", json!({ "chanels": 3 })).contains("unknown field `chanels`"));
    assert!(
        refused("ldm", json!({ "learning": { "batch": 0 } })).contains("learning.batch: expected at least 1")
    );
    assert!(
        refused("ldm", json!({ "look": { "side": 20 } })).contains("expected a multiple of 16, found 20")
    );
    assert!(refused("prednet", json!({ "channels": [4, 8] })).contains("expected 3 for the image"));
    assert!(refused("prednet", json!({ "look": { "scale": "centred" } })).contains("expected unit"));
    assert!(refused("rssm-ppm", json!({ "sizes": { "state": 0 } })).contains("expected at least 1 each"));
    assert!(find("pred-net").err().unwrap().to_string().contains("prednet"));
}

/// Numbers of Table 11.
#[test]
fn the_paper_preset_is_that_of_the_paper() {
    let paper = |id: &str| find(id).unwrap().recipe(&json!({ "preset": "paper" })).unwrap();
    let rates = [("pred-ae", 1e-4, 250), ("prednet", 1e-3, 100), ("ldm", 5e-4, 250), ("lrdm", 5e-4, 250)];
    for (id, rate, epochs) in rates {
        let learning = &paper(id)["learning"];
        assert_eq!((learning["rate"].as_f64(), learning["epochs"].as_u64()), (Some(rate), Some(epochs)));
    }
    for id in ["pred-ae", "ldm", "lrdm"] {
        assert_eq!(paper(id)["codec"]["channels"], json!([32, 64, 128, 256]));
        assert_eq!(paper(id)["codec"]["features"], 128);
    }
    assert_eq!(paper("prednet")["channels"], json!([3, 48, 96, 192]));
    assert_eq!((&paper("lrdm")["units"], &paper("lrdm")["layers"]), (&json!(128), &json!(2)));
    let sizes = json!({ "state": 50, "memory": 200, "enter": 400, "prior": 100, "posterior": 100 });
    assert_eq!((&paper("rssm-ppm")["sizes"], &paper("rssm-ppm")["codec"]["features"]), (&sizes, &json!(200)));
}

/// As long as a window holds the whole episode, it makes no difference from which end it is read.
#[test]
fn prednet_predicts_from_the_last_window_or_from_the_whole_episode() {
    let mut params = tiny("prednet", 3);
    let mut scores = |history: &str| {
        params["history"] = json!(history);
        trained("prednet", &params, [&videos(0..3), &[]], 1).score_video(&video(90, Event::Nothing))
    };
    let (window, episode) = (scores("window"), scores("episode"));
    assert_eq!(window[..10], episode[..10]);
    assert_ne!(window[10], episode[10]);
}
