//! Judges methods on data sets: every pixel scored, pooled in four modes, components compared, mistakes sorted.
//!
//! A cell is one method on one data set; a finished one is stored and not measured again. The images are gone through
//! twice: first to find the thresholds, then to see what is wrong at them.

mod plan;
mod sizes;
mod subject;
mod walk;

use crate::data_set::DataSet;
use crate::fit::{self, Fitter, FittingImages, MethodParams, check_params};
use crate::inputs::{NetworkSource, NominalSource, Reading};
use crate::maps::ScoreMaps;
use crate::network::Network;
use crate::report;
use crate::results::Report;
use anyhow::{Context as _, Result, bail, ensure};
use offnominal_core::Seed;
use offnominal_core::limits::REPLICATES;
use offnominal_detectors::pixel::Needs;
use offnominal_engine::context::Context;
use offnominal_engine::request::{positive, within};
use offnominal_files::lock::Lock;
use offnominal_files::provenance::Provenance;
use offnominal_files::store::Store;
use offnominal_stats::{Bootstrap, Level};
use plan::EvaluationPlan;
use serde::{Deserialize, Serialize};
use std::cell::RefCell;
use std::path::PathBuf;
use subject::Subject;

pub use sizes::ComponentSizes;

/// What to evaluate; the seed is that of the context.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Request {
    /// Data sets.
    pub data: Vec<PathBuf>,
    /// Whether they are judged together, as one; else each by itself.
    pub pooled: bool,
    /// How they are read.
    pub reading: Reading,
    /// The network; none where only score maps are judged.
    pub network: NetworkSource,
    /// Folders of score maps NAME.npy, [H, W], or of folders of them, METHOD/NAME.npy; none, or one for each data set.
    pub scores: Vec<PathBuf>,
    /// What methods are fitted on.
    pub nominal: NominalSource,
    /// Images with pasted things, on which outlier-head is fitted.
    pub outliers: NominalSource,
    /// Methods, or `all` for those that can be had.
    pub methods: Vec<String>,
    /// Parameters of methods.
    pub params: MethodParams,
    /// Temperature of odin; the best of ten on a quarter of the images, which are then not judged, if none.
    pub temperature: Option<f64>,
    /// The smallest components that count.
    pub component_sizes: ComponentSizes,
    /// Bootstrap replicates of each interval.
    pub replicates: u32,
    /// Folder for everything that is written.
    pub out: PathBuf,
    /// The command that the page and the JSON name.
    pub command: String,
}

impl Default for Request {
    fn default() -> Request {
        Request {
            data: Vec::new(),
            pooled: false,
            reading: Reading::default(),
            network: NetworkSource::default(),
            scores: Vec::new(),
            nominal: NominalSource::default(),
            outliers: NominalSource::default(),
            methods: vec!["all".into()],
            params: MethodParams::new(),
            temperature: None,
            component_sizes: ComponentSizes::Scaled,
            replicates: 1000,
            out: "runs/pixels".into(),
            command: String::new(),
        }
    }
}

/// Judges what is not finished, then writes pixels.csv, pixels.json and pixels.html.
///
/// # Errors
/// If something cannot be read, or a data set has no unknown or no known pixels.
pub fn run(request: &Request, context: &Context) -> Result<Report> {
    within("replicates", request.replicates as usize, 2..=REPLICATES)?;
    within("passes", request.network.passes, 1..=100)?;
    positive("temperature", request.temperature.unwrap_or(1.0))?;
    let seed = Seed(context.seed);
    ensure!(!request.data.is_empty(), "expected a data set, found none");
    let subjects = request.subjects(seed)?;
    let open = |source: &NominalSource, reading: &Reading| match request.network.is_none() {
        true => Ok(None),
        false => source.open(reading, &request.network, seed),
    };
    let nominal = open(&request.nominal, &request.reading)?;
    let outliers = open(&request.outliers, &Reading::default())?;
    let images = FittingImages {
        nominal: nominal.as_ref().map(|(set, network)| (set, network)),
        outliers: outliers.as_ref().map(|(set, network)| (set, network)),
    };
    let methods = request.methods_of(&subjects[0], images)?;
    check_params(&request.params, &methods)?;
    let _held = Lock::folder(&request.out)?;
    let store = Store::new(&request.out);
    let fitter = RefCell::new(Fitter::new(images, &request.params, context));
    let mut evaluations = Vec::new();
    for subject in &subjects {
        let plan = EvaluationPlan {
            subject,
            fitter: &fitter,
            methods: &methods,
            params: &request.params,
            temperature: request.temperature,
            bootstrap: Bootstrap::new(request.replicates as usize, Level::P95, seed),
            seed,
            store: &store,
            context,
            sizes: request.component_sizes,
        };
        evaluations.push(plan.run().with_context(|| subject.name.clone())?);
    }
    store.sweep();
    let page = request.out.join("pixels.html");
    let same = Request { out: PathBuf::new(), command: String::new(), ..request.clone() };
    let made = Provenance::new(&request.command, context.seed, &serde_json::to_vec(&same)?);
    let report = Report { made, evaluations, page };
    report::write(&request.out, &report)?;
    Ok(report)
}

impl Request {
    /// What is judged: a data set each, or all of them as one.
    fn subjects(&self, seed: Seed) -> Result<Vec<Subject>> {
        let n = self.data.len();
        let maps = self.scores.len();
        ensure!(maps == 0 || maps == n, "expected one --scores for each --data ({n}), found {maps}");
        let open = |root: &PathBuf| self.reading.open(root).with_context(|| root.display().to_string());
        let sets = self.data.iter().map(open).collect::<Result<Vec<DataSet>>>()?;
        if self.pooled {
            let network =
                if self.network.is_none() { Network::None } else { self.network.open_for(n, seed)? };
            return Ok(vec![self.subject(DataSet::pooled(sets)?, network, &self.scores)?]);
        }
        let networks =
            if self.network.is_none() { vec![Network::None; n] } else { self.network.open(n, seed)? };
        let subjects = sets.into_iter().zip(networks).enumerate();
        let one = |i: usize| self.scores.get(i).map(std::slice::from_ref).unwrap_or_default();
        subjects.map(|(i, (set, network))| self.subject(set, network, one(i))).collect()
    }

    fn subject(&self, set: DataSet, network: Network, scores: &[PathBuf]) -> Result<Subject> {
        let maps = ScoreMaps::find(scores, &set)?;
        Ok(Subject { name: set.name(), set, network, maps })
    }

    /// The methods that read the network, as for the first subject.
    fn methods_of(&self, subject: &Subject, images: FittingImages<'_>) -> Result<Vec<String>> {
        let is_all = self.methods.len() == 1 && self.methods[0] == "all";
        if self.network.is_none() {
            ensure!(is_all, "expected --logits DIR or --model FILE for {}", self.methods.join(", "));
            ensure!(
                !subject.maps.is_empty(),
                "expected --logits DIR or --model FILE, or score maps by --scores DIR"
            );
            return Ok(Vec::new());
        }
        let FittingImages { nominal, outliers } = images;
        let can = Needs {
            nominal: nominal.is_some(),
            outliers: outliers.is_some(),
            ..subject.network.gives(&subject.set)?
        };
        let methods = fit::names(&self.methods, can)?;
        if let Some(twice) = subject.maps.iter().find(|maps| methods.contains(&maps.id)) {
            bail!(
                "{} names a method and score maps: give the folder another name, or name other --methods",
                twice.id
            );
        }
        Ok(methods)
    }
}
