//! Measurements that call the library: `cargo run --release -p studies -- NAME [ARGUMENTS]`.
//!
//! | name | question |
//! |------|----------|
//! | `alarm-coverage` | do alarm rules keep their promise on real scores |
//! | `compare-power` | does `compare` keep its promise, and what do pairs save |
//! | `compare-trials` | how many trials tell recorded successes apart, and how often by mistake |
//! | `contact-sheet` | a sheet of scenes, each beside its classes |
//! | `fit-times` | how long detectors take to fit and to score |
//! | `multifidelity` | what episodes of a cheaper simulator save |
//! | `risk-algorithm-1` | the failure probability by algorithm 1 of Uesato et al. (2018) |
//! | `risk-closed-form` | what samplers gain over counting where the truth is known |
//! | `risk-coverage` | do intervals of failure probabilities keep their promise |
//! | `risk-figures` | Figures 1 to 4 of Uesato et al. (2018) |
//! | `risk-gate` | how many experiments should ignore the predictor |
//! | `risk-perturb` | do failures fail again from near by |
//! | `risk-replicates` | what a method gains over counting |
//! | `risk-sensitivity` | what decides whether an episode fails: Sobol's effects |
//! | `risk-thinned` | the failure probability by thinned draws, in blocks |
//! | `run-lengths` | how far apart the false alarms of the rule `run-length` are |

mod alarm_coverage;
mod compare_power;
mod compare_trials;
mod contact_sheet;
mod fit_times;
mod multifidelity;
mod played;
mod risk_algorithm_1;
mod risk_closed_form;
mod risk_coverage;
mod risk_figures;
mod risk_gate;
mod risk_perturb;
mod risk_replicates;
mod risk_sensitivity;
mod risk_thinned;
mod run_lengths;

use anyhow::{Result, bail};

fn main() -> Result<()> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let Some((name, rest)) = args.split_first() else { bail!("expected the name of a study, found none") };
    match name.as_str() {
        "alarm-coverage" => alarm_coverage::run(rest),
        "compare-power" => compare_power::run(rest),
        "compare-trials" => compare_trials::run(rest),
        "contact-sheet" => contact_sheet::run(rest),
        "fit-times" => fit_times::run(rest),
        "multifidelity" => multifidelity::run(rest),
        "risk-algorithm-1" => risk_algorithm_1::run(rest),
        "risk-closed-form" => risk_closed_form::run(rest),
        "risk-coverage" => risk_coverage::run(rest),
        "risk-figures" => risk_figures::run(rest),
        "risk-gate" => risk_gate::run(rest),
        "risk-perturb" => risk_perturb::run(rest),
        "risk-replicates" => risk_replicates::run(rest),
        "risk-sensitivity" => risk_sensitivity::run(rest),
        "risk-thinned" => risk_thinned::run(rest),
        "run-lengths" => run_lengths::run(rest),
        other => bail!("expected the name of a study, found {other:?}"),
    }
}
