//! What: which named fault it is, as faults that were played have taught.
//!
//! Trees vote for hypotheses on features of the steps since the onset: those of the signature, the response, and the
//! steps since the alarm. The three families are equally likely beforehand, and so are the hypotheses of each.
//!
//! With s = 1 − p the part of the votes against the true hypothesis, h is compatible if its s is among the 90 % smallest of
//! the faults of h at that time, counting itself. A fault's s comes from trees that have not seen it: those of three
//! quarters of the faults, four times. How large a fault is decides how hard it is to name, and faults to come need not
//! be as large as those that were played. So the faults of h are compared in up to three groups by size, and h is
//! compatible if it is so in any group: whichever fault it is, and of whatever size, it is in the set in about nine of ten
//! diagnoses or more. The promise is approximate, because the trees that answer have seen all faults.
//!
//! Reference: Vovk, Gammerman, Shafer, Algorithmic Learning in a Random World, 2005, section 4.5 (by class and group);
//! Vovk, Cross-conformal predictors, Annals of Mathematics and Artificial Intelligence 2015.

use super::answer::{Family, Hypothesis, Suspect};
use super::trees::{Label, Trees, Vote};
use crate::shared::forest::Table;
use crate::shared::prelude::*;
use offnominal_core::fit_progress::Stopped;

/// Steps after an alarm at which diagnoses are taught and calibrated; one in between is taken for the one before.
pub const AFTER: [usize; 3] = [0, 5, 20];
/// Parts of the faults, each of which is judged by trees of the others.
const FOLDS: usize = 4;
/// Groups by size, at most.
const GROUPS: usize = 3;
/// The fewest faults of a group, where there are several: the share of none more like it is then 1/20, well below [`MISS`].
const LEAST: usize = 19;
/// How often a true hypothesis may be missing from the set.
const MISS: f64 = 0.1;

/// A fault that was played, and noticed.
#[derive(Debug, Clone, Copy)]
pub struct Fault<'a> {
    /// Which of the hypotheses it is an example of.
    pub hypothesis: usize,
    /// Its magnitude.
    pub magnitude: f64,
    /// The episode.
    pub signals: Signals<'a>,
    /// The step of the alarm, counted from 0, which came after the onset.
    pub alarm: usize,
}

/// Features of a fault at each of [`AFTER`], `[AFTER, features]`.
pub(super) struct Example {
    pub label: Label,
    pub features: Vec<f32>,
}

/// What was learned of named faults.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Taught {
    pub hypotheses: Vec<Hypothesis>,
    trees: Trees,
    /// s of the faults of each group at each of [`AFTER`], ascending, `[AFTER][hypotheses][GROUPS][n]`; groups may be empty.
    held_out: Vec<Vec<f64>>,
}

impl Taught {
    /// Learns from examples.
    ///
    /// # Errors
    /// If it was asked to stop.
    pub fn fit(
        hypotheses: Vec<Hypothesis>,
        examples: &[Example],
        rng: &mut Rng,
        progress: FitProgress<'_>,
    ) -> Result<Taught, Stopped> {
        let n = hypotheses.len();
        let all: Vec<&Example> = examples.iter().collect();
        let trees = grown(&all, n, rng, progress.part(0, FOLDS + 1))?;
        let groups = groups(examples, n);
        let mut taught = Taught { hypotheses, trees, held_out: vec![vec![]; AFTER.len() * n * GROUPS] };
        let folds = folds(examples, n);
        for fold in 0..FOLDS {
            let others: Vec<&Example> =
                examples.iter().zip(&folds).filter(|(_, f)| **f != fold).map(|(e, _)| e).collect();
            let trees = grown(&others, n, rng, progress.part(1 + fold, FOLDS + 1))?;
            for (i, example) in examples.iter().enumerate().filter(|(i, _)| folds[*i] == fold) {
                taught.calibrate(&trees, example, groups[i]);
            }
        }
        taught.held_out.iter_mut().for_each(|s| s.sort_unstable_by(f64::total_cmp));
        Ok(taught)
    }

    /// Adds what trees that have not seen an example say of it.
    fn calibrate(&mut self, trees: &Trees, example: &Example, group: usize) {
        let (n, class) = (self.hypotheses.len(), example.label.class);
        let mut votes = vec![Vote::default(); n];
        for (after, features) in rows(example).enumerate() {
            trees.votes(features, &mut votes);
            self.weigh(&mut votes);
            self.held_out[(after * n + class) * GROUPS + group].push(against(votes[class]));
        }
    }

    /// Room for an answer.
    pub fn blank(&self) -> (Vec<Vote>, Vec<Suspect>) {
        let n = self.hypotheses.len();
        let suspect =
            |hypothesis| Suspect { hypothesis, probability: 0.0, is_compatible: true, magnitude: 0.0 };
        (vec![Vote::default(); n], (0..n).map(suspect).collect())
    }

    /// The hypotheses in the light of features so many steps after an alarm: those of the most probable family first, and
    /// within each the most probable; returns the probability of each family. It does not allocate.
    pub fn judge(
        &self,
        features: &[f32],
        since: usize,
        votes: &mut [Vote],
        suspects: &mut [Suspect],
    ) -> [f64; 3] {
        self.trees.votes(features, votes);
        self.weigh(votes);
        let after = AFTER.iter().rposition(|&after| after <= since).unwrap_or(0);
        let mut families = [0.0; Family::ALL.len()];
        for (i, (suspect, hypothesis)) in suspects.iter_mut().zip(&self.hypotheses).enumerate() {
            let vote = votes[i];
            families[hypothesis.family as usize] += vote.probability;
            *suspect = Suspect {
                hypothesis: i,
                probability: vote.probability,
                is_compatible: self.p_value(after, i, vote) > MISS,
                magnitude: hypothesis.magnitude(vote.size),
            };
        }
        let family = |s: &Suspect| families[self.hypotheses[s.hypothesis].family as usize];
        suspects.sort_unstable_by(|a, b| {
            let families = family(b).total_cmp(&family(a));
            families.then(b.probability.total_cmp(&a.probability)).then(a.hypothesis.cmp(&b.hypothesis))
        });
        families
    }

    /// How likely each hypothesis is, if all families were equally likely before, and within each all of its hypotheses.
    fn weigh(&self, votes: &mut [Vote]) {
        let mut counts = [0.0; Family::ALL.len()];
        self.hypotheses.iter().for_each(|h| counts[h.family as usize] += 1.0);
        votes.iter_mut().zip(&self.hypotheses).for_each(|(v, h)| v.probability /= counts[h.family as usize]);
        let total: f64 = votes.iter().map(|v| v.probability).sum();
        votes.iter_mut().for_each(|v| v.probability /= total);
    }

    /// The part of faults of a hypothesis that are no more like it than this one, counting itself, in the group where it
    /// is largest.
    fn p_value(&self, after: usize, hypothesis: usize, vote: Vote) -> f64 {
        let first = (after * self.hypotheses.len() + hypothesis) * GROUPS;
        let known = self.held_out[first..first + GROUPS].iter().filter(|s| !s.is_empty());
        let part = |s: &Vec<f64>| {
            let nearer = s.partition_point(|&s| s < against(vote));
            (1 + s.len() - nearer) as f64 / (1 + s.len()) as f64
        };
        known.map(part).reduce(f64::max).unwrap_or(1.0)
    }

    /// Writes what was learned.
    pub fn save(&self, to: &mut Writer<'_>) {
        self.trees.save(&mut to.part("trees"));
        to.put("held-out", &self.held_out.concat());
        to.put("counts", &self.held_out.iter().map(|s| s.len() as u64).collect::<Vec<_>>());
    }

    /// Reads what was learned of these hypotheses from features of that number.
    pub fn load(
        from: &Reader<'_>,
        hypotheses: &[Hypothesis],
        n_features: usize,
    ) -> Result<Taught, ArchiveError> {
        let trees = Trees::load(&from.part("trees"), n_features, hypotheses.len())?;
        let (all, counts) = (
            from.list::<f64>("held-out")?,
            from.exactly::<u64>("counts", AFTER.len() * hypotheses.len() * GROUPS)?,
        );
        let sum = counts.iter().try_fold(0_u64, |sum, &n| sum.checked_add(n));
        from.require(sum == Some(all.len() as u64), "counts", "as many as were held out", "others")?;
        let mut rest = all;
        let held_out: Vec<Vec<f64>> =
            counts.iter().map(|&n| rest.split_off(..n as usize).unwrap_or_default().to_vec()).collect();
        let ascends = held_out.iter().all(|s| s.is_sorted());
        from.require(ascends, "held-out", "ascending numbers of each hypothesis", "others")?;
        Ok(Taught { hypotheses: hypotheses.to_vec(), trees, held_out })
    }
}

/// s.
fn against(vote: Vote) -> f64 {
    1.0 - vote.probability
}

fn rows(example: &Example) -> impl Iterator<Item = &[f32]> {
    example.features.chunks_exact(example.features.len() / AFTER.len())
}

/// The part of the faults in which each is: those of a hypothesis are dealt out in turn.
fn folds(examples: &[Example], n_classes: usize) -> Vec<usize> {
    let mut seen = vec![0; n_classes];
    let next = |e: &Example| {
        seen[e.label.class] += 1;
        seen[e.label.class] % FOLDS
    };
    examples.iter().map(next).collect()
}

/// The group of each fault among those of its hypothesis, from the smallest to the largest.
fn groups(examples: &[Example], n_classes: usize) -> Vec<usize> {
    let mut groups = vec![0; examples.len()];
    for class in 0..n_classes {
        let mut own: Vec<usize> = (0..examples.len()).filter(|&i| examples[i].label.class == class).collect();
        own.sort_by(|&a, &b| examples[a].label.size.total_cmp(&examples[b].label.size));
        let n_groups = (own.len() / LEAST).clamp(1, GROUPS);
        own.iter().enumerate().for_each(|(rank, &i)| groups[i] = rank * n_groups / own.len());
    }
    groups
}

fn grown(
    examples: &[&Example],
    n_classes: usize,
    rng: &mut Rng,
    progress: FitProgress<'_>,
) -> Result<Trees, Stopped> {
    let points: Vec<f32> = examples.iter().flat_map(|e| &e.features).copied().collect();
    let labels: Vec<Label> = examples.iter().flat_map(|e| [e.label; AFTER.len()]).collect();
    let (n_points, width) = (labels.len(), points.len() / labels.len().max(1));
    Trees::grow(Table { points: &points, width, n_points }, &labels, n_classes, rng, progress)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnosis::answer::Direction;
    use offnominal_core::archive::Archive;

    const NAMES: [(&str, Family); 3] =
        [("obs-offset", Family::Observation), ("dyn-mass", Family::Dynamics), ("dyn-drag", Family::Dynamics)];

    fn hypotheses() -> Vec<Hypothesis> {
        let of = |(anomaly, family): (&str, Family)| Hypothesis {
            anomaly: anomaly.into(),
            family,
            neutral: 1.0,
            direction: Direction::Up,
        };
        NAMES.map(of).to_vec()
    }

    /// The feature is the number of the hypothesis and noise, less of it later; sizes are what the second feature says.
    fn examples(n: usize, noise: f64, seed: u64) -> Vec<Example> {
        let mut rng = Rng::new(seed);
        let mut of = |i: usize| {
            let (class, size) = (i % 3, rng.normal());
            let features = [1.0, 0.5, 0.25]
                .iter()
                .flat_map(|part| [class as f64 + noise * part * rng.normal(), size].map(|x| x as f32));
            Example { features: features.collect(), label: Label { class, size } }
        };
        (0..n).map(&mut of).collect()
    }

    fn fitted(noise: f64, seed: u64) -> Taught {
        let examples = examples(360, noise, seed);
        Taught::fit(hypotheses(), &examples, &mut Rng::new(seed), FitProgress::unseen()).unwrap()
    }

    #[test]
    fn sets_hold_the_truth_as_often_as_promised_and_shrink_with_time() {
        let (mut hits, mut sizes, mut n) = ([0; 3], [0; 3], 0);
        for seed in 0..10 {
            let taught = fitted(0.6, seed);
            let (mut votes, mut suspects) = taught.blank();
            for example in examples(120, 0.6, 1000 + seed) {
                n += 1;
                for (after, features) in rows(&example).enumerate() {
                    taught.judge(features, AFTER[after], &mut votes, &mut suspects);
                    let compatible = || suspects.iter().filter(|s| s.is_compatible);
                    sizes[after] += compatible().count();
                    hits[after] += usize::from(compatible().any(|s| s.hypothesis == example.label.class));
                }
            }
        }
        for hits in hits {
            let share = f64::from(hits as u32) / f64::from(n);
            assert!((0.88..0.97).contains(&share), "{share}");
        }
        assert!(sizes[0] > sizes[2], "{sizes:?}");
    }

    /// Small faults are hard to tell apart: a set that holds nine of ten faults of all sizes need not hold small ones.
    #[test]
    fn sets_hold_small_faults_too() {
        let of = |n: usize, sizes: [f64; 2], rng: &mut Rng| -> Vec<Example> {
            let mut one = |i: usize| {
                let (class, size) = (i % 3, rng.range(sizes[0], sizes[1]));
                let feature = (class as f64 * size + 0.4 * rng.normal()) as f32;
                Example { features: [feature, 0.0].repeat(AFTER.len()), label: Label { class, size } }
            };
            (0..n).map(&mut one).collect()
        };
        let mut shares = vec![];
        for seed in 0..10 {
            let mut rng = Rng::new(seed);
            let known = of(180, [0.2, 2.0], &mut rng);
            let taught = Taught::fit(hypotheses(), &known, &mut rng, FitProgress::unseen()).unwrap();
            let (mut votes, mut suspects) = taught.blank();
            for example in of(120, [0.2, 0.6], &mut rng) {
                taught.judge(&example.features[..2], 0, &mut votes, &mut suspects);
                let truth = |s: &Suspect| s.hypothesis == example.label.class && s.is_compatible;
                shares.push(f64::from(u8::from(suspects.iter().any(truth))));
            }
        }
        let share = shares.iter().sum::<f64>() / shares.len() as f64;
        assert!(share > 0.87, "{share}");
    }

    #[test]
    fn what_is_clear_is_named_with_its_magnitude_and_what_is_strange_is_not() {
        let taught = fitted(0.1, 1);
        let (mut votes, mut suspects) = taught.blank();
        let families = taught.judge(&[1.0, 0.7], 7, &mut votes, &mut suspects);
        assert!(
            suspects[0].hypothesis == 1 && suspects[0].is_compatible && families[2] > 0.9,
            "{suspects:?}"
        );
        assert!((suspects[0].magnitude - 1.0 - 0.7_f64.exp()).abs() < 0.5, "{suspects:?}");
        taught.judge(&[1.5, 0.7], 20, &mut votes, &mut suspects);
        assert!(suspects.iter().all(|s| !s.is_compatible), "{suspects:?}");
    }

    #[test]
    fn what_was_kept_says_the_same() {
        let taught = fitted(0.3, 2);
        let mut archive = Archive::default();
        taught.save(&mut archive.writer());
        assert_eq!(Taught::load(&archive.reader(1, 1), &hypotheses(), 2).unwrap(), taught);
        assert!(Taught::load(&archive.reader(1, 1), &hypotheses()[1..], 2).is_err());
    }
}
