//! Detectors that each break one law, and the proof that the laws see it.

use super::{Chorus, Law, detector, detector_with};
use crate::Rng;
use crate::archive::{ArchiveError, Reader, Writer};
use crate::detector::{Detector, FitError, Monitor, Signals, Transition, check};
use crate::policy::Policy;
use crate::samples::PolicySamples;
use std::sync::atomic::{AtomicU32, Ordering};

/// A sound detector, a running mean of the distance from the nominal mean in standard deviations, with at most one
/// flaw: the law it breaks.
#[derive(Clone)]
struct Distance {
    flaw: Option<Law>,
    /// Mean and standard deviation of each channel that varies.
    channels: Vec<(usize, f64, f64)>,
    running: f64,
}

/// What two fits share only by mistake.
static FITS: AtomicU32 = AtomicU32::new(0);

impl Distance {
    fn with(flaw: Option<Law>) -> Distance {
        Distance { flaw, channels: Vec::new(), running: 0.0 }
    }

    fn has(&self, flaw: Law) -> bool {
        self.flaw == Some(flaw)
    }

    fn distance(&self, obs: &[f32]) -> f64 {
        let square = |&(c, mean, sd): &(usize, f64, f64)| {
            let z = (f64::from(obs[c]) - mean) / sd;
            let sound = if z.is_finite() { z.clamp(-1e6, 1e6) } else { 1e6 };
            if self.has(Law::IsFinite) { z * z } else { sound * sound }
        };
        self.channels.iter().map(square).sum::<f64>().sqrt()
    }
}

impl Detector for Distance {
    fn fit(
        &self,
        train: &[Signals<'_>],
        _: &[Signals<'_>],
        _: &mut Rng,
    ) -> Result<Box<dyn Monitor>, FitError> {
        let mut fitted = self.clone();
        match check(train, 1) {
            Err(_) if self.has(Law::RefusesBadData) => return Ok(Box::new(fitted)),
            verdict => verdict?,
        }
        let n: f64 = train.iter().map(|e| (e.len() + 1) as f64).sum();
        for c in 0..train[0].obs_width() {
            let rows = || train.iter().flat_map(|e| e.observations().chunks_exact(e.obs_width()));
            let mean = rows().map(|r| f64::from(r[c])).sum::<f64>() / n;
            let sd = (rows().map(|r| (f64::from(r[c]) - mean).powi(2)).sum::<f64>() / n).sqrt();
            if sd > 1e-6 || self.has(Law::IgnoresConstantChannels) {
                fitted.channels.push((c, mean, sd + 1e-6));
            }
        }
        if self.has(Law::SameSeedSameBits) {
            fitted.channels[0].1 += f64::from(FITS.fetch_add(1, Ordering::Relaxed));
        }
        Ok(Box::new(fitted))
    }

    fn load(&self, from: &Reader<'_>, _: Option<&dyn Policy>) -> Result<Box<dyn Monitor>, ArchiveError> {
        let mut fitted = self.clone();
        for c in 0..from.obs_width {
            if let [mean, sd] = from.part(c).exactly("moments", 2)? {
                fitted.channels.push((c, *mean, *sd));
            }
        }
        Ok(Box::new(fitted))
    }
}

impl Monitor for Distance {
    fn reset(&mut self) {
        if !self.has(Law::ResetForgets) {
            self.running = 0.0;
        }
    }

    fn score(&mut self, seen: &Transition<'_>) -> f64 {
        self.running = 0.5 * (self.running + self.distance(seen.next_obs));
        if self.has(Law::SeesGrossFaults) { -self.running } else { self.running }
    }

    fn score_episode(&mut self, seen: &Signals<'_>, scores: &mut Vec<f64>) {
        self.reset();
        scores.clear();
        scores.extend(seen.transitions().map(|step| self.score(&step)));
        if self.has(Law::StreamedEqualsBatch) {
            let largest = scores.iter().copied().fold(0.0, f64::max);
            scores.iter_mut().for_each(|s| *s /= largest);
        }
    }

    fn score_episodes(&mut self, seen: &[Signals<'_>]) -> Vec<Vec<f64>> {
        let score = |episode: &Signals<'_>| {
            // With the flaw, an episode goes on where the one before it ended.
            if !self.has(Law::TogetherEqualsAlone) {
                self.reset();
            }
            episode.transitions().map(|seen| self.score(&seen)).collect()
        };
        seen.iter().map(score).collect()
    }

    fn fork(&self) -> Box<dyn Monitor> {
        let mut copy = self.clone();
        if self.has(Law::ForkSharesFuture) {
            copy.reset();
        }
        Box::new(copy)
    }

    fn save(&self, to: &mut Writer<'_>) -> Result<(), ArchiveError> {
        for (channel, mean, sd) in &self.channels {
            // The flawed one keeps rounded numbers.
            let mean = if self.has(Law::LoadsAsSaved) { f64::from(*mean as f32) } else { *mean };
            to.part(channel).put("moments", &[mean, *sd]);
        }
        Ok(())
    }
}

#[test]
fn a_sound_detector_breaks_no_law() {
    assert_eq!(detector(&Distance::with(None), &[]), []);
}

#[test]
fn every_law_rejects_the_detector_that_breaks_it() {
    for law in [
        Law::SameSeedSameBits,
        Law::ForkSharesFuture,
        Law::IsFinite,
        Law::ResetForgets,
        Law::StreamedEqualsBatch,
        Law::TogetherEqualsAlone,
        Law::IgnoresConstantChannels,
        Law::SeesGrossFaults,
        Law::RefusesBadData,
        Law::LoadsAsSaved,
    ] {
        let violations = detector(&Distance::with(Some(law)), &[]);
        assert!(violations.iter().any(|v| v.law == law), "{law:?} was not seen; found {violations:?}");
    }
}

#[test]
fn an_exempted_law_is_not_reported() {
    let exempt = [(Law::SeesGrossFaults, "a fixture")];
    assert_eq!(detector(&Distance::with(Some(Law::SeesGrossFaults)), &exempt), []);
}

/// Looks inside the policy with one generator for all that it sees, so that its scores depend on what came before.
#[derive(Clone, Copy)]
struct Restless;

struct Looking(Box<dyn PolicySamples>, Rng);

impl Detector for Restless {
    fn fit(&self, _: &[Signals<'_>], _: &[Signals<'_>], _: &mut Rng) -> Result<Box<dyn Monitor>, FitError> {
        Err(FitError::NoPolicy)
    }

    fn fit_with(
        &self,
        policy: &dyn Policy,
        train: &[Signals<'_>],
        _: &[Signals<'_>],
        rng: &mut Rng,
    ) -> Result<Box<dyn Monitor>, FitError> {
        check(train, 1)?;
        Ok(Box::new(Looking(policy.samples(None)?, Rng::new(rng.bits()))))
    }
}

impl Monitor for Looking {
    fn reset(&mut self) {}

    fn score(&mut self, seen: &Transition<'_>) -> f64 {
        let told = self.0.predict(seen.next_obs, &mut self.1);
        let largest = told.heads.iter().fold(0.0, |most: f32, v| most.max(v.abs()));
        f64::from(if largest.is_finite() { largest } else { f32::MAX })
    }

    fn fork(&self) -> Box<dyn Monitor> {
        Box::new(Looking(self.0.fork(), self.1.clone()))
    }
}

#[test]
fn random_passes_that_run_on_from_episode_to_episode_are_caught() {
    let found: Vec<Law> = detector(&Restless, &[]).into_iter().map(|v| v.law).collect();
    for law in [Law::StreamedEqualsBatch, Law::ResetForgets, Law::IgnoresConstantChannels] {
        assert!(found.contains(&law), "{law:?} was not seen; found {found:?}");
    }
    // With members nothing is random, and only the channel that the policy reads is left.
    let members = |width| Box::new(Chorus::members(width)) as Box<dyn Policy>;
    let found: Vec<Law> = detector_with(&Restless, &members, &[]).into_iter().map(|v| v.law).collect();
    assert!(found.iter().all(|law| *law == Law::IgnoresConstantChannels), "{found:?}");
}
