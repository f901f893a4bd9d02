//! Judges methods on a data set: every pixel scored, pooled in four modes, components compared, mistakes sorted.
//!
//! The pictures are gone through twice: first to find the thresholds, then to see what is wrong at them.

use crate::failures::{Failures, Surroundings};
use crate::fit::{self, Scorer};
use crate::layout::{DataSet, Labels, Sample};
use crate::network::{Network, Said};
use crate::panels::{self, Panel};
use anyhow::{Context as _, Result, ensure};
use offnominal_core::Seed;
use offnominal_core::estimate::Estimate;
use offnominal_engine::context::Context;
use offnominal_engine::parallel;
use offnominal_stats::Bootstrap;
use offnominal_stats::pixel::components::{self, ComponentMetrics, ImageComponents, Smallest};
use offnominal_stats::pixel::{Confusion, Judged, PixelTally};

/// What is evaluated, and how.
pub struct Plan<'a> {
    /// Name of the data set in results.
    pub name: String,
    /// The pictures.
    pub set: &'a DataSet,
    /// The network.
    pub network: &'a Network,
    /// What methods are fitted on: pictures and network.
    pub nominal: Option<(&'a DataSet, &'a Network)>,
    /// The methods.
    pub methods: Vec<String>,
    /// ODIN's temperature; chosen on held-out pictures if none.
    pub temperature: Option<f64>,
    /// How intervals are made.
    pub bootstrap: Bootstrap,
    /// Root of the division into held-out and judged pictures.
    pub seed: Seed,
    /// Threads and progress.
    pub context: &'a Context,
}

/// What came out of a data set.
pub struct Evaluation {
    /// Name of the data set.
    pub name: String,
    /// Pictures that were judged, and that were held out for ODIN.
    pub images: (usize, usize),
    /// ODIN's temperature, if it took part.
    pub temperature: Option<f64>,
    /// How well the network segments the known pixels.
    pub mean_iou: Option<Estimate>,
    /// Names of the classes.
    pub classes: Vec<String>,
    /// One entry for each method.
    pub methods: Vec<MethodResult>,
    /// What went wrong with the best method.
    pub failures: Failures,
    /// Pictures to look at.
    pub panels: Vec<Panel>,
}

/// What came out of a method.
pub struct MethodResult {
    /// Its name.
    pub id: String,
    /// Whether it saw unknown pixels before.
    pub has_seen_unknown: bool,
    /// Metrics of pixels.
    pub judged: Judged,
    /// Metrics of components at the threshold with the best F1; none without components.
    pub components: Option<ComponentMetrics>,
    /// Mean score of the pixels of each class, of the unknown ones last; here and on nominal pictures.
    pub class_means: [Vec<Option<f64>>; 2],
}

/// Sums and counts of scores for each class, the unknown ones last.
#[derive(Clone)]
struct ClassMeans(Vec<[f64; 2]>);

impl ClassMeans {
    fn add(&mut self, scores: &[f32], ids: &[u8]) {
        let last = self.0.len() - 1;
        for (&score, &id) in scores.iter().zip(ids) {
            let at = if id == offnominal_scenes::UNKNOWN { last } else { usize::from(id) };
            if at < last || id == offnominal_scenes::UNKNOWN {
                self.0[at][0] += f64::from(score);
                self.0[at][1] += 1.0;
            }
        }
    }

    fn means(&self) -> Vec<Option<f64>> {
        self.0.iter().map(|&[sum, n]| (n > 0.0).then(|| sum / n)).collect()
    }
}

/// One picture as every method sees it.
struct Scored {
    labels: Labels,
    prediction: Vec<u8>,
    scores: Vec<Vec<f32>>,
}

impl Plan<'_> {
    /// Does it all.
    ///
    /// # Errors
    /// If a file is missing or wrong, or there are no unknown or no known pixels.
    pub fn run(&self) -> Result<Evaluation> {
        let (held_out, judged, temperature, chosen) = self.odin()?;
        let scorers = fit::fit(&self.methods, (temperature, chosen), self.nominal, self.context)?;
        let mut first = First::new(scorers.len(), self.set.n_classes());
        self.each(&judged, &scorers, |scored| first.add(&scored))?;
        let nominal = self.nominal_means(&scorers)?;
        let (tallies, mean_iou) = (first.tallies, first.confusion.mean(&self.bootstrap).ok());
        let results: Vec<Judged> = tallies
            .into_iter()
            .zip(&scorers)
            .map(|(tally, s)| tally.judge(&self.bootstrap).with_context(|| s.id.clone()))
            .collect::<Result<_>>()?;
        let best = (0..results.len())
            .max_by(|&a, &b| auprc(&results[a]).total_cmp(&auprc(&results[b])))
            .unwrap_or(0);
        let mut second = Second::new(self, &judged, &results, best);
        self.each(&judged, &scorers, |scored| second.add(&scored))?;
        let (components, failures) = (second.components, second.failures);
        let panels = panels::make(self, &scorers[best], &failures, &judged)?;
        let methods =
            scorers.into_iter().zip(results).enumerate().map(|(i, (scorer, judged))| MethodResult {
                id: scorer.id,
                has_seen_unknown: scorer.has_seen_unknown,
                judged,
                components: components::summarise(&components[i], &self.bootstrap).ok(),
                class_means: [first.means[i].means(), nominal[i].means()],
            });
        let (methods, classes) = (methods.collect(), self.set.meanings.map.classes.clone());
        let temperature = self.methods.iter().any(|id| id == "odin").then_some(temperature);
        let (name, images) = (self.name.clone(), (judged.len(), held_out.len()));
        Ok(Evaluation { name, images, temperature, mean_iou, classes, methods, failures, panels })
    }

    /// Held-out pictures, those that are judged, ODIN's temperature, and whether it was chosen.
    fn odin(&self) -> Result<(Vec<Sample>, Vec<Sample>, f64, bool)> {
        let all = || self.set.samples.clone();
        match self.temperature {
            Some(temperature) => Ok((Vec::new(), all(), temperature, false)),
            None if !self.methods.iter().any(|id| id == "odin") => Ok((Vec::new(), all(), 1.0, false)),
            None => {
                let (held_out, judged) = fit::divide(&self.set.samples, self.seed);
                ensure!(
                    !held_out.is_empty() && !judged.is_empty(),
                    "odin: expected at least 2 pictures, found {}",
                    self.set.samples.len()
                );
                let temperature = fit::temperature(self.network, self.set, &held_out)?;
                Ok((held_out, judged, temperature, true))
            }
        }
    }

    /// Scores pictures on all threads and passes them on in order.
    fn each(
        &self,
        samples: &[Sample],
        scorers: &[Scorer],
        mut take: impl FnMut(Scored) -> Result<()>,
    ) -> Result<()> {
        let bar = self.context.task(samples.len(), "pictures");
        for some in samples.chunks(4 * self.context.jobs) {
            let scored =
                parallel::map(self.context.jobs, some.len(), &bar, |i| self.score(&some[i], scorers))?;
            scored.into_iter().try_for_each(&mut take)?;
        }
        Ok(())
    }

    fn score(&self, sample: &Sample, scorers: &[Scorer]) -> Result<Scored> {
        let labels = self.set.labels(sample)?;
        let said = self.network.say(self.set, sample, &labels)?;
        let score = |scorer: &Scorer| -> Result<Vec<f32>> {
            scorer.needs.check(&said.output()).with_context(|| scorer.id.clone())?;
            Ok(score_of(scorer, &said))
        };
        let scores = scorers.iter().map(score).collect::<Result<_>>()?;
        Ok(Scored { prediction: said.output().prediction(), labels, scores })
    }

    /// Mean scores of the classes on at most forty nominal pictures.
    fn nominal_means(&self, scorers: &[Scorer]) -> Result<Vec<ClassMeans>> {
        let mut means = vec![ClassMeans(vec![[0.0; 2]; self.set.n_classes() + 1]); scorers.len()];
        let Some((set, network)) = self.nominal else { return Ok(means) };
        for sample in set.samples.iter().take(40) {
            let labels = set.labels(sample)?;
            let said = network.say(set, sample, &labels)?;
            scorers.iter().zip(&mut means).for_each(|(s, means)| means.add(&score_of(s, &said), &labels.ids));
        }
        Ok(means)
    }
}

/// The scores of a picture.
pub fn score_of(scorer: &Scorer, said: &Said) -> Vec<f32> {
    let mut scores = vec![0.0; said.output().pixels()];
    scorer.scorer.score(&said.output(), &mut scores);
    scores
}

fn auprc(judged: &Judged) -> f64 {
    judged.modes.first().map_or(0.0, |m| m.values[1].value)
}

/// What the first walk collects.
struct First {
    tallies: Vec<PixelTally>,
    means: Vec<ClassMeans>,
    confusion: Confusion,
}

impl First {
    fn new(methods: usize, classes: usize) -> First {
        First {
            tallies: (0..methods).map(|_| PixelTally::default()).collect(),
            means: vec![ClassMeans(vec![[0.0; 2]; classes + 1]); methods],
            confusion: Confusion::new(classes),
        }
    }

    fn add(&mut self, scored: &Scored) -> Result<()> {
        self.confusion.add(&scored.labels.ids, &scored.prediction);
        for ((tally, means), scores) in self.tallies.iter_mut().zip(&mut self.means).zip(&scored.scores) {
            tally.add(scores, &scored.labels.truth)?;
            means.add(scores, &scored.labels.ids);
        }
        Ok(())
    }
}

/// What the second walk collects.
struct Second<'a> {
    set: &'a DataSet,
    samples: &'a [Sample],
    at: usize,
    thresholds: Vec<f64>,
    best: (usize, f64),
    components: Vec<Vec<ImageComponents>>,
    failures: Failures,
}

impl<'a> Second<'a> {
    fn new(plan: &Plan<'a>, samples: &'a [Sample], judged: &[Judged], best: usize) -> Second<'a> {
        Second {
            set: plan.set,
            samples,
            at: 0,
            thresholds: judged.iter().map(|j| j.best.best_f1_threshold).collect(),
            best: (best, judged[best].best.max_iou_threshold),
            components: vec![Vec::new(); judged.len()],
            failures: Failures::new(&plan.methods[best], judged[best].best.max_iou_threshold),
        }
    }

    fn add(&mut self, scored: &Scored) -> Result<()> {
        let (labels, least) = (&scored.labels, Smallest::for_pixels(scored.labels.ids.len()));
        for (i, scores) in scored.scores.iter().enumerate() {
            self.components[i].push(components::compare(
                scores,
                &labels.truth,
                labels.width,
                self.thresholds[i],
                least,
            ));
        }
        let surroundings = Surroundings::load(self.set, &self.samples[self.at], labels)?;
        self.failures.add(
            self.at,
            labels,
            &surroundings,
            &scored.prediction,
            &scored.scores[self.best.0],
            self.best.1,
        );
        self.at += 1;
        Ok(())
    }
}
