//! Laws of environments.

use crate::{Verdicts, Violation};
use offnominal_core::channel::spans;
use offnominal_core::policy::Random;
use offnominal_core::prelude::*;

/// Checks an environment that can be forked.
///
/// # Panics
/// If the environment cannot be forked.
pub fn env(env: &dyn Env, exempt: &[(Law, &'static str)]) -> Vec<Violation> {
    let mut verdicts = Verdicts::new(exempt);
    spec_is_sound(env, &mut verdicts);
    observations(env, &mut verdicts);
    let once = Walk::of(env, Seed(1));
    verdicts.require(Law::SameSeedSameBits, once == Walk::of(env, Seed(1)), || "two walks differ".into());
    let other = Walk::of(env, Seed(2));
    verdicts.require(Law::StartVaries, once.first() != other.first(), || "seeds 1 and 2 start alike".into());
    fork_shares_future(env, &mut verdicts);
    parameters(env, &once, &mut verdicts);
    draws_arrive(env, &once, &mut verdicts);
    choices(env, &mut verdicts);
    margin(env, &mut verdicts);
    normals(env, &mut verdicts);
    verdicts.found
}

/// Each number of a thousand initial conditions of either kind: the largest difference of their distribution functions, which
/// by chance is above 0.1 once in twenty thousand.
fn normals(env: &dyn Env, verdicts: &mut Verdicts<'_>) {
    let (search, mut rng) = (env.failure_search(), Seed(7).rng());
    if search.normals() == 0 {
        return;
    }
    let mut made = |_| {
        let z: Vec<f64> = (0..search.normals()).map(|_| rng.normal()).collect();
        search.of_normals(&z, &mut rng)
    };
    let made: Vec<Vec<f64>> = (0..1000).filter_map(&mut made).collect();
    let drawn: Vec<Vec<f64>> = (0..1000).map(|_| env.draw(&mut rng)).collect();
    for (i, name) in env.spec().initial.iter().enumerate() {
        let [a, b] = [&made, &drawn].map(|rows| rows.iter().map(|x| x[i]).collect::<Vec<_>>());
        let apart = a.iter().map(|v| (below(&a, *v) - below(&b, *v)).abs()).fold(0.0, f64::max);
        verdicts.require(Law::NormalsGiveDraws, apart < 0.1, || format!("{name} is {apart} apart"));
    }
}

/// The share of numbers that are not above one.
fn below(numbers: &[f64], one: f64) -> f64 {
    numbers.iter().filter(|v| **v <= one).count() as f64 / numbers.len() as f64
}

/// Random episodes of at most 400 steps, in which margin and status must agree wherever the environment has a margin.
fn margin(env: &dyn Env, verdicts: &mut Verdicts<'_>) {
    for seed in (0..3_u64).map(Seed) {
        let (mut env, mut policy) = (fork(env), Random::new(&env.spec().action));
        start(env.as_mut(), seed);
        let mut action = vec![0.0; env.spec().action.len()];
        let (mut rng, mut environment) = (seed.child("policy").rng(), seed.child("world").rng());
        for _ in 0..400 {
            policy.act(&[], &mut action, &mut rng);
            let status = env.step(&action, &mut environment).status;
            let Some(margin) = env.failure_search().margin() else { return };
            let agrees = (margin <= 0.0) == (status == Status::Failed);
            verdicts.require(Law::MarginTellsFailure, agrees, || format!("margin {margin} in {status:?}"));
            if status != Status::Running || !agrees {
                break;
            }
        }
    }
}

/// Observations and rewards of a random walk of at most 60 steps.
#[derive(Debug, PartialEq)]
struct Walk {
    width: usize,
    observations: Vec<f32>,
    rewards: Vec<f64>,
}

impl Walk {
    fn of(env: &dyn Env, seed: Seed) -> Walk {
        Walk::with(env, seed, &mut |_| ())
    }

    /// A walk before which `change` is applied to the environment, after the start.
    fn with(env: &dyn Env, seed: Seed, change: &mut dyn FnMut(&mut dyn Env)) -> Walk {
        let mut env = fork(env);
        start(env.as_mut(), seed);
        change(env.as_mut());
        Walk::on(env.as_mut(), seed, 60)
    }

    fn on(env: &mut dyn Env, seed: Seed, steps: usize) -> Walk {
        let mut policy = Random::new(&env.spec().action);
        let mut walk = Walk { width: env.spec().obs_width(), observations: vec![], rewards: vec![] };
        let mut action = vec![0.0; env.spec().action.len()];
        let (mut rng, mut environment) = (seed.child("policy").rng(), seed.child("world").rng());
        walk.look(env);
        for _ in 0..steps {
            policy.act(&[], &mut action, &mut rng);
            let step = env.step(&action, &mut environment);
            walk.rewards.push(step.reward);
            walk.look(env);
            if step.status != Status::Running {
                break;
            }
        }
        walk
    }

    fn look(&mut self, env: &dyn Env) {
        let from = self.observations.len();
        self.observations.resize(from + self.width, f32::NAN);
        env.observe(&mut self.observations[from..]);
    }

    fn first(&self) -> &[f32] {
        &self.observations[..self.width]
    }
}

fn fork(env: &dyn Env) -> Box<dyn Env> {
    env.fork().expect("the laws need an environment that can be forked")
}

fn start(env: &mut dyn Env, seed: Seed) {
    let x = env.draw(&mut seed.child("initial").rng());
    env.start(&x, &mut seed.child("start").rng());
}

fn spec_is_sound(env: &dyn Env, verdicts: &mut Verdicts<'_>) {
    let spec = env.spec();
    let mut sound = |holds: bool, what: &str| verdicts.require(Law::SpecIsSound, holds, || what.to_string());
    for text in [&spec.id, &spec.summary, &spec.source, &spec.reward, &spec.reset, &spec.success] {
        sound(!text.trim().is_empty(), "a text of the card is empty");
    }
    for channel in spec.observation.iter().chain(&spec.action) {
        sound(!channel.name.is_empty() && !channel.meaning.is_empty(), "a channel has no name or no meaning");
        sound(!channel.unit.is_empty() && channel.low < channel.high, &format!("channel {}", channel.name));
    }
    for p in &spec.parameters {
        sound((p.low..=p.high).contains(&p.nominal), &format!("nominal value of {} is out of range", p.name));
        sound(!p.meaning.is_empty() && !p.unit.is_empty(), &format!("parameter {}", p.name));
    }
    sound(unique(spec.observation.iter().map(|c| &c.name)), "two observation channels share a name");
    sound(unique(spec.action.iter().map(|c| &c.name)), "two action channels share a name");
    sound(unique(spec.parameters.iter().map(|p| &p.name)), "two parameters share a name");
    sound(spec.dt_secs > 0.0 && spec.horizon > 0, "expected a positive clock and horizon");
    let x = env.draw(&mut Rng::new(0));
    sound(x.len() == spec.initial.len(), "initial condition is not as long as its names");
}

fn unique<'a>(names: impl Iterator<Item = &'a String>) -> bool {
    let mut seen = std::collections::HashSet::new();
    names.into_iter().all(|n| seen.insert(n))
}

fn observations(env: &dyn Env, verdicts: &mut Verdicts<'_>) {
    let walks: Vec<Walk> = (0..8_u64).map(|i| Walk::of(env, Seed(100 + i))).collect();
    let spec = env.spec();
    for (channel, span) in spec.observation.iter().zip(spans(&spec.observation)) {
        let rows =
            || walks.iter().flat_map(|w| w.observations.chunks_exact(w.width)).map(|r| &r[span.clone()]);
        let column = || rows().flatten().copied();
        let first = rows().next().unwrap_or(&[]);
        // Of an image, the background may stay as it is: some pixel has to change.
        verdicts.require(Law::EveryChannelVaries, rows().any(|r| r != first), || {
            format!("{} is always {first:?}", channel.name)
        });
        if let Some(v) = column().find(|v| !v.is_finite()) {
            verdicts.require(Law::IsFinite, false, || format!("{} = {v}", channel.name));
        }
        // Bounds are f64, observations f32: allow the rounding.
        let slack = |bound: f64| 1e-5 * bound.abs().max(1.0);
        let outside = |v: f64| v < channel.low - slack(channel.low) || v > channel.high + slack(channel.high);
        if let Some(v) = column().find(|&v| outside(f64::from(v))) {
            verdicts.require(Law::StaysInBounds, false, || {
                format!("{}: expected [{}, {}], found {v}", channel.name, channel.low, channel.high)
            });
        }
    }
    if let Some(r) = walks.iter().flat_map(|w| &w.rewards).find(|r| !r.is_finite()) {
        verdicts.require(Law::IsFinite, false, || format!("a reward is {r}"));
    }
}

/// Forks in the middle of a walk: both go on alike, and the fork's steps do not move the original.
fn fork_shares_future(env: &dyn Env, verdicts: &mut Verdicts<'_>) {
    let mut original = fork(env);
    start(original.as_mut(), Seed(3));
    Walk::on(original.as_mut(), Seed(3), 5);
    let mut copy = fork(original.as_ref());
    let futures = (Walk::on(copy.as_mut(), Seed(4), 20), Walk::on(original.as_mut(), Seed(4), 20));
    verdicts.require(Law::ForkSharesFuture, futures.0 == futures.1, || {
        "a fork and its original differ after the same actions".into()
    });
}

fn parameters(env: &dyn Env, nominal: &Walk, verdicts: &mut Verdicts<'_>) {
    let spec = env.spec();
    let refused = |name: &str, value: f64| {
        let mut accepted = false;
        let walk = Walk::with(env, Seed(1), &mut |e| accepted = e.set_parameter(name, value).is_ok());
        !accepted && walk == *nominal
    };
    verdicts.require(Law::RefusesBadParameters, refused("no-such-parameter", 1.0), || {
        "an unknown parameter was accepted, or changed the environment".into()
    });
    for p in &spec.parameters {
        for bad in [f64::NAN, beyond(p.low, -1.0), beyond(p.high, 1.0)] {
            verdicts.require(Law::RefusesBadParameters, refused(&p.name, bad), || {
                format!("{} accepts {bad}; its range is [{}, {}]", p.name, p.low, p.high)
            });
        }
        let walk_at = |value: f64| {
            Walk::with(env, Seed(1), &mut |e| e.set_parameter(&p.name, value).expect("a value in the range"))
        };
        verdicts.require(Law::NominalIsNeutral, walk_at(p.nominal) == *nominal, || {
            format!("setting {} to its nominal {} changes the future", p.name, p.nominal)
        });
        let bites = other_values(p).into_iter().any(|value| walk_at(value) != *nominal);
        verdicts.require(Law::ParameterBites, bites, || {
            format!("setting {} to any of {:?} changes nothing", p.name, other_values(p))
        });
    }
}

/// What is set before an episode, as a draw for it is, must be there in it: at the start and after each step.
fn draws_arrive(env: &dyn Env, nominal: &Walk, verdicts: &mut Verdicts<'_>) {
    for p in &env.spec().parameters {
        let mut bites = false;
        for value in other_values(p) {
            let mut drawn = fork(env);
            // What cannot be together with the other parameters is refused, and drawn anew.
            if drawn.set_parameter(&p.name, value).is_err() {
                continue;
            }
            start(drawn.as_mut(), Seed(1));
            let at_start = drawn.parameter(&p.name);
            bites |= Walk::on(drawn.as_mut(), Seed(1), 60) != *nominal;
            for found in [at_start, drawn.parameter(&p.name)] {
                let agrees = found.is_some_and(|found| (found - value).abs() <= 1e-6 * value.abs().max(1e-3));
                verdicts.require(Law::DrawArrives, agrees, || {
                    format!("{} was set to {value} before the episode, in which it is {found:?}", p.name)
                });
            }
        }
        verdicts.require(Law::DrawArrives, bites, || {
            format!("{} at any of {:?} before the episode changes nothing in it", p.name, other_values(p))
        });
    }
}

/// What an environment makes of an action that is a choice: the nearest one, and the first or last beyond the ends.
fn choices(env: &dyn Env, verdicts: &mut Verdicts<'_>) {
    let action = env.spec().action.clone();
    for (i, channel) in action.iter().enumerate().filter(|(_, c)| c.is_choice()) {
        let brings = |command: f32| after(env, i, command);
        let last = (channel.choices - 1) as f32;
        for (found, meant) in [(0.4, 0.0), (-3.0, 0.0), (last - 0.4, last), (last + 0.4, last), (1e9, last)] {
            verdicts.require(Law::RoundsChoices, brings(found) == brings(meant), || {
                format!("{}: {found} does not do what {meant} does", channel.name)
            });
        }
        verdicts.require(Law::RoundsChoices, brings(f32::NAN).0.status == Status::Diverged, || {
            format!("{}: the environment goes on after an action that is no number", channel.name)
        });
    }
}

/// What one step brings in which action `i` is as given and all others are the lowest possible.
fn after(env: &dyn Env, i: usize, command: f32) -> (Step, Vec<f32>) {
    let mut env = fork(env);
    start(env.as_mut(), Seed(5));
    let mut action: Vec<f32> = env.spec().action.iter().map(|c| c.low.max(-1.0) as f32).collect();
    action[i] = command;
    let step = env.step(&action, &mut Seed(6).rng());
    let mut seen = vec![0.0; env.spec().obs_width()];
    env.observe(&mut seen);
    (step, seen)
}

/// A value just outside an end of a range; an open end is left by what is not a number.
fn beyond(end: f64, outwards: f64) -> f64 {
    if end.is_finite() { end + outwards * 1e-9 * end.abs().max(1.0) } else { f64::NAN }
}

/// Values far from nominal, but not at the ends of the range. A limit may bite in one direction only.
fn other_values(p: &Parameter) -> [f64; 2] {
    let far = 2.0 * p.nominal.abs() + 1.0;
    let high = if p.high.is_finite() { p.high } else { far };
    let low = if p.low.is_finite() { p.low } else { -far };
    [0.5 * (p.nominal + high), 0.5 * (p.nominal + low)]
}
