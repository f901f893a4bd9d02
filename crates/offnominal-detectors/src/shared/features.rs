//! Penultimate features of a policy: of one network the mean over its passes, of an ensemble those of each member.
//!
//! Members have features of their own that cannot be compared, so each gets a model of its own.

use super::prelude::*;
use super::samples::SeededSamples;
use super::scale::Scale;

/// Reads the features of a policy for one observation after another.
#[derive(Clone)]
pub(crate) struct Features {
    samples: SeededSamples,
    /// `[members, width]`.
    mean: Vec<f32>,
}

/// Standardised nominal features of one member: units, and the rows in these units.
pub(crate) type Pool = (Scale, Vec<f32>);

impl Features {
    /// Opens the policy that acted in the episodes.
    ///
    /// # Errors
    /// As [`SeededSamples::open`], or if its networks have no hidden layer.
    pub fn open(policy: &dyn Policy, train: &[Signals<'_>], rng: &mut Rng) -> Result<Features, FitError> {
        Ok(Features::new(SeededSamples::open(policy, None, train, rng)?)?)
    }

    /// Opens the policy again.
    pub fn load(from: &Reader<'_>, policy: Option<&dyn Policy>) -> Result<Features, ArchiveError> {
        Ok(Features::new(SeededSamples::load(from, policy, None)?)?)
    }

    fn new(samples: SeededSamples) -> Result<Features, SamplesError> {
        let shape = samples.shape();
        if shape.features == 0 {
            return Err(lacks("without one"));
        }
        Ok(Features { mean: vec![0.0; shape.members * shape.features], samples })
    }

    /// The features for an observation, a row for each member.
    pub fn of(&mut self, obs: &[f32]) -> std::slice::ChunksExact<'_, f32> {
        let shape = self.samples.shape();
        let share = (shape.predictions / shape.members) as f32;
        let predictions = self.samples.predict(obs);
        self.mean.fill(0.0);
        for row in predictions.features.chunks_exact(self.mean.len()) {
            self.mean.iter_mut().zip(row).for_each(|(mean, f)| *mean += f / share);
        }
        self.mean.chunks_exact(shape.features)
    }

    /// The features of nominal observations, at most so many, evenly spread: one pool per member.
    ///
    /// # Errors
    /// If the features of a member never vary, or the fit is to stop.
    pub fn pools(
        &mut self,
        train: &[Signals<'_>],
        most: NonZeroUsize,
        progress: FitProgress<'_>,
    ) -> Result<Vec<Pool>, FitError> {
        let shape = self.samples.shape();
        let rows: Vec<&[f32]> =
            train.iter().flat_map(|e| e.observations().chunks_exact(e.obs_width())).collect();
        let mut pools = vec![Vec::new(); shape.members];
        let stride = rows.len().div_ceil(most.get());
        for (i, obs) in rows.iter().step_by(stride).enumerate() {
            progress.at(i * stride, rows.len())?;
            pools.iter_mut().zip(self.of(obs)).for_each(|(pool, row)| pool.extend_from_slice(row));
        }
        pools.into_iter().map(|pool| standardised(&pool, shape.features)).collect()
    }
}

/// A model of the nominal features of one member.
pub(crate) trait MemberModel: Clone + Send + Sync + 'static {
    /// How far features lie from nominal ones.
    fn distance(&mut self, features: &[f32]) -> f64;

    /// Writes what was learned.
    fn save(&self, to: &mut Writer<'_>);
}

/// A fitted detector whose score is the mean over the members of the distances of their features.
#[derive(Clone)]
pub(crate) struct Members<M> {
    features: Features,
    models: Vec<M>,
}

impl<M: MemberModel> Members<M> {
    /// Fits a model to each pool of the features of nominal observations, at most so many.
    ///
    /// # Errors
    /// If there is no policy, or as in [`Features::open`] and [`Features::pools`], or that of a model.
    pub fn fit(
        nominal: Nominal<'_>,
        most: NonZeroUsize,
        rng: &mut Rng,
        model: impl Fn(Pool) -> Result<M, FitError>,
    ) -> Result<Box<dyn Scorer>, FitError> {
        let mut features = Features::open(nominal.policy()?, nominal.train, rng)?;
        let pools = features.pools(nominal.train, most, nominal.progress)?;
        let models = pools.into_iter().map(model).collect::<Result<_, _>>()?;
        Ok(Box::new(Members { features, models }))
    }

    /// Reads the model of each member, given the width of its features.
    pub fn load(
        from: &Reader<'_>,
        policy: Option<&dyn Policy>,
        model: impl Fn(&Reader<'_>, usize) -> Result<M, ArchiveError>,
    ) -> Result<Box<dyn Scorer>, ArchiveError> {
        let features = Features::load(from, policy)?;
        let shape = features.samples.shape();
        let model = |m| model(&from.part("member").part(m), shape.features);
        let models = (0..shape.members).map(model).collect::<Result<_, _>>()?;
        Ok(Box::new(Members { features, models }))
    }
}

impl<M: MemberModel> Scorer for Members<M> {
    fn score(&mut self, seen: &Transition<'_>) -> f64 {
        let rows = self.features.of(seen.next_obs);
        let sum: f64 = self.models.iter_mut().zip(rows).map(|(model, row)| model.distance(row)).sum();
        sum / self.models.len() as f64
    }

    fn save(&self, to: &mut Writer<'_>) -> Result<(), ArchiveError> {
        self.features.samples.save(to);
        for (m, model) in self.models.iter().enumerate() {
            model.save(&mut to.part("member").part(m));
        }
        Ok(())
    }
}

fn standardised(pool: &[f32], width: usize) -> Result<Pool, FitError> {
    let sound: Vec<f32> = pool.iter().map(|f| if f.is_finite() { *f } else { 0.0 }).collect();
    let scale = Scale::of_rows(&sound, width);
    if scale.width() == 0 {
        return Err(lacks("whose units never change").into());
    }
    let mut points = vec![0.0; sound.len() / width * scale.width()];
    for (row, z) in sound.chunks_exact(width).zip(points.chunks_exact_mut(scale.width())) {
        scale.apply(row, z);
    }
    Ok((scale, points))
}

fn lacks(found: &str) -> SamplesError {
    SamplesError::Unfit { expected: "with a hidden layer".into(), found: found.into() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use offnominal_laws::MockEnsemble;

    #[test]
    fn members_have_rows_of_their_own_and_passes_are_averaged() {
        let obs = [1.0, 2.0, 3.0, 4.0];
        let episode = [Signals::new(&obs, &[0.0], 2, 1)];
        let of = |policy: MockEnsemble| {
            let mut features = Features::open(&policy, &episode, &mut Rng::new(1)).unwrap();
            features.of(&[1.0, 2.0]).map(<[f32]>::to_vec).collect::<Vec<_>>()
        };
        let members = [[1., 2.], [2., -4.], [3., 6.], [4., -8.], [5., 10.]].map(|row| row.to_vec());
        assert_eq!(of(MockEnsemble::members(2)), members);
        assert_eq!(of(MockEnsemble::plain(2)), members[..1]);
        let passes = of(MockEnsemble::passes(2));
        // Each channel is a mean of five draws of 0 or 1.25 times its value.
        assert_eq!(passes.len(), 1);
        let quarters = passes[0][0] * 4.0;
        assert!((quarters - quarters.round()).abs() < 1e-6 && quarters <= 5.0, "{passes:?}");
    }

    #[test]
    fn pools_are_thinned_evenly() {
        let obs: Vec<f32> = (0..10).map(|i| i as f32).collect();
        let episode = [Signals::new(&obs, &[0.0; 9], 1, 1)];
        let mut features = Features::open(&MockEnsemble::members(1), &episode, &mut Rng::new(1)).unwrap();
        let n = |features: &mut Features, most| {
            features.pools(&episode, NonZeroUsize::new(most).unwrap(), FitProgress::unseen()).unwrap()[4]
                .1
                .len()
        };
        assert_eq!([10, 9, 5, 4].map(|most| n(&mut features, most)), [10, 5, 5, 4]);
    }
}
