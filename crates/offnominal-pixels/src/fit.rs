//! From the names of methods to scorers: fitted on nominal images, ODIN's temperature chosen on held-out ones.

use crate::data_set::{DataSet, Labels, Sample};
use crate::maps::ScoreMaps;
use crate::network::Network;
use crate::output::NetworkOutput;
use anyhow::{Context as _, Result, ensure};
use offnominal_core::Seed;
use offnominal_detectors::pixel::{
    Fitting, METHODS, Needs, Odin, PixelError, PixelScorer, TEMPERATURES, methods,
};
use offnominal_engine::context::Context;
use offnominal_stats::pixel::{Area, Histogram};
use serde_json::json;

/// Share of the images on which ODIN's temperature is chosen, as in the paper.
const HELD_OUT: f64 = 0.25;

/// What scores the pixels of images.
pub struct Scorer {
    /// The name of the method.
    pub id: String,
    /// Whether it saw unknown pixels before it was judged.
    pub has_seen_unknown: bool,
    source: Source,
}

/// Where scores come from.
enum Source {
    /// The output of a network, and a method that was fitted.
    Method(Fitted),
    /// Files.
    Maps(ScoreMaps),
}

/// A method that can score.
struct Fitted {
    needs: Needs,
    /// `[channels, rows, columns]` of the features on which it was fitted, if it was fitted on some.
    like: Option<[usize; 3]>,
    scorer: Box<dyn PixelScorer>,
}

impl Scorer {
    /// One that reads files.
    pub fn of_maps(maps: ScoreMaps) -> Scorer {
        Scorer { id: maps.id.clone(), has_seen_unknown: false, source: Source::Maps(maps) }
    }

    /// Whether it can score other images than those of the data set.
    pub fn reads_network(&self) -> bool {
        matches!(self.source, Source::Method(_))
    }

    /// The score of each pixel of an image, higher where it is more likely to be unknown.
    ///
    /// # Errors
    /// If the output lacks what is needed or is not like what the method was fitted on, or there is no score map.
    pub fn scores(&self, sample: &Sample, labels: &Labels, output: &NetworkOutput) -> Result<Vec<f32>> {
        match &self.source {
            Source::Maps(maps) => maps.read(sample, labels),
            Source::Method(method) => {
                check(method.needs, output, method.like).with_context(|| self.id.clone())?;
                let mut scores = vec![0.0; output.view().pixels()];
                method.scorer.score(&output.view(), &mut scores);
                Ok(scores)
            }
        }
    }
}

/// Whether an output has what is needed, with features like those of the nominal images.
fn check(needs: Needs, output: &NetworkOutput, like: Option<[usize; 3]>) -> Result<(), PixelError> {
    needs.check(&output.view())?;
    like.map_or(Ok(()), |like| needs.check_like(&output.view(), like))
}

/// The methods that a list names; `all` stands for those that can be had.
///
/// # Errors
/// If a name is not one of a method.
pub fn names(list: &[String], can: Needs) -> Result<Vec<String>> {
    if list.len() != 1 || list[0] != "all" {
        list.iter().try_for_each(|id| methods().find(id).map(drop))?;
        return Ok(list.to_vec());
    }
    let has = |needs: Needs| {
        (can.passes || !needs.passes)
            && (can.features || !needs.features)
            && (can.nominal || !needs.nominal)
            && (can.confidence || !needs.confidence)
    };
    let mut names = Vec::new();
    for entry in METHODS {
        if has((entry.build)(&json!({}))?.needs()) {
            names.push(entry.id.to_string());
        }
    }
    Ok(names)
}

/// The images on which a temperature is chosen, and the others; drawn by the seed.
pub fn divide(samples: &[Sample], seed: Seed) -> (Vec<Sample>, Vec<Sample>) {
    let mut order: Vec<usize> = (0..samples.len()).collect();
    seed.child("held-out").rng().shuffle(&mut order);
    let n = (HELD_OUT * samples.len() as f64).round() as usize;
    let take = |range: &[usize]| {
        let mut places = range.to_vec();
        places.sort_unstable();
        places.into_iter().map(|i| samples[i].clone()).collect()
    };
    (take(&order[..n]), take(&order[n..]))
}

/// The temperature with the largest AUROC on held-out images.
///
/// # Errors
/// If they have no unknown or no known pixels.
pub fn temperature(network: &Network, set: &DataSet, held_out: &[Sample]) -> Result<f64> {
    let mut counts = vec![Histogram::default(); TEMPERATURES.len()];
    let mut scores = Vec::new();
    for sample in held_out {
        let (labels, output) = network.predict(set, sample)?;
        scores.resize(labels.ids.len(), 0.0);
        for (&temperature, counts) in TEMPERATURES.iter().zip(&mut counts) {
            Odin { temperature }.score(&output.view(), &mut scores);
            counts.add(&scores, &labels.truth).with_context(|| sample.name.clone())?;
        }
    }
    let mut best = (f64::NEG_INFINITY, 1.0);
    for (counts, temperature) in counts.iter().zip(TEMPERATURES) {
        let auroc =
            counts.curve().metrics(Area::Steps).context("the images held out for ODIN's temperature")?.auroc;
        if auroc > best.0 {
            best = (auroc, temperature);
        }
    }
    Ok(best.1)
}

/// ODIN's temperature, and whether it was chosen on unknown pixels.
pub type Chosen = (f64, bool);

/// A method that is being fitted.
struct Open {
    id: String,
    needs: Needs,
    /// Shape of the features of the first nominal image.
    like: Option<[usize; 3]>,
    fitting: Box<dyn Fitting>,
}

/// Makes the scorers of methods. `nominal` is what they are fitted on: images, and the network.
///
/// # Errors
/// If a method needs what is not there.
pub fn fit(
    ids: &[String],
    odin: Chosen,
    nominal: Option<(&DataSet, &Network)>,
    context: &Context,
) -> Result<Vec<Scorer>> {
    let mut open: Vec<Open> =
        ids.iter().map(|id| begin(id, odin.0, nominal.is_some())).collect::<Result<_>>()?;
    let rounds = open.iter().map(|o| o.fitting.rounds()).max().unwrap_or(0);
    if let Some((set, network)) = nominal.filter(|_| rounds > 0) {
        let bar = context.task(rounds * set.samples.len(), "fitting");
        for (round, sample) in (0..rounds).flat_map(|r| set.samples.iter().map(move |s| (r, s))) {
            let (labels, output) = network.predict(set, sample)?;
            for method in open.iter_mut().filter(|o| round < o.fitting.rounds()) {
                let place = || format!("{}, nominal image {}", method.id, sample.name);
                check(method.needs, &output, method.like).with_context(place)?;
                method.like = output.view().features.map(|features| features.shape());
                method.fitting.see(round, &output.view(), &labels.ids);
            }
            bar.inc(1);
        }
    }
    open.into_iter().map(|method| method.finish(odin.1)).collect()
}

fn begin(id: &str, temperature: f64, has_nominal: bool) -> Result<Open> {
    let params = if id == "odin" { json!({ "temperature": temperature }) } else { json!({}) };
    let method = methods().build(id, &params)?;
    let needs = method.needs();
    ensure!(!needs.nominal || has_nominal, "{id} is fitted on nominal images: name them with --nominal");
    Ok(Open { id: id.into(), needs, like: None, fitting: method.begin() })
}

impl Open {
    fn finish(self, chosen_on_unknown: bool) -> Result<Scorer> {
        let scorer = self.fitting.finish().with_context(|| self.id.clone())?;
        let has_seen_unknown = self.id == "odin" && chosen_on_unknown;
        let Open { id, needs, like, .. } = self;
        Ok(Scorer { id, has_seen_unknown, source: Source::Method(Fitted { needs, like, scorer }) })
    }
}
