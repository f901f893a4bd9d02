//! The law of noise, and fixtures that break it: one takes from the environment's stream, one draws as it sees fit.

use super::*;

/// What a decorator with sensor noise does wrong.
fn violations(decorated: impl Fn(Box<dyn Env>) -> Box<dyn Env>) -> Vec<&'static str> {
    let (plain, noisy) = (echo(), decorated(Box::new(echo())));
    let readings = |env: &dyn Env, commands: fn(usize) -> f32| -> Vec<[f32; 2]> {
        let (mut env, mut world, mut obs) = (env.fork().unwrap(), Rng::new(5), [0.0; 2]);
        env.start(&[0.5], &mut world);
        let mut step = |t| {
            env.step(&[commands(t)], &mut world);
            env.observe(&mut obs);
            obs
        };
        (0..30).map(&mut step).collect()
    };
    let errors = |commands: fn(usize) -> f32| -> Vec<f32> {
        let pairs = readings(&plain, commands).into_iter().zip(readings(noisy.as_ref(), commands));
        pairs.map(|(truth, found)| found[0] - truth[0]).collect()
    };
    let own = |env: &dyn Env| -> Vec<f32> { readings(env, |_| 1.0).iter().map(|o| o[1]).collect() };
    // An anomaly changes the commands of a twin half-way.
    let (twin, anomalous) = (errors(|_| 1.0), errors(|t| if t < 15 { 1.0 } else { 3.0 }));
    let differ = twin.iter().zip(&anomalous).any(|(a, b)| (a - b).abs() > 1e-5);
    let all = [
        ("takes from the environment's stream", own(&plain) != own(noisy.as_ref())),
        ("draws differ between twins", differ),
    ];
    all.into_iter().filter(|(_, broken)| *broken).map(|(name, _)| name).collect()
}

/// Noise without a stream of its own, or with as many draws as there are large readings.
struct Careless<'e> {
    env: Box<dyn Env + 'e>,
    rng: Option<Rng>,
    error: f64,
}

impl crate::env_layer::EnvLayer for Careless<'_> {
    fn inner(&self) -> &dyn Env {
        self.env.as_ref()
    }
    fn inner_mut(&mut self) -> &mut dyn Env {
        self.env.as_mut()
    }
    fn around<'e>(&self, env: Box<dyn Env + 'e>) -> Option<Box<dyn Env + 'e>> {
        Some(Box::new(Careless { env, rng: self.rng.clone(), error: self.error }))
    }
    fn observe(&self, obs: &mut [f32]) {
        self.env.observe(obs);
        obs[0] += self.error as f32;
    }
    fn step(&mut self, action: &[f32], rng: &mut Rng) -> Step {
        let step = self.env.step(action, rng);
        let own = self.rng.as_mut().unwrap_or(rng);
        let draws = if action[0] > 2.0 { 2 } else { 1 };
        self.error = (0..draws).map(|_| own.normal()).last().unwrap();
        step
    }
}

#[test]
fn noise_obeys_its_law_and_broken_fixtures_do_not() {
    let lawful = violations(|env| {
        let terms =
            noise(Term { white: 1.0, turn_on: 0.3, walk: 0.2, ..Term::default() }, Term::default(), 0.0);
        Box::new(Noisy::new(env, terms, "echo?noise=test", "Noise.").unwrap())
    });
    assert!(lawful.is_empty(), "{lawful:?}");
    let careless = |rng: Option<Rng>| {
        violations(|_| Box::new(Careless { env: Box::new(echo()), rng: rng.clone(), error: 0.0 }))
    };
    assert_eq!(careless(Some(Rng::new(1))), ["draws differ between twins"]);
    assert_eq!(careless(None), ["takes from the environment's stream", "draws differ between twins"]);
}
