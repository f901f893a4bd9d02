//! How strong a fault of the camera is, whoever looks: the magnitudes at which pictures keep 99, 90, 75 and 50 % of their
//! structural similarity to the clean ones.

use crate::images::similarity::similarity;
use anyhow::Result;
use offnominal_core::image_detector::Film;
use offnominal_core::prelude::*;
use offnominal_engine::context::Context;
use offnominal_engine::frames::{Studio, film};
use offnominal_engine::strengths::{CAMERA_POLICY, LEVELS, Status, Strength};
use offnominal_engine::subject::Cast;
use offnominal_engine::{catalogues, frames as filming, parallel};
use offnominal_stats::Level;
use offnominal_stats::mean::student_t;
use offnominal_worlds::anomaly::{Domain, Search, camera_ids_for, searches};
use serde_json::json;

/// Episodes that are filmed, and steps of each that are looked at.
const EPISODES: usize = 4;
const STEPS: usize = 16;
/// Halvings of the interval in which a magnitude lies.
const HALVINGS: usize = 10;
/// How far from the target the similarity may be, as a share of what the target loses.
const TOLERANCE: f64 = 0.3;

/// The strengths of all faults of a world's camera.
///
/// # Errors
/// If the world has no camera.
pub fn cameras(cast: &Cast, studio: Studio, context: &Context) -> Result<Vec<Strength>> {
    filming::check(cast.env.spec())?;
    let root = Seed(context.seed).child("cameras");
    let films: Vec<Film> = (0..EPISODES)
        .map(|i| film(&cast.trial(), &cast.trial().nominal(root.child(i)), studio))
        .collect::<Result<_>>()?;
    let ids = camera_ids_for(cast.env.spec());
    let bar = context.task(ids.len(), "faults of the camera");
    let rows = parallel::map(context.jobs, ids.len(), &bar, |i| {
        let search = searches(cast.env.spec(), &ids[i])?[0];
        let fault = Faulty { id: &ids[i], films: &films, search, seed: root.child(ids[i].as_str()) };
        LEVELS
            .iter()
            .map(|&(level, target)| fault.level(cast.env.spec(), level, target))
            .collect::<Result<Vec<_>>>()
    })?;
    Ok(rows.into_iter().flatten().collect())
}

struct Faulty<'a> {
    id: &'a str,
    films: &'a [Film],
    search: Search,
    seed: Seed,
}

impl Faulty<'_> {
    /// Mean similarity of the pictures of each film at a magnitude.
    fn similarities(&self, spec: &EnvSpec, magnitude: f64) -> Result<Vec<f64>> {
        let mut means = Vec::new();
        for (i, film) in self.films.iter().enumerate() {
            let mut fault = catalogues::anomalies().build(self.id, &json!({ "magnitude": magnitude }))?;
            fault.fit(spec)?;
            let (mut rng, mut frame) = (self.seed.child(i).rng(), Frame::new(film.width, film.height));
            frame.rgb.copy_from_slice(film.frame(0));
            fault.watch_frame(&frame);
            let steps = film.len().min(STEPS);
            let mut sum = 0.0;
            for t in 1..=steps {
                frame.rgb.copy_from_slice(film.frame(t));
                fault.on_frame(&mut frame, &mut rng);
                sum += similarity(&frame.rgb, film.frame(t), film.width);
            }
            means.push(sum / steps as f64);
        }
        Ok(means)
    }

    /// The smallest magnitude that reaches a target, by halving: similarity falls as magnitudes grow.
    fn level(&self, spec: &EnvSpec, level: &str, target: f64) -> Result<Strength> {
        let mean = |m: f64| Ok::<_, anyhow::Error>(average(&self.similarities(spec, m)?));
        let whole = self.search.domain == Domain::Whole;
        let (mut low, mut high) = (self.search.neutral, if whole { 64.0 } else { self.search.limit });
        let mut best = (high, mean(high)?);
        for _ in 0..HALVINGS {
            let middle = if whole { (0.5 * (low + high)).round() } else { 0.5 * (low + high) };
            if middle == low || middle == high {
                break;
            }
            let found = mean(middle)?;
            if (found - target).abs() < (best.1 - target).abs() {
                best = (middle, found);
            }
            if found > target { low = middle } else { high = middle }
        }
        let is_near = (best.1 - target).abs() <= TOLERANCE * (1.0 - target);
        let score = student_t(&self.similarities(spec, best.0)?, Level::P95).ok();
        Ok(Strength {
            env: spec.id.clone(),
            policy: CAMERA_POLICY.into(),
            anomaly: self.id.into(),
            level: level.into(),
            magnitude: is_near.then_some(best.0),
            low: None,
            high: None,
            score: Some(best.1),
            score_low: score.as_ref().map(|s| s.low),
            score_high: score.as_ref().map(|s| s.high),
            episodes: self.films.len() as u64,
            status: if is_near { Status::Found } else { Status::Unattainable },
            duplicate_of: None,
        })
    }
}

fn average(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strengths_grow_and_reach_their_similarity() {
        let cast = Cast::new("sap-goal0", "tqc").unwrap();
        let context = Context::silent(1, 2);
        let rows = cameras(&cast, Studio { side: 48 }, &context).unwrap();
        assert_eq!(rows.len(), 9 * LEVELS.len());
        for fault in rows.chunks(LEVELS.len()) {
            let found: Vec<f64> = fault.iter().filter_map(|r| r.magnitude).collect();
            assert!(found.is_sorted(), "{}: {found:?}", fault[0].anomaly);
        }
        let noise = rows.iter().find(|r| r.anomaly == "cam-patch" && r.level == "extreme").unwrap();
        assert!(noise.status == Status::Found && (noise.score.unwrap() - 0.5).abs() < 0.1, "{noise:?}");
    }
}
