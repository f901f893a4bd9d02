//! `risk committor`: a guess of the chance that an episode in progress fails, and the levels at which episodes are copied.
//!
//! The committor V(observation, time) is learned from all steps of episodes: first of plain ones, of the policy and of
//! weaker ones, then of pilot episodes of the policy alone, which are copied where V is high and so see what comes
//! shortly before failures. The estimate that follows ([`forks`](crate::forks)) is valid whatever V is worth.

pub mod network;
pub mod pilot;
pub mod rows;

use crate::experimenter::Experimenter;
use crate::forks::root::{Importance, Level};
use crate::predictors::predictor::{file::network as network_shape, sound};
use crate::request::{self, defaults, within};
use anyhow::{Context as _, Result, ensure};
use network::{Buffers, Network};
use offnominal_core::prelude::*;
use offnominal_core::run::Branch;
use offnominal_engine::context::Context;
use offnominal_engine::scenario::ScenarioRequest;
use offnominal_engine::subject::Subject;
use offnominal_files::dataset::PolicyName;
use offnominal_files::lock::Lock;
use offnominal_files::write;
use offnominal_nets::{Standardiser, TensorError, Tensors};
use pilot::Pilot;
use rows::Rows;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::path::{Path, PathBuf};

/// What is learned from.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Request {
    /// Id of the environment.
    pub env: String,
    /// The policy under test.
    pub policy: String,
    /// Policies that fail more often, or folders of them, whose plain episodes are learned from at first.
    #[serde(default)]
    pub weaker: Vec<String>,
    /// Plain episodes of each policy, and episodes of each stage of a pilot.
    #[serde(default = "episodes")]
    pub episodes: u64,
    /// Pilots that are learned from; one more sets the levels.
    #[serde(default = "pilots")]
    pub pilots: usize,
    /// Gradient steps of a fit.
    #[serde(default = "steps")]
    pub steps: usize,
    /// λ of the temporal differences, per step: 1 learns from ends only, 0 from the next step only.
    #[serde(default = "lambda")]
    pub lambda: f64,
    /// What is drawn for each episode, and by what one fails.
    #[serde(default)]
    pub scenario: ScenarioRequest,
    /// Folder for `committor.safetensors`; if absent, nothing is written.
    pub out: Option<PathBuf>,
}

defaults! {
    episodes: u64 = 1000;
    pilots: usize = 2;
    steps: usize = 4000;
    lambda: f64 = 0.95;
}

/// What was learned.
#[derive(Debug, Clone, Serialize)]
pub struct Report {
    /// The file, if it was written.
    pub file: Option<PathBuf>,
    /// What the committor is for, and its levels.
    pub about: About,
    /// What each pilot saw; the last one set the levels.
    pub pilots: Vec<PilotReport>,
    /// Episodes that all of it took.
    pub episodes: u64,
    /// Steps of these.
    pub steps: u64,
    /// The committor.
    #[serde(skip)]
    pub committor: Committor,
}

/// What a pilot saw.
#[derive(Debug, Clone, Serialize)]
pub struct PilotReport {
    /// Cross-entropy of the committor that led it, on held-out episodes; ln 2 is that of knowing nothing.
    pub cross_entropy: f64,
    /// Levels that it found.
    pub levels: usize,
    /// Its failures.
    pub failures: u64,
    /// A rough guess of the failure probability.
    pub guess: f64,
}

/// What a committor is for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct About {
    /// The environment.
    pub env: String,
    /// The policy under test.
    pub policy: PolicyName,
    /// Numbers that it reads: the observation, what the environment knows beyond it, and the time.
    pub width: usize,
    /// Where episodes are copied.
    pub levels: Vec<Level>,
}

/// A learned committor.
#[derive(Debug, Clone, PartialEq)]
pub struct Committor {
    /// What it is for.
    pub about: About,
    network: Network,
}

/// A network with the buffers of one thread.
pub struct Reader<'n> {
    network: &'n Network,
    row: Vec<f32>,
    buffers: Buffers,
}

impl<'n> Reader<'n> {
    /// Opens a network.
    pub fn new(network: &'n Network) -> Reader<'n> {
        Reader { network, row: Vec::new(), buffers: network.buffers() }
    }
}

impl Importance for Reader<'_> {
    fn value(&mut self, branch: &Branch) -> f64 {
        self.row.clear();
        read(branch, &mut self.row);
        self.network.value(&self.row, &mut self.buffers)
    }
}

/// Adds what a committor reads of a state: the observation, what the environment knows beyond it, and the time.
fn read(branch: &Branch, row: &mut Vec<f32>) {
    row.extend_from_slice(branch.observation());
    row.extend(branch.env().failure_search().outlook().iter().map(|&v| v as f32));
    row.push(branch.time() as f32);
}

/// How many numbers it reads in an environment.
fn width(env: &dyn Env) -> usize {
    env.spec().obs_width() + env.failure_search().outlook().len() + 1
}

/// Plays, learns and sets the levels.
///
/// # Errors
/// If environment or policy cannot be had or copied, a setting is out of its range, no plain episode fails, or a file cannot
/// be written.
pub fn run(request: &Request, context: &Context) -> Result<Report> {
    within("episodes", request.episodes, 20..=10_000_000)?;
    within("pilots", request.pilots, 0..=20)?;
    within("steps", request.steps, 1..=10_000_000)?;
    ensure!((0.0..=1.0).contains(&request.lambda), "lambda: expected 0 to 1, found {}", request.lambda);
    let _held = request.out.as_deref().map(Lock::folder).transpose()?;
    let subject = request.scenario.subject(&request.env, &request.policy)?;
    let mut report = learn(request, &subject, &request.weaker()?, context)?;
    report.file = request.out.as_ref().map(|folder| folder.join("committor.safetensors"));
    report.file.iter().try_for_each(|path| write::atomically(path, &report.committor.to_bytes()))?;
    Ok(report)
}

/// Failures of the policy itself from which a committor learns better than from those of other policies.
const ENOUGH: u64 = 50;

/// Learns a committor for a subject, at first from episodes of weaker ones too.
pub(crate) fn learn(
    request: &Request,
    subject: &Subject,
    weaker: &[Subject],
    context: &Context,
) -> Result<Report> {
    let by = Experimenter::new(subject, context.seed)?;
    let mut all = plain(request, subject, weaker, context)?;
    let (mut rng, mut pilots) = (Seed(context.seed).child("committor").rng(), Vec::new());
    let (mut network, mut loss) = request.fit(&mut all.train, &all.held, subject, &mut rng)?;
    let levels = loop {
        let name = format!("committor-{}", pilots.len());
        let pilot = Pilot::with_levels(&by, &network, request.episodes, &name, context)?;
        pilots.push(PilotReport::of(&pilot, loss));
        // What weaker policies did has served; from here on the policy's own episodes tell more.
        if pilots.len() == 1 && pilot.failures >= ENOUGH {
            all.forget();
        }
        all.learn_from(&pilot);
        if pilots.len() > request.pilots {
            break pilot.levels;
        }
        (network, loss) = request.fit(&mut all.train, &all.held, subject, &mut rng)?;
    };
    let width = width(subject.env.as_ref());
    let about = About { env: subject.env.spec().id.clone(), policy: subject.name.clone(), width, levels };
    let committor = Committor::new(about.clone(), network);
    Ok(Report { file: None, about, pilots, episodes: all.episodes, steps: all.steps, committor })
}

/// Plain episodes of the policy and of weaker ones.
fn plain(request: &Request, subject: &Subject, weaker: &[Subject], context: &Context) -> Result<Pilot> {
    let mut all = Pilot::new(width(subject.env.as_ref()));
    for subject in std::iter::once(subject).chain(weaker) {
        let by = Experimenter::new(subject, context.seed)?;
        all.plain(&by, request.episodes, &format!("committor-{}", subject.name.digest), context)?;
    }
    Ok(all)
}

/// Fits by temporal differences after the one by ends.
const TRACES: usize = 2;

impl Request {
    /// Fits a network to how episodes ended, then to what it sees on the way.
    fn fit(&self, train: &mut Rows, held: &Rows, subject: &Subject, rng: &mut Rng) -> Result<(Network, f64)> {
        let horizon = subject.trial().horizon;
        train.forget_traces();
        let (mut network, mut loss) = Network::fit(train, held, self.steps, rng)?;
        for _ in 0..if self.lambda < 1.0 { TRACES } else { 0 } {
            let mut buffers = network.buffers();
            train.trace(|row| network.chance(row, &mut buffers), self.lambda, horizon);
            (network, loss) = Network::fit(train, held, self.steps, rng)?;
        }
        Ok((network, loss))
    }

    fn weaker(&self) -> Result<Vec<Subject>> {
        if self.weaker.is_empty() {
            return Ok(vec![]);
        }
        request::subjects(&self.scenario, &self.env, &self.weaker)
    }
}

impl PilotReport {
    fn of(pilot: &Pilot, cross_entropy: f64) -> PilotReport {
        PilotReport {
            cross_entropy,
            levels: pilot.levels.len(),
            failures: pilot.failures,
            guess: pilot.guess,
        }
    }
}

/// Value of the entry `format` of the header.
const FORMAT: &str = "offnominal-committor-1";

impl Committor {
    /// A network with what it is for.
    pub fn new(about: About, network: Network) -> Committor {
        // Only learning needs the prior, and no file has it.
        Committor { about, network: Network { prior: 0.0, ..network } }
    }

    /// The committor with buffers for one thread.
    pub fn reader(&self) -> Reader<'_> {
        Reader::new(&self.network)
    }

    /// Reads the file of a committor for a policy in its environment.
    ///
    /// # Errors
    /// If it is none, or one for another environment or policy.
    pub fn open(path: &Path, subject: &Subject) -> Result<Committor> {
        let place = || path.display().to_string();
        let committor = Committor::from_bytes(&offnominal_files::read::bytes(path)?).with_context(place)?;
        let (about, spec) = (&committor.about, subject.env.spec());
        ensure!(
            about.env == spec.id,
            "{}: expected a committor for {}, found one for {}",
            place(),
            spec.id,
            about.env
        );
        ensure!(
            about.policy.digest == subject.name.digest,
            "{}: expected a committor for the policy with digest {}, found one for {}: its levels are those of that policy",
            place(),
            subject.name.digest,
            about.policy.digest
        );
        let (expected, found) = (width(subject.env.as_ref()), about.width);
        ensure!(
            found == expected,
            "{}: expected a committor of {expected} numbers, found one of {found}",
            place()
        );
        Ok(committor)
    }

    /// The file.
    ///
    /// # Panics
    /// Never: what was learned is plain data.
    pub fn to_bytes(&self) -> Vec<u8> {
        let Network { net, params, scaler, .. } = &self.network;
        let mut file = Tensors::default();
        let widths: Vec<f32> = net.sizes().iter().map(|&s| s as f32).collect();
        file.put("widths", &widths);
        file.put("parameters", params);
        file.put_entry("format", FORMAT);
        file.put_json("about", &self.about);
        file.put_json("scaler", scaler);
        file.to_bytes()
    }

    /// Reads a file.
    ///
    /// # Errors
    /// If it is not one, or holds what learning never writes.
    pub fn from_bytes(bytes: &[u8]) -> Result<Committor, TensorError> {
        let file = Tensors::from_bytes(bytes)?;
        file.expect_entry("format", FORMAT)?;
        let (about, scaler): (About, Standardiser) = (file.json("about")?, file.json("scaler")?);
        sound(&scaler)?;
        let net = network_shape(&file, scaler.outputs())?;
        TensorError::require(net.outputs() == 1, "outputs", "1", net.outputs())?;
        let (width, found) = (about.width, scaler.inputs());
        TensorError::require(found == width, "width", &width.to_string(), found)?;
        let rising = about.levels.windows(2).all(|pair| pair[0].importance < pair[1].importance);
        let finite = about.levels.iter().all(|l| l.importance.is_finite() && (2..=1000).contains(&l.copies));
        TensorError::require(rising && finite, "levels", "rising levels of 2 to 1000 copies", "others")?;
        let params = file.expect("parameters", &[net.n_params()])?.to_vec();
        // Only learning needs the prior.
        Ok(Committor { about, network: Network { net, params, scaler, prior: 0.0 } })
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, PilotReport { cross_entropy, levels, failures, guess }) in self.pilots.iter().enumerate() {
            writeln!(
                f,
                "pilot {i}: cross-entropy {cross_entropy:.3} (0.693 is knowing nothing), {levels} levels, {failures} \
                 failures, about {guess:.1e}"
            )?;
        }
        writeln!(f, "{} episodes, {} steps", self.episodes, self.steps)?;
        self.file.iter().try_for_each(|path| writeln!(f, "written to {}", path.display()))
    }
}
