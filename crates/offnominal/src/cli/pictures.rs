//! `render` and `images`: one episode, a sheet of many, or a failure of a run; and networks of images.

use super::command::{Answer, Call, asked};
use anyhow::{Result, ensure};
use clap::builder::ArgPredicate;
use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches, Args, Command};
use offnominal_bench::images::score::{Request, Scored, run};
use offnominal_bench::images::{encoder, fit};
use offnominal_engine::render;
use offnominal_engine::sheet::{self, View};
use offnominal_risk::replay;
use offnominal_work::cli::word_of;
use std::path::PathBuf;

/// What is rendered instead of one new episode.
#[derive(Debug, Args)]
pub struct Other {
    /// Folder of `risk estimate` or `risk stress`: render one of its failures
    #[arg(value_name = "RUN", conflicts_with_all = NOT_OF_A_RUN)]
    run: Option<PathBuf>,
    /// Number of the failure, as its report names it
    #[arg(long, value_name = "N", default_value_t = 0, requires = "run")]
    number: usize,
    /// Draw one frame per --env, --anomaly and --strength (lists) into one picture
    #[arg(long, value_name = "FILE.png", conflicts_with_all = NOT_OF_A_SHEET)]
    sheet: Option<PathBuf>,
    /// Sheet: what to show
    #[arg(long, value_parser = word_of::<View>(), default_value = "camera", requires = "sheet")]
    view: View,
    /// Sheet: step to show; 0 is before the first action
    #[arg(long, default_value_t = 10, requires = "sheet")]
    step: u32,
    /// Sheet: frames per row [default: 5, or one row per anomaly]
    #[arg(long, value_name = "N", requires = "sheet")]
    columns: Option<usize>,
}

/// What a failure of a run has already.
const NOT_OF_A_RUN: [&str; 9] =
    ["env", "failure", "failure_margin", "camera", "frames", "classes", "sheet", "anomaly", "onset"];
/// What means nothing where each episode gives one frame.
const NOT_OF_A_SHEET: [&str; 10] = [
    "failure",
    "failure_margin",
    "frames",
    "classes",
    "out",
    "strengths",
    "channels",
    "onset",
    "window",
    "intermittent",
];

/// The arguments of all three.
pub fn declare(line: Command) -> Command {
    render::Request::augment_args(Other::augment_args(line))
        .mut_arg("env", |env| env.required(false).required_unless_present("run"))
        .mut_arg("policy", |policy| policy.required(false).required_unless_present_any(["run", "sheet"]))
        .mut_arg("magnitude", |magnitude| magnitude.value_delimiter(','))
        .mut_arg("size", |size| size.default_value_if("sheet", ArgPredicate::IsPresent, "128"))
}

/// Renders what was asked for.
pub fn render(matches: &ArgMatches, call: &Call) -> Result<Answer> {
    match asked(matches)? {
        Other { run: Some(run), number, .. } => failure(run, number, matches, call),
        Other { sheet: Some(file), view, step, columns, .. } => {
            call.answer(&sheet::run(&frames(file, (view, step, columns), matches), &call.context)?)
        }
        Other { .. } => {
            let n = matches.get_many::<f64>("magnitude").map_or(0, Iterator::count);
            ensure!(n <= 1, "magnitude: expected one number without --sheet, found {n}");
            call.answer(&render::run(&asked(matches)?, &call.context)?)
        }
    }
}

/// A failure of a run, whose seed is that of the run; its images lie within the run if a person names no folder.
fn failure(run: PathBuf, number: usize, matches: &ArgMatches, call: &Call) -> Result<Answer> {
    let is_given = |id: &str| matches.value_source(id) == Some(ValueSource::CommandLine);
    ensure!(
        !(call.is_of_person() && is_given("seed")),
        "seed: expected none with a run, which has its own, found one"
    );
    let named = matches.get_one("out").filter(|_| is_given("out")).cloned();
    let within = || call.is_of_person().then(|| run.join(format!("failure-{number}")));
    let request = replay::Request {
        failure: number,
        policy: matches.get_one("policy").cloned(),
        size: size(matches).into(),
        out: named.or_else(within),
        run,
    };
    call.answer(&replay::run(&request, &call.context)?)
}

fn frames(
    file: PathBuf,
    (view, step, columns): (View, u32, Option<usize>),
    matches: &ArgMatches,
) -> sheet::Request {
    let text = |id: &str| matches.get_one::<String>(id);
    let list = |id: &str| text(id).map_or(Vec::new(), |all| all.split(',').map(String::from).collect());
    sheet::Request {
        envs: list("env"),
        policy: text("policy").map_or("random".into(), String::clone),
        view,
        camera: text("camera").cloned(),
        anomalies: list("anomaly"),
        magnitudes: matches.get_many("magnitude").into_iter().flatten().copied().collect(),
        strengths: list("strength"),
        step,
        size: size(matches),
        columns,
        file,
    }
}

/// Width and height, which have a default.
fn size(matches: &ArgMatches) -> u16 {
    matches.get_one("size").copied().unwrap_or_default()
}

/// The network that predicts the next image, or the encoder of patches.
pub fn fit(matches: &ArgMatches, call: &Call) -> Result<Answer> {
    let request: fit::Request = asked(matches)?;
    match request.encoder()? {
        Some(encoder) => call.answer(&encoder::run(&encoder, &call.context)?),
        None => call.answer(&fit::run(&request, &call.context)?),
    }
}

/// The request with the option that prints steps.
pub fn with_csv(line: Command) -> Command {
    let csv = Arg::new("csv").long("csv").action(ArgAction::SetTrue).conflicts_with("json");
    let csv = csv.help("Print every step as CSV for `metrics`");
    Request::augment_args(line.arg(csv))
}

/// How well anomalous steps are told from those of the twins.
pub fn score(matches: &ArgMatches, call: &Call) -> Result<Answer> {
    let found = run(&asked(matches)?, &call.context)?;
    if matches.get_flag("csv") { as_csv(&found) } else { call.answer(&found) }
}

fn as_csv(found: &Scored) -> Result<Answer> {
    let mut out = csv::Writer::from_writer(std::io::stdout().lock());
    out.write_record(["episode", "step", "score", "label"])?;
    for (i, (scores, labels)) in found.scores.iter().enumerate() {
        for (step, (score, label)) in scores.iter().zip(labels).enumerate() {
            out.serialize((i, step, score, u8::from(*label)))?;
        }
    }
    out.flush()?;
    Ok(Answer::nothing())
}
