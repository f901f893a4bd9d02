//! An environment of one number that pays its parameters at each step.

use offnominal_core::prelude::*;
use offnominal_core::randomised::{Around, Draws, Randomised};

/// Pays `wage` less `tax`, and `luck`, in each of five steps. A strict one cannot be with a `tax` above one half.
#[derive(Clone)]
struct Job {
    spec: EnvSpec,
    wage: f64,
    tax: f64,
    luck: f64,
    mood: f32,
    strict: bool,
}

fn job() -> Job {
    let channel = |name: &str| Channel::new(name, "a number", "1", -10.0, 10.0);
    let parameter = |name: &str, nominal: f64| Parameter::new(name, "a number", "1", nominal, 0.0, 4.0);
    let spec = EnvSpec {
        observation: vec![channel("mood")],
        action: vec![Channel::new("effort", "a number", "1", -1.0, 1.0)],
        horizon: 5,
        parameters: vec![parameter("wage", 2.0), parameter("tax", 0.4), parameter("luck", 0.0)],
        initial: vec!["mood".into()],
        source: "a fixture".into(),
        reward: "what is paid".into(),
        reset: "The mood is drawn.".into(),
        success: "None.".into(),
        ..EnvSpec::new("job", "a fixture")
    };
    Job { spec, wage: 2.0, tax: 0.4, luck: 0.0, mood: 0.0, strict: true }
}

impl Env for Job {
    spec_and_fork!();

    fn draw(&self, rng: &mut Rng) -> Vec<f64> {
        vec![rng.normal()]
    }

    fn start(&mut self, x: &[f64], _: &mut Rng) {
        self.mood = x[0] as f32;
    }

    fn observe(&self, obs: &mut [f32]) {
        obs[0] = self.mood;
    }

    fn step(&mut self, action: &[f32], rng: &mut Rng) -> Step {
        self.mood = 0.9 * self.mood + 0.1 * action[0] + 0.01 * rng.normal() as f32;
        Step::running(self.wage * (1.0 - self.tax) + self.luck)
    }

    fn set_parameter(&mut self, name: &str, value: f64) -> Result<(), ParameterError> {
        self.spec.check(name, value)?;
        if self.strict && name == "tax" && value > 0.5 {
            let (env, name, why) = ("job".into(), name.into(), "nobody would work".into());
            return Err(ParameterError::Refused { env, name, found: value, why });
        }
        match name {
            "wage" => self.wage = value,
            "tax" => self.tax = value,
            _ => self.luck = value,
        }
        Ok(())
    }

    fn parameter(&self, name: &str) -> Option<f64> {
        Some(match name {
            "wage" => self.wage,
            "tax" => self.tax,
            _ => self.luck,
        })
    }
}

fn around(names: &[&str], sigma: f64) -> Draws {
    let names: Vec<String> = names.iter().map(|&n| n.into()).collect();
    Draws::Around(Around::of(&job().spec, &names, sigma).unwrap())
}

fn randomised(draws: Draws) -> Randomised<'static> {
    Randomised::new(Box::new(job()), draws).unwrap()
}

#[test]
fn a_randomised_environment_obeys_the_laws_of_environments_but_for_what_it_is_made_for() {
    let lax = |draws| Randomised::new(Box::new(Job { strict: false, ..job() }), draws).unwrap();
    let exempt = [
        (Law::NominalIsNeutral, "an episode does not begin with nominal parameters"),
        (Law::DrawArrives, "its own draw takes the place of what was set before"),
    ];
    for environment in [lax(around(&["wage", "tax"], 0.2)), lax(around(&["wage"], 0.2))] {
        let violations = offnominal_laws::env(&environment, &exempt);
        assert!(violations.is_empty(), "{violations:?}");
    }
}

#[test]
fn parameters_are_a_part_of_where_an_episode_begins() {
    let environment = randomised(around(&["wage", "tax"], 0.2));
    assert_eq!(environment.spec().initial, ["wage", "tax", "mood"]);
    let mut copy = environment.fork().unwrap();
    let pay = |wage: f64, env: &mut dyn Env| {
        env.start(&[wage, 0.25, 0.0], &mut Rng::new(1));
        env.step(&[0.0], &mut Rng::new(1)).reward
    };
    assert_eq!((pay(2.0, copy.as_mut()), pay(1.0, copy.as_mut())), (1.5, 0.75));
}

#[test]
fn twins_are_drawn_once() {
    let Draws::Around(mut drawn) = around(&["wage", "tax"], 0.2) else { unreachable!("a spread") };
    drawn.quantities[1].twin = Some(0);
    let environment = randomised(Draws::Around(drawn));
    assert_eq!(environment.spec().initial, ["wage", "mood"]);
    // Half the wage is half the tax: 1 · (1 − 0.2).
    let mut copy = environment.fork().unwrap();
    copy.start(&[1.0, 0.0], &mut Rng::new(1));
    assert!((copy.step(&[0.0], &mut Rng::new(1)).reward - 0.8).abs() < 1e-12);
}

#[test]
fn draws_have_their_spread_and_are_drawn_anew_where_they_cannot_be() {
    let (environment, mut rng) = (randomised(around(&["wage", "tax"], 0.2)), Rng::new(2));
    let draws: Vec<Vec<f64>> = (0..2000).map(|_| environment.draw(&mut rng)).collect();
    let off = draws.iter().map(|x| (x[0] / 2.0 - 1.0).powi(2)).sum::<f64>() / 2000.0;
    assert!((off.sqrt() - 0.2).abs() < 0.015, "{}", off.sqrt());
    assert!(draws.iter().all(|x| x[1] <= 0.5) && draws.iter().any(|x| x[1] > 0.49));
}

#[test]
fn neighbours_have_the_distribution_of_draws() {
    let (environment, mut rng) = (randomised(around(&["wage", "tax"], 0.2)), Rng::new(3));
    let mean_of = |draws: &[Vec<f64>], i: usize| draws.iter().map(|x| x[i]).sum::<f64>() / draws.len() as f64;
    let draws: Vec<Vec<f64>> = (0..4000).map(|_| environment.draw(&mut rng)).collect();
    let next: Vec<Vec<f64>> =
        draws.iter().map(|x| environment.failure_search().vary(x, &mut rng).unwrap()).collect();
    // The standard errors are about .006 and .001; the tax, which is cut at one half, is the harder one.
    assert!((mean_of(&draws, 0) - mean_of(&next, 0)).abs() < 0.03);
    assert!((mean_of(&draws, 1) - mean_of(&next, 1)).abs() < 0.005);
    assert!(
        next.iter().all(|x| environment.failure_search().admits(x))
            && next.iter().zip(&draws).any(|(a, b)| a != b)
    );
}

#[test]
fn a_list_gives_its_rows_and_nothing_else() {
    let rows = vec![vec![1.0], vec![3.0]];
    let environment = randomised(Draws::Listed { names: vec!["wage".into()], rows });
    let mut rng = Rng::new(4);
    let wages: Vec<f64> = (0..200).map(|_| environment.draw(&mut rng)[0]).collect();
    let low = wages.iter().filter(|w| **w == 1.0).count();
    assert!(wages.iter().all(|w| [1.0, 3.0].contains(w)) && (60..140).contains(&low), "{low}");
    assert!(
        environment.failure_search().admits(&[3.0, 0.0]) && !environment.failure_search().admits(&[2.0, 0.0])
    );
}

#[test]
fn draws_that_make_no_sense_are_refused() {
    let refusal = |draws: Draws| Randomised::new(Box::new(job()), draws).err().unwrap().to_string();
    assert_eq!(refusal(around(&["wage"], -0.1)), "σ: expected a number above 0 and up to 1, found -0.1");
    assert!(refusal(around(&["luck"], 0.1)).contains("parameter luck of job is nominally 0"));
    assert_eq!(refusal(around(&[], 0.1)), "expected at least one parameter, found none");
    let row = |name: &str, value: f64| Draws::Listed { names: vec![name.into()], rows: vec![vec![value]] };
    assert!(refusal(row("wages", 1.0)).contains("did you mean \"wage\"?"));
    assert!(refusal(row("wage", 9.0)).contains("expected a value in [0, 4], found 9"));
    assert!(refusal(row("tax", 0.9)).contains("none of 1000 draws of the parameters of job can be"));
}
