//! One data set: which images are judged, which methods are finished, and what is measured of the others.

use super::ComponentSizes;
use super::subject::Subject;
use super::walk::{ClassMeans, First, Second, Walk};
use crate::data_set::Sample;
use crate::failures::{CAUSES, Failures};
use crate::fit::{self, Fitter, FittingImages};
use crate::gallery::Gallery;
use crate::inputs::{digest, of_files};
use crate::panels;
use crate::results::{Evaluation, MethodComponents, MethodResult, threshold_disagreement};
use crate::scorer::{Image, Scorer};
use anyhow::{Context as _, Result, ensure};
use offnominal_core::Seed;
use offnominal_core::estimate::Estimate;
use offnominal_engine::context::Context;
use offnominal_files::store::{State, Store, address};
use offnominal_stats::Bootstrap;
use offnominal_stats::pixel::{Judged, components};
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::cell::RefCell;

/// Name of the file of a cell.
const CELL: &str = "method.json";

/// What is evaluated on a data set, and how.
pub(crate) struct EvaluationPlan<'a> {
    pub subject: &'a Subject,
    /// What fits methods.
    pub fitter: &'a RefCell<Fitter<'a>>,
    /// Methods that read the output of the network.
    pub methods: &'a [String],
    /// Parameters of methods.
    pub params: &'a fit::MethodParams,
    /// ODIN's temperature; chosen on held-out images if none.
    pub temperature: Option<f64>,
    pub bootstrap: Bootstrap,
    /// Root of the division into held-out and judged images.
    pub seed: Seed,
    pub store: &'a Store,
    pub context: &'a Context,
    /// Which components count.
    pub sizes: ComponentSizes,
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
    gallery: Gallery,
}

impl Cell {
    /// The result with its gallery, which is no part of the documented JSON.
    fn shown(self) -> MethodResult {
        MethodResult { gallery: self.gallery, ..self.result }
    }

    fn auprc(&self) -> f64 {
        self.result.main().map_or(0.0, |mode| mode.auprc.value)
    }

    /// The temperature of the scorers of this method, and whether it was chosen on unknown pixels.
    fn odin(&self) -> fit::Chosen {
        (self.temperature.unwrap_or(1.0), self.result.has_seen_unknown)
    }
}

impl EvaluationPlan<'_> {
    pub fn run(&self) -> Result<Evaluation> {
        let Division { held_out, judged } = &self.divide()?;
        let (names, ids) = (self.names(), self.ids(!held_out.is_empty())?);
        let mut cells: Vec<Option<Cell>> = ids.iter().map(|id| self.stored(id)).collect();
        let missing: Vec<usize> = (0..cells.len()).filter(|&i| cells[i].is_none()).collect();
        let mut scorers = Vec::new();
        if !missing.is_empty() {
            let odin = self.odin(&missing, held_out)?;
            scorers = self.scorers(&missing, odin)?;
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
                let at = names.iter().position(|name| *name == best.result.method);
                self.scorers(&[at.context("no method")?], best.odin())?.remove(0)
            }
        };
        let panels = panels::make(&self.subject.network, &self.subject.set, &scorer, &failures, judged)?;
        let odin_temperature = cells.iter().find_map(|cell| cell.temperature);
        let Cell { pixels, images_with_both, mean_iou, .. } = cells[0].clone();
        let methods: Vec<MethodResult> = cells.into_iter().map(Cell::shown).collect();
        Ok(Evaluation {
            data: self.subject.name.clone(),
            layouts: self.subject.set.layouts(),
            images: judged.len(),
            left_out: self.subject.set.left_out.clone(),
            held_out: held_out.len(),
            odin_temperature,
            unknown_pixels: Some(pixels.0),
            known_pixels: Some(pixels.1),
            images_with_both,
            mean_iou,
            classes: self.subject.set.classes().to_vec(),
            threshold_disagreement: threshold_disagreement(&methods),
            methods,
            failures,
            panels,
        })
    }

    /// The names of all methods: first those of the network, then those of score maps.
    fn names(&self) -> Vec<&str> {
        let methods = self.methods.iter().map(String::as_str);
        methods.chain(self.subject.maps.iter().map(|maps| maps.id.as_str())).collect()
    }

    /// The scorers of the methods with these numbers.
    fn scorers(&self, numbers: &[usize], odin: fit::Chosen) -> Result<Vec<Scorer>> {
        let n = self.methods.len();
        let methods: Vec<String> = numbers.iter().filter_map(|&i| self.methods.get(i).cloned()).collect();
        let mut scorers = self.fitter.borrow_mut().scorers(&methods, odin)?;
        let maps = numbers.iter().filter(|&&i| i >= n).map(|&i| self.subject.maps[i - n].clone());
        scorers.extend(maps.map(Scorer::of_maps));
        Ok(scorers)
    }

    /// The addresses of the cells: everything that they depend on.
    fn ids(&self, holds_out: bool) -> Result<Vec<String>> {
        let Subject { set, network, maps, .. } = self.subject;
        let data = digest(set, network)?;
        let of_images =
            |images: fit::Images<'_>| images.map(|(set, network)| digest(set, network)).transpose();
        let FittingImages { nominal, outliers } = self.fitter.borrow().images();
        let fitted_on = [of_images(nominal)?, of_images(outliers)?];
        let shared = json!({ "what": "pixel method", "engine": env!("CARGO_PKG_VERSION"), "data": data,
            "holds_out": holds_out, "replicates": self.bootstrap.replicates, "seed": self.seed.0,
            "sizes": self.sizes });
        let of_method = self.methods.iter().map(|method| -> Result<_> {
            let temperature = self.temperature.filter(|_| method == "odin");
            let params: Vec<_> = method.split('+').filter_map(|id| self.params.get_key_value(id)).collect();
            Ok(json!([shared, method, params, fitted_on, temperature]))
        });
        let of_maps = maps.iter().map(|maps| -> Result<_> {
            let files = of_files(set.samples.iter().filter_map(|sample| maps.file(sample)))?;
            Ok(json!([shared, maps.id, "maps", files]))
        });
        of_method.chain(of_maps).map(|what| Ok(address(&serde_json::to_vec(&what?)?))).collect()
    }

    /// A finished cell; one that cannot be read is measured again.
    fn stored(&self, id: &str) -> Option<Cell> {
        let is_done = self.store.state(id) == State::Done;
        is_done.then(|| serde_json::from_slice(&self.store.read(id, CELL).ok()?).ok()).flatten()
    }

    fn divide(&self) -> Result<Division> {
        if self.temperature.is_some() || !self.methods.iter().any(|id| id == "odin") {
            return Ok(Division { held_out: Vec::new(), judged: self.subject.set.samples.clone() });
        }
        let (held_out, judged) = fit::divide(&self.subject.set.samples, self.seed);
        let n = self.subject.set.samples.len();
        let both = !held_out.is_empty() && !judged.is_empty();
        ensure!(both, "odin: expected at least 2 images, found {n}");
        Ok(Division { held_out, judged })
    }

    /// ODIN's temperature, if it is needed, and whether it was chosen on unknown pixels.
    fn odin(&self, numbers: &[usize], held_out: &[Sample]) -> Result<fit::Chosen> {
        let is_odin = |&i: &usize| self.methods.get(i).is_some_and(|id| id == "odin");
        match self.temperature {
            Some(temperature) => Ok((temperature, false)),
            None if !numbers.iter().any(is_odin) => Ok((1.0, false)),
            None => Ok((fit::temperature(&self.subject.network, &self.subject.set, held_out)?, true)),
        }
    }

    /// Measures methods together.
    fn measure(
        &self,
        scorers: &[Scorer],
        (temperature, _): fit::Chosen,
        judged: &[Sample],
    ) -> Result<Vec<Cell>> {
        let set = &self.subject.set;
        let mut first = First::new(scorers.len(), set.n_classes(), self.sizes);
        let mut walk = Walk::new(self.subject, judged, scorers, self.context);
        walk.each(|scored| first.add(scored))?;
        let nominal = self.nominal_means(scorers)?;
        let First { tallies, overlaps, means, confusion, .. } = first;
        let mean_iou = confusion.mean(&self.bootstrap).ok();
        let tallies = tallies.into_iter().zip(scorers);
        let results: Vec<Judged> = tallies
            .map(|(tally, s)| tally.judge(&self.bootstrap).with_context(|| s.id.clone()))
            .collect::<Result<_>>()?;
        let mut second = Second::new(set, judged, scorers, &results, self.sizes);
        walk.each(|scored| second.add(scored))?;
        let mut cells = Vec::new();
        for (i, (scorer, judged)) in scorers.iter().zip(results).enumerate() {
            let failures = second.failures[i].clone();
            let of_components = MethodComponents {
                metrics: components::summarise(&second.components[i], &self.bootstrap).ok(),
                aupro: overlaps[i].area(&self.bootstrap).ok(),
            };
            let means = [means[i].means(), nominal[i].means()];
            cells.push(Cell {
                pixels: judged.counts,
                images_with_both: judged.images.1,
                temperature: (scorer.id == "odin").then_some(temperature),
                mean_iou: mean_iou.clone(),
                images: failures.images.clone(),
                failures,
                gallery: std::mem::take(&mut second.galleries[i]),
                result: MethodResult::new(scorer, judged, of_components, means),
            });
        }
        Ok(cells)
    }

    /// Mean scores of the classes on at most forty nominal images, of methods that can score these.
    fn nominal_means(&self, scorers: &[Scorer]) -> Result<Vec<ClassMeans>> {
        let mut means = ClassMeans::of(scorers.len(), self.subject.set.n_classes());
        let Some((set, network)) = self.fitter.borrow().images().nominal else { return Ok(means) };
        for sample in set.samples.iter().take(40) {
            let (labels, output) = network.predict(set, sample)?;
            let image = Image::new(sample, &labels, &output);
            for (scorer, means) in scorers.iter().zip(&mut means).filter(|(s, _)| s.reads_network()) {
                means.add(&scorer.scores(&image)?, &labels.ids);
            }
        }
        Ok(means)
    }
}
