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

    /// The features of the policy that acted, and those of nominal observations as in [`Features::pools`].
    ///
    /// # Errors
    /// If there is no policy, or as in [`Features::open`] and [`Features::pools`].
    pub fn of_nominal(
        nominal: Nominal<'_>,
        most: NonZeroUsize,
        rng: &mut Rng,
    ) -> Result<(Features, Vec<Pool>), FitError> {
        let mut features = Features::open(nominal.policy()?, nominal.train, rng)?;
        let pools = features.pools(nominal.train, most)?;
        Ok((features, pools))
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

    /// Writes what is needed to open the policy again.
    pub fn save(&self, to: &mut Writer<'_>) {
        self.samples.save(to);
    }

    /// Writes the model of each member.
    pub fn save_members<T>(to: &mut Writer<'_>, members: &[T], save: impl Fn(&T, &mut Writer<'_>)) {
        for (m, member) in members.iter().enumerate() {
            save(member, &mut to.part("member").part(m));
        }
    }

    /// Reads the model of each member, given the width of its features.
    pub fn load_members<T>(
        &self,
        from: &Reader<'_>,
        load: impl Fn(&Reader<'_>, usize) -> Result<T, ArchiveError>,
    ) -> Result<Vec<T>, ArchiveError> {
        let shape = self.samples.shape();
        (0..shape.members).map(|m| load(&from.part("member").part(m), shape.features)).collect()
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
    /// If the features of a member never vary.
    pub fn pools(&mut self, train: &[Signals<'_>], most: NonZeroUsize) -> Result<Vec<Pool>, FitError> {
        let shape = self.samples.shape();
        let rows: Vec<&[f32]> =
            train.iter().flat_map(|e| e.observations().chunks_exact(e.obs_width())).collect();
        let mut pools = vec![Vec::new(); shape.members];
        for obs in rows.iter().step_by(rows.len().div_ceil(most.get())) {
            pools.iter_mut().zip(self.of(obs)).for_each(|(pool, row)| pool.extend_from_slice(row));
        }
        pools.into_iter().map(|pool| standardised(&pool, shape.features)).collect()
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
            features.pools(&episode, NonZeroUsize::new(most).unwrap()).unwrap()[4].1.len()
        };
        assert_eq!([10, 9, 5, 4].map(|most| n(&mut features, most)), [10, 5, 5, 4]);
    }
}
