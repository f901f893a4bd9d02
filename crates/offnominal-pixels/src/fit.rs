//! From the names of methods to scorers: fitted on nominal images or on such with pasted things, ODIN's temperature
//! chosen on held-out ones.

use crate::data_set::{DataSet, Labels, Sample};
use crate::kept::Kept;
use crate::network::Network;
use crate::output::NetworkOutput;
use crate::scorer::{FittedMethod, Scorer, Term, check};
use anyhow::{Context as _, Result, bail, ensure};
use offnominal_core::Seed;
use offnominal_detectors::pixel::{Fitting, METHODS, Needs, Odin, PixelScorer, TEMPERATURES, methods};
use offnominal_engine::context::Context;
use offnominal_engine::parallel;
use offnominal_stats::pixel::{Area, Histogram, Truth};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Share of the images on which ODIN's temperature is chosen, as in the paper.
const HELD_OUT: f64 = 0.25;

/// The methods that a list names; `all` stands for those that can be had, beside which sums may stand.
///
/// # Errors
/// If a name is not one of a method.
pub fn names(list: &[String], can: Needs) -> Result<Vec<String>> {
    let named: Vec<&String> = list.iter().filter(|id| *id != "all").collect();
    named.iter().flat_map(|id| id.split('+')).try_for_each(|id| methods().find(id).map(drop))?;
    if named.len() == list.len() {
        return Ok(list.to_vec());
    }
    let has = |needs: Needs| {
        (can.passes || !needs.passes)
            && (can.features || !needs.features)
            && (can.nominal || !needs.nominal)
            && (can.outliers || !needs.outliers)
            && (can.confidence || !needs.confidence)
    };
    let mut names = Vec::new();
    for entry in METHODS {
        if has((entry.build)(&json!({}))?.needs()) {
            names.push(entry.id.to_string());
        }
    }
    names.extend(named.into_iter().filter(|id| id.contains('+')).cloned());
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
    /// Shape of the features of the first image.
    like: Option<[usize; 3]>,
    fitting: Box<dyn Fitting>,
}

/// Images on which methods are fitted, and the network that says something of them.
pub type Images<'a> = Option<(&'a DataSet, &'a Network)>;

/// What methods are fitted on.
#[derive(Clone, Copy, Default)]
pub struct FittingImages<'a> {
    /// Images in which everything is known.
    pub nominal: Images<'a>,
    /// Images into which unknown things were pasted.
    pub outliers: Images<'a>,
}

/// Parameters of methods by id; a method that is not named has its defaults.
pub type MethodParams = BTreeMap<String, Value>;

/// That parameters are for methods which are used.
///
/// # Errors
/// If a method has parameters and is not among `methods`.
pub fn check_params(params: &MethodParams, methods: &[String]) -> Result<()> {
    let is_used = |id: &str| methods.iter().any(|method| method.split('+').any(|part| part == id));
    match params.keys().find(|id| !is_used(id)) {
        Some(id) => bail!("--params names {id:?}, expected one of the methods: {}", methods.join(", ")),
        None => Ok(()),
    }
}

/// Images on which the scores of a sum are standardised at most.
const STANDARD_IMAGES: usize = 40;

/// Fits methods, each once, whatever it is to score afterwards.
pub struct Fitter<'a> {
    images: FittingImages<'a>,
    params: &'a MethodParams,
    context: &'a Context,
    fitted: Vec<Arc<FittedMethod>>,
}

impl<'a> Fitter<'a> {
    /// With these images and parameters.
    pub fn new(images: FittingImages<'a>, params: &'a MethodParams, context: &'a Context) -> Fitter<'a> {
        Fitter { images, params, context, fitted: Vec::new() }
    }

    /// On what it fits.
    pub fn images(&self) -> FittingImages<'a> {
        self.images
    }

    /// Makes the scorers of methods; `a+b` is the sum of two.
    ///
    /// # Errors
    /// If a method needs what is not there.
    pub fn scorers(&mut self, ids: &[String], odin: Chosen) -> Result<Vec<Scorer>> {
        self.fit(ids, odin.0)?;
        let find = |id: &str| Arc::clone(self.fitted.iter().find(|m| m.id == id).expect("it was fitted"));
        let scorer = |id: &String| match id.split_once('+') {
            None => Ok(Scorer::of_method(find(id), odin.1)),
            Some(_) => {
                let terms = standardised(id.split('+').map(find).collect(), self.images);
                Ok(Scorer::of_terms(terms.with_context(|| id.clone())?, odin.1))
            }
        };
        ids.iter().map(scorer).collect()
    }

    /// Fits what is not fitted yet; ODIN needs no images, and has another temperature each time.
    fn fit(&mut self, ids: &[String], temperature: f64) -> Result<()> {
        self.fitted.retain(|method| method.id != "odin");
        let mut parts: Vec<&str> = ids.iter().flat_map(|id| id.split('+')).collect();
        parts.sort_unstable();
        parts.dedup();
        parts.retain(|id| !self.fitted.iter().any(|method| method.id == *id));
        let defaults =
            |id: &str| if id == "odin" { json!({ "temperature": temperature }) } else { json!({}) };
        let params = |id: &str| self.params.get(id).cloned().unwrap_or_else(|| defaults(id));
        let open = parts.iter().map(|id| begin(id, &params(id), self.images));
        let mut open: Vec<Open> = open.collect::<Result<_>>()?;
        see(&mut open, false, self.images.nominal, self.context)?;
        see(&mut open, true, self.images.outliers, self.context)?;
        for method in open {
            self.fitted.push(method.finish()?);
        }
        Ok(())
    }
}

fn begin(id: &str, params: &Value, images: FittingImages<'_>) -> Result<Open> {
    let method = methods().build(id, params)?;
    let needs = method.needs();
    let FittingImages { nominal, outliers } = images;
    ensure!(
        !needs.nominal || nominal.is_some(),
        "{id} is fitted on nominal images: name them with --nominal"
    );
    ensure!(
        !needs.outliers || outliers.is_some(),
        "{id} is fitted on images with pasted things: make them with `pixels paste` and name them with --outliers"
    );
    Ok(Open { id: id.into(), needs, like: None, fitting: method.begin() })
}

/// Shows images to the methods that are fitted on them.
fn see(open: &mut [Open], outliers: bool, images: Images<'_>, context: &Context) -> Result<()> {
    let mut open: Vec<&mut Open> = open.iter_mut().filter(|o| o.needs.outliers == outliers).collect();
    let rounds = open.iter().map(|o| o.fitting.rounds()).max().unwrap_or(0);
    let Some((set, network)) = images.filter(|_| rounds > 0) else { return Ok(()) };
    let (jobs, mut kept) = (context.jobs, Kept::default());
    for round in 0..rounds {
        for (sample, said) in set.samples.iter().zip(kept.iter()) {
            show(&mut open, round, sample, said)?;
        }
        let rest = &set.samples[kept.len()..];
        let bar = context.task(rest.len(), "fitting");
        for samples in rest.chunks(4 * jobs) {
            let predict = |i: usize| {
                let (labels, output) = network.predict(set, &samples[i])?;
                Ok((labels.named(&output), output))
            };
            for (sample, said) in samples.iter().zip(parallel::map(jobs, samples.len(), &bar, predict)?) {
                show(&mut open, round, sample, &said)?;
                let bytes = said.0.ids.len() + said.1.bytes();
                kept.push(said, bytes);
            }
        }
    }
    Ok(())
}

/// Shows an image, and what the network says of it, to the methods that have not finished their rounds.
fn show(
    open: &mut [&mut Open],
    round: usize,
    sample: &Sample,
    (labels, output): &(Labels, NetworkOutput),
) -> Result<()> {
    for method in open.iter_mut().filter(|o| round < o.fitting.rounds()) {
        let place = || format!("{}, image {} on which it is fitted", method.id, sample.name);
        check(method.needs, output, method.like).with_context(place)?;
        method.like = output.view().features.map(|features| features.shape());
        method.fitting.see(round, &output.view(), &labels.ids);
    }
    Ok(())
}

impl Open {
    fn finish(self) -> Result<Arc<FittedMethod>> {
        let scorer = self.fitting.finish().with_context(|| self.id.clone())?;
        let Open { id, needs, like, .. } = self;
        Ok(Arc::new(FittedMethod { id, needs, like, scorer }))
    }
}

/// Mean and deviation of each method over the known pixels of some of the images on which methods are fitted.
fn standardised(methods: Vec<Arc<FittedMethod>>, images: FittingImages<'_>) -> Result<Vec<Term>> {
    let (set, network) = images.nominal.or(images.outliers).context("expected --nominal, found none")?;
    let mut sums = vec![[0.0; 3]; methods.len()];
    for sample in set.samples.iter().take(STANDARD_IMAGES) {
        let (labels, output) = network.predict(set, sample)?;
        for (method, sums) in methods.iter().zip(&mut sums) {
            let scores = method.scores(&output)?;
            let known = scores.iter().zip(&labels.truth).filter(|(_, truth)| **truth == Truth::Known);
            for s in known.map(|(&s, _)| f64::from(s)) {
                sums.iter_mut().zip([1.0, s, s * s]).for_each(|(sum, x)| *sum += x);
            }
        }
    }
    let term = |(method, [n, sum, squares]): (Arc<FittedMethod>, [f64; 3])| {
        ensure!(n > 0.0, "expected known pixels on which scores are standardised, found none");
        let mean = sum / n;
        Ok(Term { method, mean, deviation: (squares / n - mean * mean).max(1e-24).sqrt() })
    };
    methods.into_iter().zip(sums).map(term).collect()
}
