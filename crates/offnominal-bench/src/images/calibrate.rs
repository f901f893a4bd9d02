//! How strong a camera fault is, whoever looks: the magnitudes at which images keep 99, 90, 75 and 50 % of their
//! structural similarity to the clean ones.

use crate::images::similarity::similarity;
use anyhow::Result;
use offnominal_core::image_detector::Video;
use offnominal_core::prelude::*;
use offnominal_engine::context::Context;
use offnominal_engine::frames::{FrameSize, video};
use offnominal_engine::strengths::{CAMERA_POLICY, LEVELS, Status, Strength};
use offnominal_engine::subject::Subject;
use offnominal_engine::{catalogues, frames as replaying, parallel};
use offnominal_stats::Level;
use offnominal_stats::mean::student_t;
use offnominal_worlds::anomaly::{Deviations, Domain, Search, camera_ids_for, searches};
use serde_json::json;

/// Episodes that are recorded, and steps of each that are looked at.
const EPISODES: usize = 4;
const STEPS: usize = 16;
/// Halvings of the interval in which a magnitude lies.
const HALVINGS: usize = 10;
/// How far from the target the similarity may be, as a share of what the target loses.
const TOLERANCE: f64 = 0.3;

/// The strengths of all faults of an environment's camera.
///
/// # Errors
/// If the environment has no camera.
pub fn cameras(subject: &Subject, frame_size: FrameSize, context: &Context) -> Result<Vec<Strength>> {
    replaying::check(subject.env.spec())?;
    let root = Seed(context.seed).child("cameras");
    let videos: Vec<Video> = (0..EPISODES)
        .map(|i| video(&subject.trial(), &subject.trial().nominal(root.child(i)), frame_size))
        .collect::<Result<_>>()?;
    let ids = camera_ids_for(subject.env.spec());
    let bar = context.task(ids.len(), "camera faults");
    let rows = parallel::map(context.jobs, ids.len(), &bar, |i| {
        let search = searches(subject.env.spec(), &ids[i], &Deviations::default())?[0];
        let fault = Faulty { id: &ids[i], videos: &videos, search, seed: root.child(ids[i].as_str()) };
        LEVELS
            .iter()
            .map(|&(level, target)| fault.level(subject.env.spec(), level, target))
            .collect::<Result<Vec<_>>>()
    })?;
    Ok(rows.into_iter().flatten().collect())
}

struct Faulty<'a> {
    id: &'a str,
    videos: &'a [Video],
    search: Search,
    seed: Seed,
}

impl Faulty<'_> {
    /// Mean similarity of the images of each video at a magnitude.
    fn similarities(&self, spec: &EnvSpec, magnitude: f64) -> Result<Vec<f64>> {
        let mut means = Vec::new();
        for (i, video) in self.videos.iter().enumerate() {
            let mut fault = catalogues::anomalies().build(self.id, &json!({ "magnitude": magnitude }))?;
            fault.fit(spec)?;
            let (mut rng, mut frame) = (self.seed.child(i).rng(), Frame::new(video.width, video.height));
            frame.rgb.copy_from_slice(video.frame(0));
            fault.watch_frame(&frame);
            let steps = video.len().min(STEPS);
            let mut sum = 0.0;
            for t in 1..=steps {
                frame.rgb.copy_from_slice(video.frame(t));
                fault.on_frame(&mut frame, &mut rng);
                sum += similarity(&frame.rgb, video.frame(t), video.width);
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
            episodes: self.videos.len() as u64,
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
        let subject = Subject::new("sap-goal0", "tqc").unwrap();
        let context = Context::silent(1, 2);
        let rows = cameras(&subject, FrameSize { side: 32 }, &context).unwrap();
        assert_eq!(rows.len(), 9 * LEVELS.len());
        for fault in rows.chunks(LEVELS.len()) {
            let found: Vec<f64> = fault.iter().filter_map(|r| r.magnitude).collect();
            assert!(found.is_sorted(), "{}: {found:?}", fault[0].anomaly);
        }
        let noise = rows.iter().find(|r| r.anomaly == "cam-patch" && r.level == "extreme").unwrap();
        assert!(noise.status == Status::Found && (noise.score.unwrap() - 0.5).abs() < 0.1, "{noise:?}");
    }
}
