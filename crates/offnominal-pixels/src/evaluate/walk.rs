//! The two walks over the images of a data set, and what each collects. An image is scored once where memory allows it.

use super::ComponentSizes;
use super::subject::Subject;
use crate::data_set::{DataSet, Labels, Sample};
use crate::failures::{Failures, Surroundings};
use crate::gallery::{Gallery, GalleryImage};
use crate::kept::Kept;
use crate::scorer::{Image, Scorer};
use anyhow::{Context as _, Result};
use offnominal_engine::context::Context;
use offnominal_engine::parallel;
use offnominal_stats::pixel::components::{Compared, ImageComponents};
use offnominal_stats::pixel::{Confusion, Judged, PixelTally, Pro};
use std::cell::OnceCell;

/// Sums and counts of scores for each class, the unknown ones last.
#[derive(Clone)]
pub struct ClassMeans(Vec<[f64; 2]>);

impl ClassMeans {
    /// Nothing yet, for each of so many methods.
    pub fn of(methods: usize, classes: usize) -> Vec<ClassMeans> {
        vec![ClassMeans(vec![[0.0; 2]; classes + 1]); methods]
    }

    pub fn add(&mut self, scores: &[f32], ids: &[u8]) {
        let last = self.0.len() - 1;
        for (&score, &id) in scores.iter().zip(ids) {
            let at = if id == offnominal_scenes::UNKNOWN { last } else { usize::from(id) };
            if at < last || id == offnominal_scenes::UNKNOWN {
                self.0[at][0] += f64::from(score);
                self.0[at][1] += 1.0;
            }
        }
    }

    pub fn means(&self) -> Vec<Option<f64>> {
        self.0.iter().map(|&[sum, n]| (n > 0.0).then(|| sum / n)).collect()
    }
}

/// One image with the scores of every method.
pub struct Scored {
    labels: Labels,
    /// None without a network.
    prediction: Option<Vec<u8>>,
    scores: Vec<Vec<f32>>,
}

/// Goes through the images of a subject in order, as often as it is asked to.
pub struct Walk<'a> {
    subject: &'a Subject,
    samples: &'a [Sample],
    scorers: &'a [Scorer],
    context: &'a Context,
    kept: Kept<Scored>,
}

impl<'a> Walk<'a> {
    pub fn new(
        subject: &'a Subject,
        samples: &'a [Sample],
        scorers: &'a [Scorer],
        context: &'a Context,
    ) -> Walk<'a> {
        Walk { subject, samples, scorers, context, kept: Kept::default() }
    }

    /// Passes the images on, scored on all threads.
    pub fn each(&mut self, mut take: impl FnMut(&Scored) -> Result<()>) -> Result<()> {
        let (subject, scorers, jobs) = (self.subject, self.scorers, self.context.jobs);
        self.kept.iter().try_for_each(&mut take)?;
        let rest = &self.samples[self.kept.len()..];
        let task = self.context.task(rest.len(), "images");
        for some in rest.chunks(4 * jobs) {
            task.check()?;
            for scored in parallel::map(jobs, some.len(), &task, |i| score(subject, &some[i], scorers))? {
                take(&scored)?;
                let bytes = scored.bytes();
                self.kept.push(scored, bytes);
            }
        }
        Ok(())
    }
}

impl Scored {
    /// About how much memory it takes.
    fn bytes(&self) -> usize {
        self.labels.ids.len() * (3 + size_of::<f32>() * self.scores.len())
    }
}

fn score(subject: &Subject, sample: &Sample, scorers: &[Scorer]) -> Result<Scored> {
    let (labels, output) = subject.network.predict(&subject.set, sample)?;
    let image = Image::new(sample, &labels, &output);
    let scores = scorers.iter().map(|scorer| scorer.scores(&image)).collect::<Result<_>>();
    let scores = scores.with_context(|| sample.name.clone())?;
    Ok(Scored { prediction: output.prediction(), labels, scores })
}

/// What the first walk collects.
pub struct First {
    pub tallies: Vec<PixelTally>,
    pub overlaps: Vec<Pro>,
    pub means: Vec<ClassMeans>,
    pub confusion: Confusion,
    sizes: ComponentSizes,
}

impl First {
    pub fn new(methods: usize, classes: usize, sizes: ComponentSizes) -> First {
        First {
            tallies: (0..methods).map(|_| PixelTally::default()).collect(),
            overlaps: vec![Pro::default(); methods],
            means: ClassMeans::of(methods, classes),
            confusion: Confusion::new(classes),
            sizes,
        }
    }

    pub fn add(&mut self, scored: &Scored) -> Result<()> {
        let labels = &scored.labels;
        if let Some(prediction) = &scored.prediction {
            self.confusion.add(&labels.ids, prediction);
        }
        let least = self.sizes.of(labels.ids.len()).truth;
        for (i, scores) in scored.scores.iter().enumerate() {
            self.tallies[i].add(scores, &labels.truth)?;
            self.overlaps[i].add(scores, &labels.truth, labels.width, least)?;
            self.means[i].add(scores, &labels.ids);
        }
        Ok(())
    }
}

/// What the second walk collects of each method.
pub struct Second<'a> {
    set: &'a DataSet,
    samples: &'a [Sample],
    at: usize,
    /// Thresholds with the best F1.
    thresholds: Vec<f64>,
    pub components: Vec<Vec<ImageComponents>>,
    pub failures: Vec<Failures>,
    pub galleries: Vec<Gallery>,
    sizes: ComponentSizes,
}

impl<'a> Second<'a> {
    pub fn new(
        set: &'a DataSet,
        samples: &'a [Sample],
        scorers: &[Scorer],
        judged: &[Judged],
        sizes: ComponentSizes,
    ) -> Second<'a> {
        let failures =
            scorers.iter().zip(judged).map(|(s, j)| Failures::new(&s.id, j.best.max_iou_threshold));
        Second {
            set,
            samples,
            at: 0,
            thresholds: judged.iter().map(|j| j.best.best_f1_threshold).collect(),
            components: vec![Vec::new(); judged.len()],
            failures: failures.collect(),
            galleries: vec![Gallery::default(); judged.len()],
            sizes,
        }
    }

    pub fn add(&mut self, scored: &Scored) -> Result<()> {
        let (labels, least) = (&scored.labels, self.sizes.of(scored.labels.ids.len()));
        let (set, sample, prediction) = (self.set, &self.samples[self.at], scored.prediction.as_deref());
        let surroundings = Surroundings::load(set, sample, labels)?;
        let seen = GalleryImage {
            name: &sample.name,
            labels,
            prediction,
            classes: set.classes(),
            colours: &|| set.colours(sample, labels),
            small: OnceCell::new(),
        };
        for (i, scores) in scored.scores.iter().enumerate() {
            let found = Compared::new(scores, &labels.truth, labels.width, self.thresholds[i], least);
            self.components[i].push(found.measures());
            self.galleries[i].add(&seen, scores, &found)?;
            self.failures[i].add(self.at, labels, &surroundings, prediction, scores);
        }
        self.at += 1;
        Ok(())
    }
}
