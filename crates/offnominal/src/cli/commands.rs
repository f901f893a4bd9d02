//! All commands, in the groups of the help: the one table behind the command line, Python, the completions and the manual.

use super::command::{Command, Reply, asked};
use super::{bench, demo, fit, list, manual, monitor, pictures, score, tables, ur_sim};
use clap::ArgMatches;
use offnominal_audit::{self as audit, evidence, verify};
use offnominal_bench::{calibrate, images, metrics_file, report};
use offnominal_engine::{collect, doctor, ensemble, evaluation, export, import, render, train};
use offnominal_logs::inspect;
use offnominal_pixels as pixels;
use offnominal_risk::{budget, compare, estimate, learning, search, select, split, stress};
use offnominal_rollouts::{judge, signals};
use offnominal_shift as shift;

/// The common options of a command that computes.
const WORK: &[&str] = &["seed", "jobs", "json", "quiet"];
/// Of one that counts every episode.
const COUNTS: &[&str] = &["seed", "jobs", "allow_diverged", "json", "quiet"];
/// Of one that reads logs.
const READS: &[&str] = &["seed", "jobs", "strict", "json", "quiet"];
/// Of one that is done at once.
const PLAIN: &[&str] = &["json", "quiet"];

/// Does what a request of the library asks for, and answers with its result.
macro_rules! run {
    ($request:ty, $run:path) => {
        |matches, call| call.answer(&$run(&asked::<$request>(matches)?, &call.context)?)
    };
}

/// The commands by group.
pub const GROUPS: &[(&str, &[Command])] = &[
    ("Your logs", LOGS),
    ("Your policy", POLICY),
    ("Benchmarks and images", BENCHMARKS),
    ("Results and tools", RESULTS),
];

/// What stands before the commands that have a first word in common.
pub const FAMILIES: &[(&str, &str)] = &[
    ("risk", "Failure probabilities: estimate, search, learn, split, select, stress"),
    ("images", "Image detectors: fit networks, score with them"),
    ("rollouts", "Failure detectors for rollouts of generative policies (VLA, diffusion)"),
    ("pixels", "Unknown objects in images: scenes, networks, scores, metrics"),
];

const LOGS: &[Command] = &[
    Command::new::<inspect::Request>(
        "inspect",
        "Describe logs and propose a mapping of columns, or describe a monitor",
        &["jobs", "strict", "json", "quiet"],
        |matches, call| {
            let request = asked(matches)?;
            match inspect::monitor::of(&request)? {
                Some(found) => call.answer(&found),
                None => call.answer(&inspect::run(&request, &call.context)?),
            }
        },
    ),
    Command::new::<fit::Recalibrate>(
        "fit",
        "Fit a detector on nominal data and set its alarm threshold",
        &["seed", "jobs", "allow_diverged", "strict", "json", "quiet"],
        fit::run,
    )
    .declared(fit::declare),
    Command::new::<score::Score>(
        "score",
        "Score logs or episodes with a fitted detector; report alarms",
        READS,
        score::run,
    )
    .replies(Reply::Either),
    Command::new::<monitor::Monitor>(
        "monitor",
        "Give a verdict per step of a stream or a growing log",
        &["strict"],
        monitor::run,
    )
    .replies(Reply::Nothing)
    .declared(monitor::declare),
];

const POLICY: &[Command] = &[
    Command::new::<audit::request::Request>(
        "audit",
        "Audit a policy in a simulator: noticed faults, failure rate",
        COUNTS,
        |matches, call| {
            let found = audit::run(&asked(matches)?, &call.context)?;
            Ok(call.answer(&found)?.only_if(found.is_acceptable()))
        },
    )
    .resumes(),
    Command::new::<evaluation::Request>(
        "evaluate",
        "Measure return and success rate of a policy",
        COUNTS,
        |matches, call| {
            let found = evaluation::run(&asked(matches)?, &call.context)?;
            Ok(call.answer(&found)?.refused(found.refusals.clone()))
        },
    ),
    Command::new::<compare::Request>(
        "compare",
        "Compare policies sequentially: on the same seeds, or by recorded outcomes",
        COUNTS,
        |matches, call| {
            let found = compare::run(&asked(matches)?, &call.context)?;
            Ok(call.answer(&found)?.refused(found.unacceptable()))
        },
    )
    .resumes()
    .into("runs/compare"),
    Command::new::<estimate::Request>(
        "risk estimate",
        "Estimate the failure probability of a policy; report kinds of failures",
        COUNTS,
        |matches, call| {
            let request: estimate::Request = asked(matches)?;
            let found = estimate::run(&request, &call.context)?;
            Ok(call.answer(&found)?.refused(request.max_risk.and_then(|most| found.unacceptable(most))))
        },
    )
    .resumes()
    .into("runs/risk"),
    Command::new::<learning::Request>(
        "risk learn",
        "Learn a predictor of failures from training or from weaker policies",
        WORK,
        run!(learning::Request, learning::run),
    )
    .resumes()
    .into("runs/risk"),
    Command::new::<search::Request>(
        "risk search",
        "Measure how many episodes it takes to find a failure",
        COUNTS,
        run!(search::Request, search::run),
    )
    .resumes()
    .into("runs/risk-search"),
    Command::new::<split::Request>(
        "risk split",
        "Estimate a small failure probability by subset simulation, where there is a margin",
        COUNTS,
        run!(split::Request, split::run),
    )
    .resumes()
    .into("runs/risk-split"),
    Command::new::<select::Request>(
        "risk select",
        "Find the policy with the lowest failure rate (best-arm identification)",
        COUNTS,
        run!(select::Request, select::run),
    )
    .resumes()
    .into("runs/risk-select"),
    Command::new::<stress::Request>(
        "risk stress",
        "Find the most likely failure under sensor and actuator noise",
        COUNTS,
        run!(stress::Request, stress::run),
    )
    .resumes()
    .into("runs/risk-stress"),
    Command::new::<budget::Request>(
        "risk budget",
        "Tell how many episodes Monte Carlo needs for a failure probability",
        PLAIN,
        run!(budget::Request, budget::run),
    ),
    Command::new::<calibrate::Request>(
        "calibrate",
        "Find anomaly strengths that cost a policy 1, 10, 25, 50 % of its score",
        COUNTS,
        run!(calibrate::Request, calibrate::run),
    )
    .resumes(),
    Command::new::<collect::Request>(
        "collect",
        "Record nominal or anomalous episodes into an Arrow file",
        WORK,
        run!(collect::Request, collect::run),
    )
    .resumes(),
    Command::new::<train::Request>(
        "train",
        "Train a policy and write its card",
        WORK,
        run!(train::Request, train::run),
    )
    .resumes(),
    Command::new::<import::Request>(
        "import",
        "Import a policy of another library",
        PLAIN,
        run!(import::Request, import::run),
    ),
    Command::new::<ensemble::Request>(
        "ensemble",
        "Combine policies into an ensemble that acts on their mean",
        PLAIN,
        run!(ensemble::Request, ensemble::run),
    ),
    Command::new::<shift::Request>(
        "shift",
        "Measure and predict the return that policies lose on other bodies",
        WORK,
        run!(shift::Request, shift::run),
    )
    .resumes(),
];

const BENCHMARKS: &[Command] = &[
    Command::new::<bench::Bench>(
        "bench",
        "Run a campaign or suite: detectors against anomalies",
        &["jobs", "json", "quiet"],
        bench::run,
    )
    .resumes(),
    Command::new::<judge::Request>(
        "rollouts judge",
        "Judge failure detectors on rollouts, at matched times",
        WORK,
        run!(judge::Request, judge::run),
    )
    .into("runs/rollouts"),
    Command::new::<signals::Request>(
        "rollouts signals",
        "Write signals computed from action chunks",
        PLAIN,
        |matches, call| call.answer(&signals::run(&asked(matches)?)?),
    ),
    Command::new::<pixels::scenes::Request>(
        "pixels scenes",
        "Draw labelled streets or rooms",
        WORK,
        run!(pixels::scenes::Request, pixels::scenes::run),
    ),
    Command::new::<pixels::frames::Request>(
        "pixels frames",
        "Write labelled camera frames of episodes",
        WORK,
        run!(pixels::frames::Request, pixels::frames::run),
    ),
    Command::new::<pixels::paste::Request>(
        "pixels paste",
        "Paste objects into images, to train outlier-head",
        WORK,
        run!(pixels::paste::Request, pixels::paste::run),
    ),
    Command::new::<pixels::describe::Request>(
        "pixels describe",
        "Count classes, unknown pixels and boundaries of a data set",
        WORK,
        run!(pixels::describe::Request, pixels::describe::run),
    ),
    Command::new::<pixels::train::Request>(
        "pixels train",
        "Train a segmentation network",
        WORK,
        run!(pixels::train::Request, pixels::train::run),
    )
    .resumes(),
    Command::new::<pixels::import::Request>(
        "pixels import",
        "Import weights of a segmentation network trained elsewhere",
        WORK,
        run!(pixels::import::Request, pixels::import::run),
    ),
    Command::new::<pixels::predict::Request>(
        "pixels predict",
        "Write logits and features of a model, or of a public encoder, as .npy files",
        WORK,
        run!(pixels::predict::Request, pixels::predict::run),
    ),
    Command::new::<pixels::score::Request>(
        "pixels score",
        "Score every pixel of images: maps, pictures, components, a contact sheet",
        WORK,
        run!(pixels::score::Request, pixels::score::run),
    ),
    Command::new::<pixels::evaluate::Request>(
        "pixels evaluate",
        "Judge methods on data sets: metrics, components, a page",
        WORK,
        run!(pixels::evaluate::Request, pixels::evaluate::run),
    )
    .resumes(),
    Command::new::<images::fit::Request>(
        "images fit",
        "Fit a network that predicts the next image, or the encoder of patches",
        WORK,
        pictures::fit,
    )
    .resumes(),
    Command::new::<images::score::Request>(
        "images score",
        "Score camera episodes with a fitted network",
        WORK,
        pictures::score,
    )
    .declared(pictures::with_csv),
];

const RESULTS: &[Command] = &[
    Command::new::<demo::Demo>(
        "demo",
        "See it work: from recordings to an alarm, then a comparison",
        &["jobs", "json", "quiet"],
        demo::run,
    ),
    Command::new::<list::List>(
        "list",
        "List environments, anomalies, detectors, policies and more",
        PLAIN,
        list::run,
    )
    .replies(Reply::List),
    Command::new::<report::Request>(
        "report",
        "Make the page of a results folder again",
        PLAIN,
        |matches, call| call.answer(&report::run(&asked(matches)?)?),
    ),
    Command::new::<metrics_file::Request>(
        "metrics",
        "Compute metrics of scores in a CSV file",
        &["seed", "json", "quiet"],
        tables::metrics,
    ),
    Command::new::<evidence::Request>(
        "evidence",
        "Put results and inputs into one signed bundle",
        &["jobs", "json", "quiet"],
        tables::evidence,
    )
    .declared(tables::with_new_key),
    Command::new::<verify::Request>(
        "verify",
        "Check a bundle: digests, signature, recomputed parts",
        &["jobs", "json", "quiet"],
        |matches, call| {
            let found = verify::run(&asked(matches)?, &call.context)?;
            Ok(call.answer(&found)?.only_if(found.is_sound() && !found.is_incomplete()))
        },
    ),
    Command::new::<export::Request>(
        "export",
        "Write a data set in another program's format",
        PLAIN,
        run!(export::Request, export::run),
    ),
    Command::new::<render::Request>(
        "render",
        "Write images and video of an episode or a found failure, or a sheet",
        &["seed", "json", "quiet"],
        pictures::render,
    )
    .declared(pictures::declare),
    Command::new::<ur_sim::UrSim>(
        "ur-sim",
        "Simulate a controller of Universal Robots",
        &["seed", "json", "quiet"],
        ur_sim::run,
    )
    .replies(Reply::Nothing),
    Command::new::<doctor::Request>(
        "doctor",
        "Tell what works on this machine, and what to install for the rest",
        PLAIN,
        |matches, call| call.answer(&doctor::run(&asked(matches)?)?),
    ),
    Command::new::<manual::Manual>(
        "manual",
        "Write man pages and the completions of shells",
        &[],
        manual::run,
    )
    .replies(Reply::Nothing),
];

/// The command of a name.
pub fn find(name: &str) -> Option<&'static Command> {
    GROUPS.iter().flat_map(|(_, commands)| *commands).find(|command| command.name == name)
}

/// The command that was chosen, and its own arguments.
pub fn chosen(matches: &ArgMatches) -> Option<(&'static Command, &ArgMatches)> {
    let (first, inner) = matches.subcommand()?;
    match inner.subcommand() {
        Some((second, own)) => Some((find(&format!("{first} {second}"))?, own)),
        None => Some((find(first)?, inner)),
    }
}
