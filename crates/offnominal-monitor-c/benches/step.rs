//! Time of a step through the C ABI of the shared library against the same monitor in Rust, in one run: the default
//! detector with a diagnosis, 26 observation channels and 7 actions; and the same with `knn`, whose steps are so short
//! that the border's own time shows.
//!
//! `cargo bench -p offnominal-monitor-c --bench step`. The monitor is fitted on 4,000 steps. Each step of a probe is
//! taken sixteen times by each, in turns, and its fastest time counts: what is left is what the code does, without what
//! the system does in between. Each time the monitors are opened anew at other addresses, because a step of the same
//! code takes up to a tenth more or less with where its numbers happen to lie. The last columns are all steps as they
//! came, on whatever else the machine did.

#![allow(unsafe_code, reason = "what C would call")]

#[allow(dead_code, reason = "the tests need the rest")]
#[path = "../tests/it/support.rs"]
mod support;

use libloading::Library;
use offnominal_core::detector::{Nominal, Signals};
use offnominal_core::fit_progress::FitProgress;
use offnominal_core::{Rng, Seed};
use offnominal_detectors::diagnosis::Diagnoser;
use offnominal_monitor::{Calibrated, DetectorRecipe, Monitor, encode};
use offnominal_monitor_c::{Handle, Status, Verdict};
use offnominal_stats::{Level, Promise, Rule};
use serde_json::{Value, json};
use std::mem::MaybeUninit;
use std::ptr::null_mut;
use std::time::Instant;

const OBS: usize = 26;
const ACT: usize = 7;
const STEPS: usize = 200;
const ROUNDS: usize = 16;
const PROBES: usize = 20;
/// What a step through C may cost more, in microseconds.
const GOAL: f64 = 1.0;

type Episode = (Vec<f32>, Vec<f32>);

/// Four phases seen through all channels, with noise.
fn gait(seed: Seed) -> Episode {
    let mut rng = seed.rng();
    let phase: Vec<f64> = (0..4).map(|_| rng.range(0.0, 0.5)).collect();
    let wave = |t: usize, c: usize| (0.3 * t as f64 * (1.0 + (c % 4) as f64) + phase[c % 4] + c as f64).sin();
    let mut rows = |n: usize, width: usize, noise: f64| -> Vec<f32> {
        (0..n * width).map(|i| (wave(i / width, i % width) + noise * rng.normal()) as f32).collect()
    };
    (rows(STEPS + 1, OBS, 0.05), rows(STEPS, ACT, 0.1))
}

fn gaits(seed: Seed, n: usize) -> Vec<Episode> {
    (0..n).map(|i| gait(seed.child(i))).collect()
}

fn signals((obs, actions): &Episode) -> Signals<'_> {
    Signals::new(obs, actions, OBS, ACT)
}

/// What is fitted on nominal episodes, as the bytes of its file.
fn fitted(id: &str, params: Value, views: &[Signals<'_>], diagnoser: &Diagnoser) -> Vec<u8> {
    let recipe = DetectorRecipe { id: id.into(), params };
    let detector =
        offnominal_detectors::catalogue().build(&recipe.id, &recipe.params).expect("it is built in");
    let mut scorer = detector.fit(Nominal::new(&views[..20], &[]), &mut Rng::new(1)).expect("sound episodes");
    let scores = scorer.score_episodes(&views[20..]);
    let rule = Rule::Conformal(Promise::on_average(0.05));
    let threshold = rule.threshold(&scores, Level::P95).expect("enough episodes");
    let archive =
        Monitor::archive(scorer.as_ref(), &threshold, None, Some(diagnoser)).expect("it can be kept");
    let calibrated = Calibrated::new(rule, &threshold, 30);
    encode(&support::about(recipe, calibrated, &["o"; OBS], &["a"; ACT]), &archive)
}

type Step = unsafe extern "C" fn(*mut Handle, *const f64, usize, *const f64, usize, *mut Verdict) -> Status;
type Reset = unsafe extern "C" fn(*mut Handle) -> Status;
type Open = unsafe extern "C" fn(*const u8, usize, *mut *mut Handle) -> Status;

/// A monitor of the shared library. It is left open: the process ends with it.
struct Border {
    monitor: *mut Handle,
    step: Step,
    reset: Reset,
}

impl Border {
    fn open(bytes: &[u8]) -> Border {
        // SAFETY: it is the library of this build, with the functions of its header.
        let (open, step, reset) = unsafe {
            let library: &'static Library =
                Box::leak(Box::new(Library::new(support::library(true)).expect("cargo made it")));
            (
                *library.get::<Open>(b"offnominal_open_bytes").expect("it is exported"),
                *library.get::<Step>(b"offnominal_step").expect("it is exported"),
                *library.get::<Reset>(b"offnominal_reset").expect("it is exported"),
            )
        };
        let mut monitor = null_mut();
        // SAFETY: the addresses are those of what is said.
        assert_eq!(unsafe { open(bytes.as_ptr(), bytes.len(), &mut monitor) }, Status::Ok);
        Border { monitor, step, reset }
    }

    fn reset(&self) {
        // SAFETY: the monitor is open.
        unsafe { (self.reset)(self.monitor) };
    }

    fn step(&self, obs: &[f64], action: &[f64]) -> Option<Verdict> {
        let mut verdict = MaybeUninit::uninit();
        // SAFETY: the monitor is open, and the numbers are as many as is said.
        unsafe {
            let to = verdict.as_mut_ptr();
            let status =
                (self.step)(self.monitor, obs.as_ptr(), obs.len(), action.as_ptr(), action.len(), to);
            (status == Status::Ok).then(|| verdict.assume_init())
        }
    }
}

/// Fastest time of each step, and every time, in microseconds.
struct Times {
    fastest: Vec<f64>,
    all: Vec<f64>,
}

impl Times {
    fn new() -> Times {
        Times { fastest: vec![f64::INFINITY; PROBES * STEPS], all: Vec::new() }
    }

    fn measure<T>(&mut self, i: usize, step: impl FnOnce() -> T) -> T {
        let began = Instant::now();
        let said = std::hint::black_box(step());
        let time = began.elapsed().as_secs_f64() * 1e6;
        self.fastest[i] = self.fastest[i].min(time);
        self.all.push(time);
        said
    }

    /// Median and 99th percentile of the fastest times, and of all.
    fn percentiles(&mut self) -> [f64; 4] {
        let Times { fastest, all } = self;
        [percentile(fastest, 0.5), percentile(fastest, 0.99), percentile(all, 0.5), percentile(all, 0.99)]
    }
}

fn percentile(times: &mut [f64], share: f64) -> f64 {
    times.sort_unstable_by(f64::total_cmp);
    times[((times.len() - 1) as f64 * share).round() as usize]
}

/// Both take each episode in turns, so that both see the same machine; one and then the other begins.
fn race(rust: &mut Monitor, border: &Border, [of_rust, of_c]: &mut [Times; 2]) {
    for (p, probe) in gaits(Seed(2), PROBES).iter().enumerate() {
        rust.reset();
        border.reset();
        for (t, seen) in signals(probe).transitions().enumerate() {
            let i = p * STEPS + t;
            let mut step_rust = || of_rust.measure(i, || rust.step(seen.obs, seen.action).expect("finite"));
            let [obs, action] =
                [seen.obs, seen.action].map(|all| all.iter().map(|&x| x.into()).collect::<Vec<f64>>());
            let mut step_c = || of_c.measure(i, || border.step(&obs, &action));
            let (want, found) = if t % 2 == 0 {
                let want = step_rust();
                (want, step_c())
            } else {
                let found = step_c();
                (step_rust(), found)
            };
            assert_eq!(found, want.map(Verdict::from), "the same bits");
        }
    }
}

/// Two monitors of a file, the other one opened first every other time, after an allocation that moves what follows.
fn opened(bytes: &[u8], round: usize) -> (Monitor, Border) {
    Box::leak(vec![0_u8; 16 * (2 * round + 1)].into_boxed_slice());
    if round.is_multiple_of(2) {
        return (support::opened(bytes), Border::open(bytes));
    }
    let border = Border::open(bytes);
    (support::opened(bytes), border)
}

/// Both monitors of a file, side by side; the difference of their 99th percentiles.
fn compare(name: &str, bytes: &[u8]) -> f64 {
    let mut times = [Times::new(), Times::new()];
    for round in 0..ROUNDS {
        let (mut rust, border) = opened(bytes, round);
        race(&mut rust, &border, &mut times);
    }
    let [rust, c] = times.each_mut().map(Times::percentiles);
    let difference: [f64; 4] = std::array::from_fn(|i| c[i] - rust[i]);
    for (who, t) in [("Rust", rust), ("C", c), ("difference", difference)] {
        println!("{name:<16} {who:<12} {:>8.3} {:>8.3} {:>14.3} {:>14.3}", t[0], t[1], t[2], t[3]);
    }
    difference[1]
}

fn main() {
    let episodes = gaits(Seed(1), 50);
    let views: Vec<_> = episodes.iter().map(signals).collect();
    let diagnoser =
        Diagnoser::fit(&views[..4], &mut Rng::new(2), FitProgress::unseen()).expect("sound episodes");
    println!("{:<29} {:>8} {:>8} {:>14} {:>14}", "", "p50 µs", "p99 µs", "p50 µs, as run", "p99 µs, as run");
    // The number of epochs does not change the cost of a step.
    let of = |id, params| fitted(id, params, &views, &diagnoser);
    let default = compare("residual-views", &of("residual-views", json!({"training": {"epochs": 1}})));
    compare("knn", &of("knn", json!({})));
    let verdict = if default <= GOAL { "met" } else { "missed" };
    println!("goal: at most {GOAL} µs more at p99 of the default detector: {verdict}");
}
