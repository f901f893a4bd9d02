//! All commands, in the groups of the help: the one table behind the command line, Python, the completions and the manual.

use super::command::{Command, Reply, asked};
use super::{bench, demo, fit, list, manual, monitor, pictures, score, tables, ur_sim};
use clap::ArgMatches;
use offnominal_audit::{self as audit, evidence, verify};
use offnominal_bench::{calibrate, images, metrics_file, report};
use offnominal_engine::{collect, ensemble, evaluation, export, import, render, sheet, train};
use offnominal_logs::inspect;
use offnominal_pixels as pixels;
use offnominal_risk::{budget, compare, estimate, learning, replay, search, select, split, stress};
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
    ("risk", "Failure probabilities: estimate, search, learn, split, select, stress, replay"),
    ("images", "Image detectors: train the encoder of patches, fit networks, score with them"),
    ("rollouts", "Failure detectors for rollouts of generative policies (VLA, diffusion)"),
    ("pixels", "Where in an image the unknown thing is: scenes, networks, scores, metrics"),
];

const LOGS: &[Command] = &[
    Command::new::<inspect::Request>(
        "inspect",
        "Describe logs of any format, and propose which column is what",
        &["jobs", "strict", "json", "quiet"],
        run!(inspect::Request, inspect::run),
    ),
    Command::new::<fit::Recalibrate>(
        "fit",
        "Fit a detector on nominal logs or episodes, and set its alarm threshold on others",
        &["seed", "jobs", "allow_diverged", "strict", "json", "quiet"],
        fit::run,
    )
    .declared(fit::declare),
    Command::new::<score::Score>(
        "score",
        "Score logs or episodes with a fitted detector, and report its alarms",
        READS,
        score::run,
    )
    .replies(Reply::Either),
    Command::new::<monitor::Monitor>(
        "monitor",
        "Give a verdict for each step of a stream, or of a log while it is recorded",
        &["strict"],
        monitor::run,
    )
    .replies(Reply::Nothing)
    .declared(monitor::declare),
];

const POLICY: &[Command] = &[
    Command::new::<audit::request::Request>(
        "audit",
        "Audit a policy in a simulator: which faults are noticed, how often it fails",
        COUNTS,
        |matches, call| {
            let found = audit::run(&asked(matches)?, &call.context)?;
            Ok(call.answer(&found)?.only_if(found.is_acceptable()))
        },
    )
    .declared(audit_line),
    Command::new::<evaluation::Request>(
        "evaluate",
        "Measure return and success rate of a policy, with intervals",
        COUNTS,
        |matches, call| {
            let found = evaluation::run(&asked(matches)?, &call.context)?;
            Ok(call.answer(&found)?.refused(found.refusals.clone()))
        },
    ),
    Command::new::<compare::Request>(
        "compare",
        "Compare two policies on the same seeds until one is clearly better or worse",
        COUNTS,
        |matches, call| {
            let found = compare::run(&asked(matches)?, &call.context)?;
            Ok(call.answer(&found)?.refused(found.unacceptable()))
        },
    )
    .into("runs/compare"),
    Command::new::<estimate::Request>(
        "risk estimate",
        "Estimate the failure probability of a policy, with an interval, and report the kinds of failures",
        COUNTS,
        |matches, call| {
            let request: estimate::Request = asked(matches)?;
            let found = estimate::run(&request, &call.context)?;
            Ok(call.answer(&found)?.refused(request.max_risk.and_then(|most| found.unacceptable(most))))
        },
    )
    .into("runs/risk"),
    Command::new::<learning::Request>(
        "risk learn",
        "Learn where failures are likely: from the history of a training run, or from episodes of weaker policies",
        WORK,
        run!(learning::Request, learning::run),
    )
    .into("runs/risk"),
    Command::new::<search::Request>(
        "risk search",
        "Measure how many episodes finding one failure takes",
        COUNTS,
        run!(search::Request, search::run),
    )
    .into("runs/risk-search"),
    Command::new::<split::Request>(
        "risk split",
        "Estimate the failure probability in an environment with a margin, by swarms that move towards failure",
        COUNTS,
        run!(split::Request, split::run),
    )
    .into("runs/risk-split"),
    Command::new::<select::Request>(
        "risk select",
        "Find the policy that fails least among several (best-arm identification)",
        COUNTS,
        run!(select::Request, select::run),
    )
    .into("runs/risk-select"),
    Command::new::<stress::Request>(
        "risk stress",
        "Find the most likely failure under the declared noise of sensors and actuators: disturbances in every step",
        COUNTS,
        run!(stress::Request, stress::run),
    )
    .into("runs/risk-stress"),
    Command::new::<replay::Request>(
        "risk replay",
        "Play a failure of `risk estimate` or `risk stress` again, with images",
        PLAIN,
        |matches, call| {
            let mut request: replay::Request = asked(matches)?;
            if call.is_of_person() {
                request.out.get_or_insert(request.run.join(format!("failure-{}", request.failure)));
            }
            call.answer(&replay::run(&request, &call.context)?)
        },
    ),
    Command::new::<budget::Request>(
        "risk budget",
        "How many episodes plain counting needs to know a failure probability within a factor",
        PLAIN,
        run!(budget::Request, budget::run),
    ),
    Command::new::<calibrate::Request>(
        "calibrate",
        "Find how strong each anomaly must be to cost a policy 1, 10, 25 and 50 % of its score",
        COUNTS,
        run!(calibrate::Request, calibrate::run),
    ),
    Command::new::<collect::Request>(
        "collect",
        "Play episodes, nominal or anomalous with their twins, into one Arrow file",
        WORK,
        run!(collect::Request, collect::run),
    ),
    Command::new::<train::Request>(
        "train",
        "Train a policy, and write it with a card that says how good it is",
        WORK,
        run!(train::Request, train::run),
    ),
    Command::new::<import::Request>(
        "import",
        "Take over a policy of another program",
        PLAIN,
        run!(import::Request, import::run),
    ),
    Command::new::<ensemble::Request>(
        "ensemble",
        "Make one policy of several: it acts on their mean, and they can disagree",
        PLAIN,
        run!(ensemble::Request, ensemble::run),
    ),
    Command::new::<shift::Request>(
        "shift",
        "Measure how much return policies lose on other bodies, and predict it",
        WORK,
        run!(shift::Request, shift::run),
    ),
];

const BENCHMARKS: &[Command] = &[
    Command::new::<bench::Bench>(
        "bench",
        "Run a campaign or a suite: detectors against anomalies, with tables and a report",
        &["jobs", "json", "quiet"],
        bench::run,
    ),
    Command::new::<judge::Request>(
        "rollouts judge",
        "Judge failure detectors among rollouts, once the clock is taken out",
        WORK,
        run!(judge::Request, judge::run),
    )
    .into("runs/rollouts"),
    Command::new::<signals::Request>(
        "rollouts signals",
        "Write what chunks of actions say as signals, for `rollouts judge`, `fit` and `score`",
        PLAIN,
        |matches, call| call.answer(&signals::run(&asked(matches)?)?),
    ),
    Command::new::<pixels::scenes::Request>(
        "pixels scenes",
        "Draw streets or rooms in which the class of every pixel is known",
        WORK,
        run!(pixels::scenes::Request, pixels::scenes::run),
    ),
    Command::new::<pixels::frames::Request>(
        "pixels frames",
        "Play episodes of an environment and write what its camera saw, with the class of every pixel",
        WORK,
        run!(pixels::frames::Request, pixels::frames::run),
    ),
    Command::new::<pixels::paste::Request>(
        "pixels paste",
        "Paste things into the images of a data set, from which outlier-head learns",
        WORK,
        run!(pixels::paste::Request, pixels::paste::run),
    ),
    Command::new::<pixels::describe::Request>(
        "pixels describe",
        "Count classes, unknown pixels and boundaries of a data set, and how far one gets by colour alone",
        WORK,
        run!(pixels::describe::Request, pixels::describe::run),
    ),
    Command::new::<pixels::train::Request>(
        "pixels train",
        "Train a network: the baseline, PSPNet or DeepLabV3+",
        WORK,
        run!(pixels::train::Request, pixels::train::run),
    ),
    Command::new::<pixels::import::Request>(
        "pixels import",
        "Take over weights that were trained elsewhere: of torchvision's deeplabv3_resnet50, or of a network of `pixels train`",
        WORK,
        run!(pixels::import::Request, pixels::import::run),
    ),
    Command::new::<pixels::predict::Request>(
        "pixels predict",
        "Write a model's logits, features and confidences as .npy files",
        WORK,
        run!(pixels::predict::Request, pixels::predict::run),
    ),
    Command::new::<pixels::features::Request>(
        "pixels features",
        "Write features of a public encoder as .npy files, for the methods that read features",
        WORK,
        run!(pixels::features::Request, pixels::features::run),
    ),
    Command::new::<pixels::score::Request>(
        "pixels score",
        "Write a score for each pixel as .npy files",
        WORK,
        run!(pixels::score::Request, pixels::score::run),
    ),
    Command::new::<pixels::evaluate::Request>(
        "pixels evaluate",
        "Judge methods on data sets: metrics in four modes, components, causes of mistakes, a page",
        WORK,
        run!(pixels::evaluate::Request, pixels::evaluate::run),
    ),
    Command::new::<images::encoder::Request>(
        "images train",
        "Train the encoder of patches on frames of environments",
        WORK,
        run!(images::encoder::Request, images::encoder::run),
    ),
    Command::new::<images::fit::Request>(
        "images fit",
        "Fit a network that predicts the next image, and write it as a file",
        WORK,
        run!(images::fit::Request, images::fit::run),
    ),
    Command::new::<images::score::Request>(
        "images score",
        "Play episodes before the camera and score them with a fitted network",
        WORK,
        pictures::score,
    )
    .declared(pictures::with_csv),
];

const RESULTS: &[Command] = &[
    Command::new::<demo::Demo>(
        "demo",
        "See it work: from recordings to an alarm; then policies, anomalies, a report",
        &["jobs", "json", "quiet"],
        demo::run,
    ),
    Command::new::<list::List>(
        "list",
        "List environments, anomalies, detectors, policies, algorithms, metrics",
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
        "Compute metrics of scores in a CSV file, with intervals",
        &["seed", "json", "quiet"],
        tables::metrics,
    ),
    Command::new::<evidence::Request>(
        "evidence",
        "Put results and their inputs into one signed file that somebody else can check",
        &["jobs", "json", "quiet"],
        tables::evidence,
    )
    .declared(tables::with_new_key),
    Command::new::<verify::Request>(
        "verify",
        "Check such a file: digests, signature, and parts of the work done again",
        &["jobs", "json", "quiet"],
        |matches, call| {
            let found = verify::run(&asked(matches)?, &call.context)?;
            Ok(call.answer(&found)?.only_if(found.is_sound() && !found.is_incomplete()))
        },
    ),
    Command::new::<export::Request>(
        "export",
        "Write a data set in the format of another program",
        PLAIN,
        run!(export::Request, export::run),
    ),
    Command::new::<render::Request>(
        "render",
        "Write images, class masks and a video of one episode",
        &["seed", "json", "quiet"],
        run!(render::Request, render::run),
    ),
    Command::new::<sheet::Request>(
        "sheet",
        "Draw many frames with their names in one picture",
        &["seed", "json", "quiet"],
        run!(sheet::Request, sheet::run),
    ),
    Command::new::<ur_sim::UrSim>(
        "ur-sim",
        "Simulate a controller of Universal Robots, for any program that speaks to one",
        &["seed", "json", "quiet"],
        ur_sim::run,
    )
    .replies(Reply::Nothing),
    Command::new::<manual::Completions>(
        "completions",
        "Print the completions of a shell",
        &[],
        manual::completions,
    )
    .replies(Reply::Nothing),
    Command::new::<manual::Man>("man", "Write the manual as man pages, one per command", &[], manual::man)
        .replies(Reply::Nothing),
];

/// What stands below the options of `audit`.
const AUDIT: &str = "The audit plays episodes, finds how strong each fault must be to cost the policy its score, tries detectors on \
these faults, fits a monitor, counts failures, and writes audit.html, audit.json, badge.svg and badge.json. It says what it \
plans before it starts, and goes on where it was stopped. The depth depends on the speed of the machine unless --depth gives \
it; the same depth and seed give the same numbers.

  offnominal audit --env sap-goal0 --policy tqc --budget 3m
  offnominal audit --env gymnasium:CartPole-v1 --policy ppo_cartpole.zip --require 'auroc_matched(tiny) >= .8, risk <= 1e-2'";

fn audit_line(line: clap::Command) -> clap::Command {
    <audit::request::Request as clap::Args>::augment_args(line).after_help(AUDIT)
}

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
