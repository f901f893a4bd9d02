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
use crate::inputs::OutlierSource;
use crate::inputs::{NetworkSource, NominalSource, Reading};
use crate::layout::ImageFolder;
use crate::maps::ScoreMaps;
use crate::network::Network;
use crate::report;
use crate::results::Report;
use crate::score::{params, temperature};
use anyhow::{Context as _, Result, bail, ensure};
use clap::Args;
use offnominal_core::Seed;
use offnominal_core::limits::REPLICATES;
use offnominal_detectors::pixel::Needs;
use offnominal_engine::context::Context;
use offnominal_engine::request::{positive, within};
use offnominal_files::lock::Lock;
use offnominal_files::provenance::Provenance;
use offnominal_files::store::Store;
use offnominal_stats::{Bootstrap, Level};
use offnominal_work::cli::word_of;
use plan::EvaluationPlan;
use serde::Serialize;
use std::cell::RefCell;
use std::path::PathBuf;
use subject::Subject;

pub use sizes::ComponentSizes;

/// What to evaluate; the seed is that of the context.
#[derive(Debug, Clone, PartialEq, Serialize, Args)]
pub struct Request {
    /// Data set; repeatable, each judged by itself
    #[arg(long, required = true, value_name = "DIR")]
    pub data: Vec<ImageFolder>,
    /// Judge all data sets as one
    #[arg(long)]
    pub pooled: bool,
    /// Folder of score maps, or of folders by method; one per --data
    #[arg(long, value_name = "DIR")]
    pub scores: Vec<PathBuf>,
    /// Methods (see `list pixel-methods`), sums (a+b), or `all`
    #[arg(long, value_delimiter = ',', default_value = "all", value_name = "ID,…")]
    pub methods: Vec<String>,
    /// Method parameters, such as '{"outlier-head": {"hidden": 128}}'
    #[arg(long, default_value = "{}", value_name = "JSON", value_parser = params)]
    pub params: MethodParams,
    /// Temperature of odin [default: tuned on a quarter of the images]
    #[arg(long, value_name = "T", value_parser = temperature)]
    pub temperature: Option<f64>,
    /// Smallest components that count (docs/reference/pixels.md)
    #[arg(long, value_parser = word_of::<ComponentSizes>(), default_value = "scaled")]
    pub component_sizes: ComponentSizes,
    /// Bootstrap replicates per interval
    #[arg(long, default_value_t = 1000, value_name = "N", value_parser = clap::value_parser!(u32).range(100..=100_000))]
    pub replicates: u32,
    /// Output folder
    #[arg(long, value_name = "DIR", default_value = "runs/pixels")]
    pub out: PathBuf,
    /// How data sets are read.
    #[command(flatten)]
    pub reading: Reading,
    /// The network.
    #[command(flatten)]
    pub network: NetworkSource,
    /// What methods are fitted on.
    #[command(flatten)]
    pub nominal: NominalSource,
    /// Images with pasted things, on which outlier-head is fitted.
    #[command(flatten)]
    pub outliers: OutlierSource,
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
    let subjects = request.subjects(seed, context)?;
    let network = Some(&request.network).filter(|network| !network.is_none());
    let nominal = network.map(|network| request.nominal.open(&request.reading, network, context));
    let nominal = nominal.transpose()?.flatten();
    let outliers =
        network.map(|network| request.outliers.open(&request.reading, network, seed)).transpose()?.flatten();
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
    let same = Request { out: PathBuf::new(), ..request.clone() };
    let made = Provenance::new(&context.command, context.seed, &serde_json::to_vec(&same)?);
    let report = Report { made, evaluations, page };
    report::write(&request.out, &report)?;
    Ok(report)
}

impl Request {
    /// What is judged: a data set each, or all of them as one.
    fn subjects(&self, seed: Seed, context: &Context) -> Result<Vec<Subject>> {
        let n = self.data.len();
        let maps = self.scores.len();
        ensure!(maps == 0 || maps == n, "expected one --scores for each --data ({n}), found {maps}");
        let sets = self.reading.open_labelled(&self.data, context)?;
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
        let set = match network.class_names(&set)? {
            Some(names) => set.with_classes(names),
            None => set,
        };
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
