//! What an environment knows that helps to search for failures and to estimate how rare they are.

use crate::Rng;

/// What a search for failures asks an environment. Every answer has a default, which is right for any environment; a
/// better one makes the search cheaper, never wrong.
pub trait FailureSearch {
    /// What answers where nothing else is said: the search of the environment inside a layer.
    fn inner(&self) -> Option<&dyn FailureSearch> {
        None
    }

    /// What a predictor of failure reads of the initial condition `x`; the length is fixed per environment.
    fn features(&self, x: &[f64]) -> Vec<f64> {
        self.inner().map_or_else(|| x.to_vec(), |inner| inner.features(x))
    }

    /// What a predictor of failure reads of an initial condition that leads past many places, such as a track; `None`
    /// where it does not.
    fn places(&self, x: &[f64]) -> Option<Places> {
        self.inner()?.places(x)
    }

    /// At which of these places the present state is; `None` where there are none.
    fn current_place(&self) -> Option<usize> {
        self.inner()?.current_place()
    }

    /// Whether [`Env::draw`](crate::env::Env::draw) can give `x`; asked of conditions that a search proposes.
    fn admits(&self, x: &[f64]) -> bool {
        self.inner().is_none_or(|inner| inner.admits(x))
    }

    /// A random neighbour of `x`, or `x` itself. The proposal is reversible with respect to the distribution P of initial
    /// conditions. `None` where the environment offers none.
    fn vary(&self, x: &[f64], rng: &mut Rng) -> Option<Vec<f64>> {
        self.inner()?.vary(x, rng)
    }

    /// How many independent standard normal numbers an initial condition is made of, where its distribution is stated; 0
    /// where it is not.
    fn normals(&self) -> usize {
        self.inner().map_or(0, FailureSearch::normals)
    }

    /// The initial condition that so many standard normal numbers stand for, so that numbers drawn at random give P. What is
    /// not stated is drawn from `rng`. `None` for what P does not have: it is P for the numbers that have a condition.
    fn of_normals(&self, z: &[f64], rng: &mut Rng) -> Option<Vec<f64>> {
        self.inner()?.of_normals(z, rng)
    }

    /// How far the present state is from what the environment counts as failure: zero or less exactly where it has
    /// failed;
    /// `None` where the environment does not say.
    fn margin(&self) -> Option<f64> {
        self.inner()?.margin()
    }

    /// What is required, the most important first, where that is told apart; else nothing.
    fn requirements(&self) -> &[String] {
        self.inner().map_or(&[], FailureSearch::requirements)
    }

    /// How far the present state is from breaking a requirement, by its place among them: zero or less exactly where that
    /// is broken.
    fn margin_of(&self, requirement: usize) -> f64 {
        self.inner().map_or(f64::INFINITY, |inner| inner.margin_of(requirement))
    }
}

/// All defaults: nothing is known but how to play.
#[derive(Debug, Clone, Copy)]
pub struct Uninformed;

impl FailureSearch for Uninformed {}

/// The places that an episode leads past, in their order, with the same numbers at each.
#[derive(Debug, Clone, PartialEq)]
pub struct Places {
    /// Numbers at a place.
    pub width: usize,
    /// The numbers, place after place.
    pub numbers: Vec<f64>,
}
