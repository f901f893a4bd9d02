//! Judges methods on data sets: every pixel scored, pooled in four modes, components compared, mistakes sorted.
//!
//! A cell is one method on one data set; a finished one is stored and not measured again. The images are gone through
//! twice: first to find the thresholds, then to see what is wrong at them.

mod walk;

use crate::failures::{CAUSES, Failures};
use crate::fit::{self, Scorer};
use crate::inputs::{NetworkSource, NominalSource, Reading, digest};
use crate::layout::{DataSet, Sample};
use crate::network::Network;
use crate::results::{Evaluation, MethodResult, Report, threshold_disagreement};
use crate::{panels, report};
use anyhow::{Context as _, Result, ensure};
use offnominal_core::Seed;
use offnominal_core::estimate::Estimate;
use offnominal_core::limits::REPLICATES;
use offnominal_detectors::pixel::Needs;
use offnominal_engine::context::Context;
use offnominal_engine::request::{positive, within};
use offnominal_files::lock::Lock;
use offnominal_files::provenance::Provenance;
use offnominal_files::store::{State, Store, address};
use offnominal_stats::pixel::{Judged, components};
use offnominal_stats::{Bootstrap, Level};
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::path::{Path, PathBuf};
use walk::{ClassMeans, First, Second};

/// Name of the file of a cell.
const CELL: &str = "method.json";

/// What to evaluate; the seed is that of the context.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Request {
    /// Data sets, each judged by itself.
    pub data: Vec<PathBuf>,
    /// How they are read.
    pub reading: Reading,
    /// The network.
    pub network: NetworkSource,
    /// What methods are fitted on.
    pub nominal: NominalSource,
    /// Methods, or `all` for those that can be had.
    pub methods: Vec<String>,
    /// Temperature of odin; the best of ten on a quarter of the images, which are then not judged, if none.
    pub temperature: Option<f64>,
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
            reading: Reading::default(),
            network: NetworkSource::default(),
            nominal: NominalSource::default(),
            methods: vec!["all".into()],
            temperature: None,
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
    let networks = request.network.open(request.data.len(), seed)?;
    let nominal = request.nominal.open(&request.reading, &request.network, seed)?;
    let open = |root: &PathBuf| request.reading.open(root).with_context(|| root.display().to_string());
    let sets: Vec<DataSet> = request.data.iter().map(open).collect::<Result<_>>()?;
    let can = Needs { nominal: nominal.is_some(), ..networks[0].gives(&sets[0])? };
    let methods = fit::names(&request.methods, can)?;
    let _held = Lock::folder(&request.out)?;
    let store = Store::new(&request.out);
    let mut evaluations = Vec::new();
    for ((root, set), network) in request.data.iter().zip(&sets).zip(&networks) {
        let plan = EvaluationPlan {
            set,
            network,
            nominal: nominal.as_ref().map(|(set, network)| (set, network)),
            methods: &methods,
            temperature: request.temperature,
            bootstrap: Bootstrap::new(request.replicates as usize, Level::P95, seed),
            seed,
            store: &store,
            context,
        };
        evaluations.push(plan.run(name_of(root)).with_context(|| root.display().to_string())?);
    }
    store.sweep();
    let page = request.out.join("pixels.html");
    let same = Request { out: PathBuf::new(), command: String::new(), ..request.clone() };
    let made = Provenance::new(&request.command, context.seed, &serde_json::to_vec(&same)?);
    let report = Report { made, evaluations, page };
    report::write(&request.out, &report)?;
    Ok(report)
}

/// The last part of a path that is a name.
fn name_of(root: &Path) -> String {
    root.file_name().map_or_else(|| root.display().to_string(), |name| name.to_string_lossy().into_owned())
}

/// What is evaluated on a data set, and how.
pub(crate) struct EvaluationPlan<'a> {
    pub set: &'a DataSet,
    pub network: &'a Network,
    /// What methods are fitted on: images and network.
    nominal: Option<(&'a DataSet, &'a Network)>,
    methods: &'a [String],
    /// ODIN's temperature; chosen on held-out images if none.
    temperature: Option<f64>,
    bootstrap: Bootstrap,
    /// Root of the division into held-out and judged images.
    seed: Seed,
    store: &'a Store,
    context: &'a Context,
}

/// Images that are held out to choose ODIN's temperature, and those that are judged.
struct Division {
    held_out: Vec<Sample>,
    judged: Vec<Sample>,
}

/// A finished method on a data set, as it is stored.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Cell {
    result: MethodResult,
    /// Unknown and known pixels.
    pixels: (u64, u64),
    /// Images with both.
    images_with_both: usize,
    /// ODIN's temperature, for odin.
    temperature: Option<f64>,
    mean_iou: Option<Estimate>,
    failures: Failures,
    /// Wrong pixels of each image by cause.
    images: Vec<[u64; CAUSES.len()]>,
}

impl Cell {
    fn auprc(&self) -> f64 {
        self.result.main().map_or(0.0, |mode| mode.auprc.value)
    }

    /// The temperature of the scorers of this method, and whether it was chosen on unknown pixels.
    fn odin(&self) -> fit::Chosen {
        (self.temperature.unwrap_or(1.0), self.result.has_seen_unknown)
    }
}

impl EvaluationPlan<'_> {
    fn run(&self, data: String) -> Result<Evaluation> {
        let Division { held_out, judged } = &self.divide()?;
        let ids = self.ids(!held_out.is_empty())?;
        let mut cells: Vec<Option<Cell>> = ids.iter().map(|id| self.stored(id)).collect();
        let missing: Vec<usize> = (0..cells.len()).filter(|&i| cells[i].is_none()).collect();
        let mut scorers = Vec::new();
        if !missing.is_empty() {
            let methods: Vec<String> = missing.iter().map(|&i| self.methods[i].clone()).collect();
            let odin = self.odin(&methods, held_out)?;
            scorers = fit::fit(&methods, odin, self.nominal, self.context)?;
            for (&i, cell) in missing.iter().zip(self.measure(&scorers, odin, judged)?) {
                self.store.save(&ids[i], &[(CELL, serde_json::to_vec(&cell)?)])?;
                cells[i] = Some(cell);
            }
        }
        let cells: Vec<Cell> = cells.into_iter().flatten().collect();
        let best = cells.iter().max_by(|a, b| a.auprc().total_cmp(&b.auprc())).context("no method")?;
        let failures = Failures { images: best.images.clone(), ..best.failures.clone() };
        let scorer = match scorers.iter().position(|s| s.id == best.result.method) {
            Some(i) => scorers.swap_remove(i),
            None => {
                let ids = [best.result.method.clone()];
                fit::fit(&ids, best.odin(), self.nominal, self.context)?.remove(0)
            }
        };
        let panels = panels::make(self.network, self.set, &scorer, &failures, judged)?;
        let odin_temperature = cells.iter().find_map(|cell| cell.temperature);
        let Cell { pixels, images_with_both, mean_iou, .. } = cells[0].clone();
        let methods: Vec<MethodResult> = cells.into_iter().map(|cell| cell.result).collect();
        Ok(Evaluation {
            data,
            images: judged.len(),
            held_out: held_out.len(),
            odin_temperature,
            unknown_pixels: Some(pixels.0),
            known_pixels: Some(pixels.1),
            images_with_both,
            mean_iou,
            classes: self.set.meanings.map.classes.clone(),
            threshold_disagreement: threshold_disagreement(&methods),
            methods,
            failures,
            panels,
        })
    }

    /// The names of the cells: everything that they depend on.
    fn ids(&self, holds_out: bool) -> Result<Vec<String>> {
        let data = digest(self.set, self.network)?;
        let nominal = self.nominal.map(|(set, network)| digest(set, network)).transpose()?;
        let id = |method: &String| -> Result<String> {
            let temperature = self.temperature.filter(|_| method == "odin");
            let what = json!({ "what": "pixel method", "engine": env!("CARGO_PKG_VERSION"), "data": data,
                "nominal": nominal, "method": method, "holds_out": holds_out, "temperature": temperature,
                "replicates": self.bootstrap.replicates, "seed": self.seed.0 });
            Ok(address(&serde_json::to_vec(&what)?))
        };
        self.methods.iter().map(id).collect()
    }

    /// A finished cell; one that cannot be read is measured again.
    fn stored(&self, id: &str) -> Option<Cell> {
        let is_done = self.store.state(id) == State::Done;
        is_done.then(|| serde_json::from_slice(&self.store.read(id, CELL).ok()?).ok()).flatten()
    }

    fn divide(&self) -> Result<Division> {
        if self.temperature.is_some() || !self.methods.iter().any(|id| id == "odin") {
            return Ok(Division { held_out: Vec::new(), judged: self.set.samples.clone() });
        }
        let (held_out, judged) = fit::divide(&self.set.samples, self.seed);
        let n = self.set.samples.len();
        let both = !held_out.is_empty() && !judged.is_empty();
        ensure!(both, "odin: expected at least 2 images, found {n}");
        Ok(Division { held_out, judged })
    }

    /// ODIN's temperature, if it is needed, and whether it was chosen on unknown pixels.
    fn odin(&self, methods: &[String], held_out: &[Sample]) -> Result<fit::Chosen> {
        match self.temperature {
            Some(temperature) => Ok((temperature, false)),
            None if !methods.iter().any(|id| id == "odin") => Ok((1.0, false)),
            None => Ok((fit::temperature(self.network, self.set, held_out)?, true)),
        }
    }

    /// Measures methods together.
    fn measure(
        &self,
        scorers: &[Scorer],
        (temperature, _): fit::Chosen,
        judged: &[Sample],
    ) -> Result<Vec<Cell>> {
        let mut first = First::new(scorers.len(), self.set.n_classes());
        self.each(judged, scorers, |scored| first.add(&scored))?;
        let nominal = self.nominal_means(scorers)?;
        let (tallies, mean_iou) = (first.tallies, first.confusion.mean(&self.bootstrap).ok());
        let tallies = tallies.into_iter().zip(scorers);
        let results: Vec<Judged> = tallies
            .map(|(tally, s)| tally.judge(&self.bootstrap).with_context(|| s.id.clone()))
            .collect::<Result<_>>()?;
        let mut second = Second::new(self.set, judged, scorers, &results);
        self.each(judged, scorers, |scored| second.add(&scored))?;
        let found = second.components.into_iter().zip(second.failures);
        let cells = scorers.iter().zip(results).zip(found).enumerate();
        let cell =
            |(i, ((scorer, judged), (components, failures))): (usize, ((&Scorer, Judged), (_, Failures)))| {
                let components: Vec<_> = components;
                let means = [first.means[i].means(), nominal[i].means()];
                let components = components::summarise(&components, &self.bootstrap).ok();
                Cell {
                    pixels: judged.counts,
                    images_with_both: judged.images.1,
                    temperature: (scorer.id == "odin").then_some(temperature),
                    mean_iou: mean_iou.clone(),
                    images: failures.images.clone(),
                    failures,
                    result: MethodResult::new(
                        (scorer.id.clone(), scorer.has_seen_unknown),
                        judged,
                        components,
                        means,
                    ),
                }
            };
        Ok(cells.map(cell).collect())
    }

    /// Mean scores of the classes on at most forty nominal images.
    fn nominal_means(&self, scorers: &[Scorer]) -> Result<Vec<ClassMeans>> {
        let mut means = ClassMeans::of(scorers.len(), self.set.n_classes());
        let Some((set, network)) = self.nominal else { return Ok(means) };
        for sample in set.samples.iter().take(40) {
            let (labels, output) = network.predict(set, sample)?;
            for (scorer, means) in scorers.iter().zip(&mut means) {
                means.add(&scorer.scores(&output)?, &labels.ids);
            }
        }
        Ok(means)
    }
}
