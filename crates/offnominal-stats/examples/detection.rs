//! How good are the scores of a detector: `cargo run --release -p offnominal-stats --example detection`.
//!
//! Scores are normal, and one standard deviation higher from step 50 on. With each anomalous episode comes its nominal
//! twin, so that the matched metrics compare steps of the same time; `clock` counts the steps and sees nothing.

use offnominal_core::{Rng, Seed};
use offnominal_stats::{Bootstrap, Level, Mode, Promise, Rule, ScoredEpisode, detection};

const STEPS: usize = 100;
const ONSET: usize = 50;

fn scores(rng: &mut Rng, shift: f64) -> Vec<f64> {
    (0..STEPS).map(|t| rng.normal() + if t >= ONSET { shift } else { 0.0 }).collect()
}

fn judge(name: &str, episodes: &[ScoredEpisode]) {
    let plan = Bootstrap::new(1000, Level::P95, Seed(1));
    for mode in Mode::ALL {
        let found = detection(episodes, mode, &plan).expect("there are anomalous and nominal steps");
        let e = found.auroc;
        println!("{name:6} {:14} {:.3} [{:.3}, {:.3}]", mode.metric_ids()[0], e.value, e.low, e.high);
    }
}

fn main() {
    let mut rng = Rng::new(1);
    let shifted =
        |_| ScoredEpisode::persistent(scores(&mut rng, 1.0), ONSET as u32, Some(scores(&mut rng, 0.0)));
    let episodes: Vec<ScoredEpisode> = (0..40).map(shifted).collect();
    judge("shift", &episodes);
    let time: Vec<f64> = (0..STEPS).map(|t| t as f64).collect();
    judge("clock", &vec![ScoredEpisode::persistent(time.clone(), ONSET as u32, Some(time)); 40]);

    let nominal: Vec<Vec<f64>> = (0..100).map(|_| scores(&mut rng, 0.0)).collect();
    let threshold =
        Rule::Conformal(Promise::on_average(0.05)).threshold(&nominal, Level::P95).expect("100 are enough");
    let alarms = episodes.iter().filter(|e| threshold.alarms(&e.scores)).count();
    println!(
        "at the conformal threshold {:.2}, {alarms} of 40 anomalous episodes raise an alarm",
        threshold.value
    );
}
