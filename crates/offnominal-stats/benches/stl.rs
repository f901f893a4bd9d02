//! What a formula of signal temporal logic costs for each sample: `cargo bench -p offnominal-stats --bench stl`.
//!
//! Every item is an episode of 1,000 samples, so a time divided by 1,000 is that of a sample.

use offnominal_stats::stl::{Formula, Monitor};

fn main() {
    divan::main();
}

const FORMULAS: [&str; 4] = [
    "always (speed < 15.3)",
    "always (speed > 12 implies eventually[0, 1] (speed < 12))",
    "always[0, 20] (eventually[0, 5] (gap > 1) and always[0, 2] (speed + gap > 0))",
    "(speed < 12) until (gap > 3)",
];

#[divan::bench(args = FORMULAS)]
fn episode(bencher: divan::Bencher, text: &str) {
    let names = ["speed".to_string(), "gap".to_string()];
    let formula = Formula::parse(text).expect("a formula");
    let mut monitor = Monitor::new(&formula, &names, 0.05).expect("its signals");
    let samples: Vec<[f64; 2]> =
        (0..1000).map(|t| [10.0 + f64::from(t % 37) / 10.0, f64::from(t % 13) / 4.0]).collect();
    bencher.bench_local(|| {
        monitor.start();
        samples.iter().for_each(|sample| monitor.push(sample));
        monitor.finish()
    });
}
