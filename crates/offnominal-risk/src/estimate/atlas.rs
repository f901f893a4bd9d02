//! The kinds of failures, and how much of the failure probability each makes up.
//!
//! Failures are grouped by the last observation before the end, which tells how it happened: each channel in units of its
//! deviation over all failures, then k-means with the k from 2 to 6 whose mean silhouette is largest; one group if none
//! separates well. A group's mass is the sum of its failures' shares of the estimate, so that the masses add up to it.
//!
//! References: Lloyd, IEEE Transactions on Information Theory 28(2), 1982; Arthur and Vassilvitskii, SODA 2007 (the
//! start); Rousseeuw, Journal of Computational and Applied Mathematics 20, 1987 (the silhouette).

use super::block::Failure;
use offnominal_core::Rng;
use offnominal_core::spec::EnvSpec;
use serde::{Deserialize, Serialize};

/// One kind of failure.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FailureKind {
    /// Its part of the failure probability; the parts add up to the estimate.
    pub mass: f64,
    /// How many failures of this kind were seen.
    pub failures: usize,
    /// What sets it apart: channels with their mean in this kind and over all failures.
    pub signs: Vec<Sign>,
    /// Number of the failure nearest to the middle of its kind.
    pub example: usize,
}

/// A channel that tells a kind from the others.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sign {
    /// Name of the channel.
    pub channel: String,
    /// Its unit.
    pub unit: String,
    /// Mean of its last value in this kind.
    pub here: f64,
    /// Mean over all failures.
    pub overall: f64,
}

/// Failures in groups.
#[derive(Debug, Clone, PartialEq)]
pub struct Atlas {
    /// The kinds, the largest mass first.
    pub kinds: Vec<FailureKind>,
    /// Number of the kind of each failure.
    pub kind_of: Vec<usize>,
}

/// Most failures that are grouped; of more, the others join the nearest group.
const MOST: usize = 2000;
const LARGEST_K: usize = 6;
/// Mean silhouette below which there are no groups worth the name.
const LEAST_SILHOUETTE: f64 = 0.3;
/// Channels by which a kind is described.
const SIGNS: usize = 3;
const ROUNDS: usize = 50;

impl Atlas {
    /// Groups failures with their shares of the estimate.
    pub fn of(failures: &[(Failure, f64)], spec: &EnvSpec) -> Atlas {
        let points = standardised(failures);
        let centres = grouped(&points[..points.len().min(MOST)]);
        let kind_of: Vec<usize> = points.iter().map(|p| nearest(p, &centres)).collect();
        let kinds = (0..centres.len()).map(|k| kind(k, failures, &points, &kind_of, &centres[k], spec));
        let mut order: Vec<(usize, FailureKind)> =
            kinds.enumerate().filter(|(_, k)| k.failures > 0).collect();
        order.sort_by(|a, b| b.1.mass.total_cmp(&a.1.mass));
        let place = |k: &usize| order.iter().position(|(old, _)| old == k).expect("a kind with a member");
        Atlas {
            kind_of: kind_of.iter().map(place).collect(),
            kinds: order.into_iter().map(|o| o.1).collect(),
        }
    }
}

fn kind(
    k: usize,
    failures: &[(Failure, f64)],
    points: &[Vec<f64>],
    kind_of: &[usize],
    centre: &[f64],
    spec: &EnvSpec,
) -> FailureKind {
    let members: Vec<usize> = (0..failures.len()).filter(|&i| kind_of[i] == k).collect();
    let distance = |i: &usize| squared(&points[*i], centre);
    let example = members.iter().copied().min_by(|a, b| distance(a).total_cmp(&distance(b)));
    FailureKind {
        mass: members.iter().map(|&i| failures[i].1).sum(),
        failures: members.len(),
        signs: signs(&members, failures, centre, spec),
        example: example.unwrap_or(0),
    }
}

/// The channels in which the middle of a kind is farthest from that of all.
fn signs(members: &[usize], failures: &[(Failure, f64)], centre: &[f64], spec: &EnvSpec) -> Vec<Sign> {
    let mut channels: Vec<usize> = (0..centre.len().min(spec.observation.len())).collect();
    channels.sort_by(|&a, &b| centre[b].abs().total_cmp(&centre[a].abs()));
    let mean = |of: &mut dyn Iterator<Item = f64>| {
        let (sum, n) = of.fold((0.0, 0.0_f64), |(s, n), v| (s + v, n + 1.0));
        sum / n.max(1.0)
    };
    let sign = |&c: &usize| {
        let channel = &spec.observation[c];
        let value = |i: usize| f64::from(failures[i].0.last[c]);
        let here = mean(&mut members.iter().map(|&i| value(i)));
        let overall = mean(&mut (0..failures.len()).map(value));
        Sign { channel: channel.name.clone(), unit: channel.unit.clone(), here, overall }
    };
    channels.iter().filter(|&&c| centre[c].abs() > 0.3).take(SIGNS).map(sign).collect()
}

/// Last observations, each channel with mean 0 and deviation 1; constant ones become 0.
fn standardised(failures: &[(Failure, f64)]) -> Vec<Vec<f64>> {
    let mut points: Vec<Vec<f64>> =
        failures.iter().map(|(f, _)| f.last.iter().map(|&v| f64::from(v)).collect()).collect();
    let n = points.len().max(1) as f64;
    for c in 0..points.first().map_or(0, Vec::len) {
        let mean = points.iter().map(|p| p[c]).sum::<f64>() / n;
        let deviation = (points.iter().map(|p| (p[c] - mean).powi(2)).sum::<f64>() / n).sqrt();
        let scale = if deviation > 1e-6 * mean.abs().max(1e-12) { 1.0 / deviation } else { 0.0 };
        points.iter_mut().for_each(|p| p[c] = (p[c] - mean) * scale);
    }
    points
}

/// The middles of the groups.
fn grouped(points: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let whole = vec![vec![0.0; points.first().map_or(0, Vec::len)]];
    let tries = (2..=LARGEST_K.min(points.len() / 5)).map(|k| {
        let centres = k_means(points, k, &mut Rng::new(k as u64));
        (silhouette(points, &centres), centres)
    });
    let best = tries.max_by(|a, b| a.0.total_cmp(&b.0)).filter(|b| b.0 >= LEAST_SILHOUETTE);
    best.map_or(whole, |b| b.1)
}

fn k_means(points: &[Vec<f64>], k: usize, rng: &mut Rng) -> Vec<Vec<f64>> {
    let mut centres = first_centres(points, k, rng);
    for _ in 0..ROUNDS {
        let kind_of: Vec<usize> = points.iter().map(|p| nearest(p, &centres)).collect();
        let next: Vec<Vec<f64>> = (0..k).map(|c| middle(points, &kind_of, c, &centres[c])).collect();
        if next == centres {
            break;
        }
        centres = next;
    }
    centres
}

/// Points that are far apart: each is drawn with a chance that grows with the squared distance from those before.
fn first_centres(points: &[Vec<f64>], k: usize, rng: &mut Rng) -> Vec<Vec<f64>> {
    let mut centres = vec![points[rng.below(points.len())].clone()];
    while centres.len() < k {
        let away: Vec<f64> = points.iter().map(|p| squared(p, &centres[nearest(p, &centres)])).collect();
        let mut left = rng.uniform() * away.iter().sum::<f64>();
        let chosen = away.iter().position(|d| {
            left -= d;
            left < 0.0
        });
        centres.push(points[chosen.unwrap_or(points.len() - 1)].clone());
    }
    centres
}

fn middle(points: &[Vec<f64>], kind_of: &[usize], kind: usize, before: &[f64]) -> Vec<f64> {
    let (mut sum, mut n) = (vec![0.0; before.len()], 0.0);
    for (p, _) in points.iter().zip(kind_of).filter(|(_, k)| **k == kind) {
        sum.iter_mut().zip(p).for_each(|(s, v)| *s += v);
        n += 1.0;
    }
    if n > 0.0 { sum.into_iter().map(|s| s / n).collect() } else { before.to_vec() }
}

fn nearest(point: &[f64], centres: &[Vec<f64>]) -> usize {
    let distance = |k: &usize| squared(point, &centres[*k]);
    (0..centres.len()).min_by(|a, b| distance(a).total_cmp(&distance(b))).unwrap_or(0)
}

/// Mean of (b − a) / max(a, b), with the distances a of a point from its own middle and b from the next one.
fn silhouette(points: &[Vec<f64>], centres: &[Vec<f64>]) -> f64 {
    let one = |p: &Vec<f64>| {
        let mut distances: Vec<f64> = centres.iter().map(|c| squared(p, c).sqrt()).collect();
        distances.sort_unstable_by(f64::total_cmp);
        if distances[1] > 0.0 { (distances[1] - distances[0]) / distances[1] } else { 0.0 }
    };
    points.iter().map(one).sum::<f64>() / points.len().max(1) as f64
}

fn squared(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use offnominal_core::Seed;
    use offnominal_engine::catalogues;

    /// Failures of the driving environment that end in so many ways.
    fn failures(ways: usize, n: usize) -> Vec<(Failure, f64)> {
        let mut rng = Rng::new(1);
        let mut one = |i: usize| {
            let last =
                (0..12).map(|c| (10.0 * f64::from(u8::from(c % ways == i % ways)) + rng.normal()) as f32);
            let last = last.collect();
            let failure = Failure {
                broken: vec![],
                key: Seed(0),
                index: i as u64,
                x: vec![],
                chance: 1.0,
                steps: 1,
                last,
                divergence: None,
            };
            (failure, if i.is_multiple_of(ways) { 3e-4 } else { 1e-4 })
        };
        (0..n).map(&mut one).collect()
    }

    fn atlas(failures: &[(Failure, f64)]) -> Atlas {
        let env = catalogues::environments().build("driving", &serde_json::json!({})).unwrap();
        Atlas::of(failures, env.spec())
    }

    #[test]
    fn masses_add_up_and_the_kinds_are_found() {
        let failures = failures(3, 90);
        let atlas = atlas(&failures);
        assert_eq!(atlas.kinds.len(), 3);
        let total: f64 = failures.iter().map(|f| f.1).sum();
        assert!((atlas.kinds.iter().map(|k| k.mass).sum::<f64>() - total).abs() < 1e-12);
        assert!(
            (atlas.kinds[0].mass / total - 0.6).abs() < 1e-9
                && atlas.kinds.is_sorted_by(|a, b| a.mass >= b.mass)
        );
        assert_eq!(atlas.kind_of[atlas.kinds[1].example], 1);
        assert!(!atlas.kinds[0].signs.is_empty() && atlas.kind_of[0] == atlas.kind_of[3]);
    }

    #[test]
    fn what_is_alike_is_one_kind() {
        let same = failures(1, 40);
        assert_eq!(atlas(&same).kinds.len(), 1);
        assert_eq!(atlas(&same[..2]).kinds.len(), 1);
        assert_eq!(atlas(&[]).kinds.len(), 0);
    }
}
