//! Where to aim, from experiments with margins: each region of failures is followed to its limit on its own.
//!
//! A mixture is fitted to the experiments nearest to failing, as many as say what 50 + 5 d of equal weight do, or to all that
//! failed if they say more. Along its direction u, each component is then put where the nearest of its own experiments
//! lie, as many as say what 25 do. Where these have not failed, it is put where a straight line through the margins of its
//! experiments reaches zero, at most [`FARTHEST`] farther out; so a level of the cross-entropy method is skipped where the margin
//! is nearly linear, and nothing is believed of it: the next experiments tell.

use super::mixture::{Component, Mixture, Points};
use super::{Seen, effective};
use crate::regression::Factor;
use offnominal_core::Rng;

/// Experiments, by how many of equal weight say as much, to which a mixture is fitted: so many, and so many per dimension.
const NEAR: (f64, f64) = (50.0, 5.0);
/// Experiments at most of which it is fitted; of more, every second, third and so on.
const MOST_NEAR: usize = 600;
/// The part of P, at most, that is near to failing.
const NEAR_PART: f64 = 0.3;
/// Experiments of a component that place it along its direction.
const NEAREST: f64 = 25.0;
/// How far a component goes beyond its own experiments at once.
const FARTHEST: f64 = 1.5;
/// How much wider than its experiments a component is, and at least.
const WIDER: f64 = 1.2;
const NARROWEST: f64 = 0.2;
/// Ridge of the plane through margins, and the part of their variance that it must tell.
const RIDGE: f64 = 1e-3;
const TOLD: f64 = 0.5;
/// The share that no component falls below.
const SMALLEST: f64 = 0.03;

/// The mixture to draw from next; nothing where the experiments tell none.
pub(super) fn aimed(seen: &[Seen], weights: &[f64], rng: &mut Rng) -> Option<Mixture> {
    let mut order: Vec<usize> = (0..seen.len()).collect();
    order.sort_by(|&a, &b| seen[a].margin.total_cmp(&seen[b].margin));
    let reached = near(seen, weights, &order)?;
    let near: Vec<usize> = order[..reached].iter().copied().step_by(reached.div_ceil(MOST_NEAR)).collect();
    let z = near.iter().map(|&i| seen[i].z.as_slice()).collect();
    let points = Points::new(z, near.iter().map(|&i| weights[i]).collect());
    let fitted = Mixture::fit(&points, rng)?;
    let margins: Vec<f64> = near.iter().map(|&i| seen[i].margin).collect();
    let parts = points.parts(&fitted);
    let placed = |(c, parts): (Component, &Vec<f64>)| {
        let weights: Vec<f64> = points.weights.iter().zip(parts).map(|(w, p)| w * p).collect();
        placed(turned(c, &weights, &points, &margins), &weights, &points, &margins)
    };
    let components: Vec<Component> = fitted.components.into_iter().zip(&parts).map(placed).collect();
    let share = |c: &Component| c.share.max(SMALLEST);
    let sum = components.iter().map(share).sum::<f64>();
    let shared = components.iter().map(|c| Component { share: share(c) / sum, ..c.clone() });
    Some(Mixture { components: shared.collect() })
}

/// How many experiments, the nearest to failing first, a mixture is fitted to.
fn near(seen: &[Seen], weights: &[f64], order: &[usize]) -> Option<usize> {
    let enough = NEAR.0 + NEAR.1 * seen.first()?.z.len() as f64;
    let all = weights.iter().sum::<f64>();
    let failed = order.partition_point(|&i| seen[i].margin <= 0.0);
    let (mut sum, mut squares) = (0.0, 0.0);
    let is_reached = |&i: &usize| {
        sum += weights[i];
        squares += weights[i] * weights[i];
        sum * sum / squares >= enough || sum >= NEAR_PART * all
    };
    let reached = order.iter().position(is_reached).map_or(order.len(), |place| place + 1);
    (order.len() > 2).then(|| reached.max(failed))
}

/// A component whose direction is rid of chance: of the mean of its experiments, what lies across the direction in which
/// margins fall is shrunk by what chance alone would have put there (James and Stein). In many dimensions chance is most of it.
fn turned(c: Component, weights: &[f64], points: &Points<'_>, margins: &[f64]) -> Component {
    let Some(fall) = fall(weights, points, margins) else { return c };
    let along = c.mean * dot(&fall, &c.direction);
    let across: Vec<f64> = c.direction.iter().zip(&fall).map(|(u, v)| c.mean * u - along * v).collect();
    let chance = (fall.len() - 1) as f64 / effective(weights.iter().copied());
    let kept = (1.0 - chance / dot(&across, &across).max(1e-12)).max(0.0);
    let mean: Vec<f64> = fall.iter().zip(&across).map(|(v, a)| along * v + kept * a).collect();
    let length = dot(&mean, &mean).sqrt();
    if along <= 0.0 || length < 1e-9 {
        return c;
    }
    Component { direction: mean.iter().map(|m| m / length).collect(), mean: length, ..c }
}

/// The unit vector along which margins fall: least squares with a ridge. Nothing where a plane says little of them.
fn fall(weights: &[f64], points: &Points<'_>, margins: &[f64]) -> Option<Vec<f64>> {
    let (d, total) = (points.z.first()?.len(), weights.iter().sum::<f64>());
    let mean =
        |of: &dyn Fn(usize) -> f64| weights.iter().enumerate().map(|(i, w)| w * of(i)).sum::<f64>() / total;
    let centre: Vec<f64> = (0..d).map(|a| mean(&|i| points.z[i][a])).collect();
    let middle = mean(&|i| margins[i]);
    let (mut normal, mut right) = (vec![0.0; d * d], vec![0.0; d]);
    for (i, w) in weights.iter().enumerate() {
        let off: Vec<f64> = points.z[i].iter().zip(&centre).map(|(z, c)| z - c).collect();
        for a in 0..d {
            right[a] += w / total * off[a] * (margins[i] - middle);
            (0..d).for_each(|b| normal[a * d + b] += w / total * off[a] * off[b]);
        }
    }
    (0..d).for_each(|a| normal[a * d + a] += RIDGE);
    let slopes = Factor::of(&normal, d)?.solve(&right);
    let (spread, length) = (mean(&|i| (margins[i] - middle).powi(2)), dot(&slopes, &slopes).sqrt());
    let is_told = dot(&slopes, &right) > TOLD * spread && length > 0.0;
    is_told.then(|| slopes.iter().map(|s| -s / length).collect())
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// A component where its own experiments say that failures begin.
fn placed(c: Component, weights: &[f64], points: &Points<'_>, margins: &[f64]) -> Component {
    let own: Vec<(f64, f64, f64)> =
        (0..margins.len()).map(|i| (weights[i], c.along(points.z[i]), margins[i])).collect();
    if own.iter().map(|o| o.0).sum::<f64>() < 1e-9 {
        return c;
    }
    let failed = own.iter().take_while(|(_, _, margin)| *margin <= 0.0).count();
    let enough = (1..=own.len()).find(|&n| effective(own[..n].iter().map(|o| o.0)) >= NEAREST);
    let nearest = enough.unwrap_or(own.len()).max(failed);
    let (mean, sd) = moments(&own[..nearest], |o| o.1);
    let sd = (WIDER * sd).max(NARROWEST);
    if failed >= nearest {
        return Component { mean, sd, ..c };
    }
    let gone = root(&own).map_or(mean, |t| t.clamp(mean, mean + FARTHEST));
    Component { mean: gone, sd: sd.max(0.5 * (gone - mean)), ..c }
}

/// Where a straight line through margins along a direction reaches zero; nothing where they do not fall.
fn root(own: &[(f64, f64, f64)]) -> Option<f64> {
    let ((t, sd), (margin, _)) = (moments(own, |o| o.1), moments(own, |o| o.2));
    let total = own.iter().map(|o| o.0).sum::<f64>();
    let covariance = own.iter().map(|o| o.0 * (o.1 - t) * (o.2 - margin)).sum::<f64>() / total;
    let slope = covariance / (sd * sd);
    (slope < 0.0 && slope.is_finite()).then(|| t - margin / slope)
}

fn moments(own: &[(f64, f64, f64)], of: fn(&(f64, f64, f64)) -> f64) -> (f64, f64) {
    let total = own.iter().map(|o| o.0).sum::<f64>();
    let mean = own.iter().map(|o| o.0 * of(o)).sum::<f64>() / total;
    let variance = own.iter().map(|o| o.0 * (of(o) - mean).powi(2)).sum::<f64>() / total;
    (mean, variance.sqrt())
}
