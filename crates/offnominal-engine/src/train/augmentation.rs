//! Anomalies of the observation as data augmentation: what a policy learns from is what they would show.

use crate::catalogues;
use anyhow::{Context, Result, ensure};
use offnominal_agents::{Augmentation, TrainConfig};
use offnominal_core::prelude::*;
use offnominal_core::spec::Image;
use offnominal_worlds::anomaly::{self, Class, Domain};
use serde_json::json;

/// Share of the observations that stay as they were.
const NOMINAL: f64 = 0.5;

/// Anomalies of which one is drawn for an observation, with its magnitude.
pub(super) struct Anomalies {
    env: Box<dyn Env>,
    catalogue: Catalogue<dyn Anomaly>,
    drawn: Vec<Drawn>,
    /// The images that an anomaly has seen so far, and the same as it shows them.
    seen: Vec<f32>,
    shown: Vec<f32>,
}

/// An anomaly whose magnitude is drawn.
struct Drawn {
    id: String,
    neutral: f64,
    most: f64,
}

impl Anomalies {
    /// Those of a recipe, if it has any.
    ///
    /// # Errors
    /// If one is none of the observation, does not apply to the environment, or not with that magnitude.
    pub(super) fn of(config: &TrainConfig, env: &dyn Env) -> Result<Option<Anomalies>> {
        if config.augment.is_empty() {
            return Ok(None);
        }
        let of = |(id, &most): (&String, &f64)| {
            Drawn::new(id, most, env.spec()).with_context(|| format!("augment {id}"))
        };
        let drawn = config.augment.iter().map(of).collect::<Result<Vec<_>>>()?;
        let catalogue = catalogues::anomalies();
        for one in &drawn {
            one.spec(one.most).build(&catalogue, env).with_context(|| format!("augment {}", one.id))?;
        }
        let env = env.fork().with_context(|| format!("environment {} cannot be copied", env.spec().id))?;
        let width = env.spec().obs_width();
        Ok(Some(Anomalies { env, catalogue, drawn, seen: vec![0.0; width], shown: vec![0.0; width] }))
    }
}

impl Drawn {
    fn new(id: &str, most: f64, spec: &EnvSpec) -> Result<Drawn> {
        catalogues::check_anomaly(id, spec)?;
        let kind = anomaly::kind(id)?;
        ensure!(kind.class == Class::Observation, "expected an anomaly of the observation");
        ensure!(kind.domain != Domain::Whole, "expected an anomaly whose magnitude is no count");
        Ok(Drawn { id: id.into(), neutral: kind.neutral, most })
    }

    fn spec(&self, magnitude: f64) -> AnomalySpec {
        let params = json!({ "magnitude": magnitude });
        AnomalySpec { anomaly: self.id.clone(), params, schedule: Schedule::WHOLE }
    }
}

impl Augmentation for Anomalies {
    fn augment(&mut self, obs: &mut [f32], next_obs: &mut [f32], rng: &mut Rng) {
        if rng.uniform() < NOMINAL {
            return;
        }
        let drawn = &self.drawn[rng.below(self.drawn.len())];
        let magnitude = drawn.neutral + rng.uniform() * (drawn.most - drawn.neutral);
        let checked = "the largest magnitude was built before, and the neutral one always can be";
        let built = drawn.spec(magnitude).build(&self.catalogue, self.env.as_ref());
        let mut anomaly = built.expect(checked);
        anomaly.begin(self.env.as_mut(), rng);
        if let Some(image) = self.env.spec().image() {
            show(anomaly.as_mut(), (image, obs), (&mut self.seen, &mut self.shown), rng);
        } else {
            anomaly.on_observation(obs, rng);
        }
        anomaly.on_observation(next_obs, rng);
    }
}

/// Shows an anomaly a stack of images as it came to be, one by one: each gets a draw of its own.
fn show(
    anomaly: &mut dyn Anomaly,
    (image, obs): (Image, &mut [f32]),
    (seen, shown): (&mut [f32], &mut [f32]),
    rng: &mut Rng,
) {
    let (len, last) = (image.frame_len(), image.width() - image.frame_len());
    for newest in obs.chunks_exact(len) {
        seen.copy_within(len.., 0);
        seen[last..].copy_from_slice(newest);
        shown.copy_from_slice(seen);
        anomaly.on_observation(shown, rng);
    }
    obs.copy_from_slice(shown);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(env: &str, augment: &[(&str, f64)]) -> Result<(Box<dyn Env>, Anomalies)> {
        let env = catalogues::environments().build(env, &json!({})).unwrap();
        let augment = augment.iter().map(|&(id, most)| (id.to_string(), most)).collect();
        let config = TrainConfig { augment, ..TrainConfig::for_env(&env.spec().id) };
        let found = Anomalies::of(&config, env.as_ref())?.unwrap();
        Ok((env, found))
    }

    /// Shares of the observations that stayed, and of those after them.
    fn shares_unchanged(env: &str, augment: &[(&str, f64)], n: usize) -> [f64; 2] {
        let (env, mut found) = of(env, augment).unwrap();
        let (mut rng, mut env) = (Rng::new(1), env.fork().unwrap());
        let x = env.draw(&mut rng);
        env.start(&x, &mut rng);
        let mut obs = vec![0.0; env.spec().obs_width()];
        env.observe(&mut obs);
        let mut same = [0, 0];
        for _ in 0..n {
            let (mut now, mut next) = (obs.clone(), obs.clone());
            found.augment(&mut now, &mut next, &mut rng);
            same[0] += usize::from(now == obs);
            same[1] += usize::from(next == obs);
        }
        same.map(|count| count as f64 / n as f64)
    }

    #[test]
    fn half_of_the_observations_are_disturbed_and_the_next_ones_with_them() {
        let [now, next] = shares_unchanged("cartpole", &[("obs-noise", 0.1), ("obs-offset", 0.1)], 2000);
        // Four standard errors.
        assert!((now - 0.5).abs() < 0.045 && now == next, "{now} {next}");
        let [now, next] = shares_unchanged("pong", &[("img-gaussian-noise", 2.0)], 60);
        assert!((now - 0.5).abs() < 0.26 && now == next, "{now} {next}");
    }

    #[test]
    fn each_image_of_a_stack_is_disturbed_and_keeps_its_draw_in_the_next_observation() {
        let (_, mut found) = of("pong", &[("img-gaussian-noise", 5.0)]).unwrap();
        let (len, mut rng) = (84 * 84, Rng::new(3));
        let changed = std::iter::repeat_with(|| {
            let (mut now, mut next) = (vec![128.0; 4 * len], vec![128.0; 4 * len]);
            found.augment(&mut now, &mut next, &mut rng);
            (now, next)
        });
        let (now, next) = changed.take(50).find(|(now, _)| now[0..len] != [128.0; 84 * 84]).unwrap();
        let images: Vec<&[f32]> = now.chunks_exact(len).collect();
        assert!(images.windows(2).all(|two| two[0] != two[1]));
        assert_eq!(now[len..], next[..3 * len]);
    }

    #[test]
    fn what_is_none_of_the_observation_is_refused() {
        let refusal = |env, id, most| format!("{:#}", of(env, &[(id, most)]).err().unwrap());
        assert!(refusal("cartpole", "dyn-gravity", 2.0).contains("expected an anomaly of the observation"));
        assert!(refusal("cartpole", "img-fog", 2.0).contains("augment img-fog"));
        assert!(refusal("pong", "img-pixelate", 7.0).contains("severity from 0 to 5"));
        assert!(refusal("pong", "img-pixellate", 1.0).contains("did you mean \"img-pixelate\"?"));
    }
}
