//! Residuals of an ensemble as normal scores, step by step, with what was not read left out.
//!
//! g = the normal scores of z (see [`super::normal_scores`]), C their second moments on held-out nominal steps, and
//! w = L⁻¹ g with C = L Lᵀ: nominal w have unit covariance. Where numbers were not read, g holds conditional means.

use super::gap_filter::GapFilter;
use super::marginal::Marginal;
use super::normal_scores::NormalScores;
use super::prelude::*;
use super::ranges::Hidden;
use super::residual::{HeldOut, Residual};
use super::training::Training;
use super::whiten::Whitener;

/// The ensemble, and what is known of its nominal residuals. Forks share both.
#[derive(Clone)]
pub(crate) struct Scored {
    residual: Residual,
    nominal: Arc<Known>,
    gaps: GapFilter,
    marginal: Marginal,
    /// Normal scores of the last step.
    g: Vec<f64>,
}

/// What is known of nominal residuals, and of their normal scores.
struct Known {
    residuals: Whitener,
    scores: NormalScores,
    whitener: Whitener,
}

impl Scored {
    /// Fits the ensemble; returns with it the normal scores of the held-out residuals of each training episode.
    pub fn fit(
        nominal: Nominal<'_>,
        hidden: &Hidden,
        members: NonZeroUsize,
        training: &Training,
        rng: &mut Rng,
    ) -> Result<(Scored, Vec<HeldOut>), FitError> {
        let (residual, mut episodes) = Residual::fit(nominal, hidden, members, training, rng)?;
        let (rows, d) = (episodes.concat(), residual.width());
        let residuals = Whitener::fit(rows.chunks_exact(d), d);
        let scores = NormalScores::fit(&rows, d);
        episodes.iter_mut().flat_map(|e| e.chunks_exact_mut(d)).for_each(|g| scores.apply(g));
        let whitener = Whitener::fit(episodes.iter().flat_map(|e| e.chunks_exact(d)), d);
        Ok((Scored::new(residual, Known { residuals, scores, whitener }), episodes))
    }

    fn new(residual: Residual, known: Known) -> Scored {
        let d = residual.width();
        let (gaps, marginal) = (GapFilter::new(&residual), Marginal::new(d));
        Scored { residual, nominal: Arc::new(known), gaps, marginal, g: vec![0.0; d] }
    }

    /// Writes the ensemble and what is known.
    pub fn save(&self, to: &mut Writer<'_>) {
        self.residual.save(to);
        self.nominal.residuals.save(&mut to.part("residuals"));
        self.nominal.scores.save(&mut to.part("scores"));
        self.nominal.whitener.save(&mut to.part("whitener"));
    }

    /// Reads an ensemble with such hidden layers and so many members.
    pub fn load(from: &Reader<'_>, hidden: &Hidden, members: NonZeroUsize) -> Result<Scored, ArchiveError> {
        let residual = Residual::load(from, hidden, members)?;
        let d = residual.width();
        let residuals = Whitener::load(&from.part("residuals"), d)?;
        let scores = NormalScores::load(&from.part("scores"), d)?;
        let whitener = Whitener::load(&from.part("whitener"), d)?;
        Ok(Scored::new(residual, Known { residuals, scores, whitener }))
    }

    /// Number of channels.
    pub fn width(&self) -> usize {
        self.g.len()
    }

    /// The observation channels, in the order of the scores; fewer than [`Scored::width`] only where none varies.
    pub fn channels(&self) -> &[usize] {
        self.residual.channels()
    }

    /// Writes what each channel contributes to |L⁻¹ x|².
    pub fn contributions(&self, x: &[f64], out: &mut [f64]) {
        self.nominal.whitener.contributions(x, out);
    }

    /// As [`Residual::evidence`], of a residual alone.
    pub fn evidence(&self, contributions: &[f64]) -> Evidence {
        self.residual.evidence("residual", contributions)
    }

    /// L⁻¹ x, in place.
    pub fn whiten(&self, x: &mut [f64]) {
        self.nominal.whitener.whiten(x);
    }

    /// Another episode begins.
    pub fn reset(&mut self) {
        self.gaps.reset();
    }

    /// Reads a step for its inputs alone; see [`Scored::inputs`].
    pub fn read_inputs(&mut self, seen: &Transition<'_>) {
        self.residual.read(seen);
    }

    /// What the networks read of the last step: observation and action, standardised.
    pub fn inputs(&self) -> &[f32] {
        self.residual.inputs()
    }

    /// The scores g of a step.
    pub fn of(&mut self, seen: &Transition<'_>) -> &[f64] {
        self.marginal.clear();
        self.residual.of(seen, &mut self.g);
        self.nominal.scores.apply(&mut self.g);
        &self.g
    }

    /// The scores of a step with gaps: conditional means in place of what was not read.
    pub fn of_partial(&mut self, step: &Partial<'_>) -> &[f64] {
        let Known { scores, whitener, .. } = &*self.nominal;
        let bend = |z: &[f64], direction: &mut [f64]| scores.bend(z, direction);
        self.residual.with_gaps(step, whitener, &mut self.marginal, &mut self.g, bend);
        scores.apply(&mut self.g);
        self.marginal.leave_out(&mut self.g, whitener);
        if self.marginal.n_left() == 0 {
            // Not even what rounding leaves.
            self.g.fill(0.0);
        }
        &self.g
    }

    /// The scores of the last step.
    pub fn last(&self) -> &[f64] {
        &self.g
    }

    /// What was left out of the last step.
    pub fn marginal(&self) -> &Marginal {
        &self.marginal
    }

    /// As [`Scorer::fill`].
    pub fn fill(&mut self, gaps: &mut Gaps<'_>) {
        self.gaps.fill(gaps, &mut self.residual, &self.nominal.residuals);
    }
}
