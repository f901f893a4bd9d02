//! The task in lock step, and with a robot at sockets that behaves or does not.

use super::super::goals::{GOALS, INTERVAL, is_near};
use super::*;
use offnominal_rtde::simulated::Served;
use offnominal_rtde::simulated::station::Settings;
use serde_json::json;

/// Two corners of the box that are farthest apart, in turn.
const FAR: [[f64; 3]; GOALS] = [[0.15, 0.35, 0.1], [-0.25, 0.25, 0.2], [0.15, 0.25, 0.2], [-0.25, 0.35, 0.1]];

fn world() -> Box<dyn Env> {
    build(&json!({}), Ports::default()).unwrap()
}

fn started(goals: [[f64; 3]; GOALS]) -> Box<dyn Env> {
    let mut world = world();
    world.start(goals.as_flattened(), &mut Rng::new(0));
    world
}

fn seen(world: &dyn Env) -> [f32; 9] {
    let mut obs = [0.0; 9];
    world.observe(&mut obs);
    obs
}

/// The action that leads straight to the goal that is seen.
fn straight(obs: &[f32], action: &mut [f32]) {
    for i in 0..3 {
        action[i] = ((obs[6 + i] - obs[i]) / 0.04).clamp(-1.0, 1.0);
    }
}

fn step(world: &mut dyn Env) -> Step {
    let mut action = [0.0; 3];
    straight(&seen(world), &mut action);
    world.step(&action, &mut Rng::new(0))
}

#[test]
fn the_farthest_goals_are_reached_in_time() {
    let mut world = started(FAR);
    for interval in 1..=GOALS {
        (1..INTERVAL).for_each(|_| assert_eq!(step(world.as_mut()).status, Status::Running));
        let obs = seen(world.as_ref());
        let away = distance([0, 1, 2].map(|i| obs[i].into()), [6, 7, 8].map(|i| obs[i].into()));
        assert!(is_near(away), "goal {interval}: {away} m, {:?}", world.health());
        step(world.as_mut());
        assert_eq!(world.goal_met(), Some(true), "after goal {interval}");
    }
}

/// At a steady pace the arm runs after a target that jumps every step, so at the end of a step it is slower than on
/// average: with the lag T and r = dt/T by the factor r e⁻ʳ / (1 − e⁻ʳ), 0.74 for 0.07 s.
#[test]
fn velocities_are_the_changes_of_the_positions() {
    let mut world = started(FAR);
    (0..12).for_each(|_| assert_eq!(step(world.as_mut()).status, Status::Running));
    let before = seen(world.as_ref());
    step(world.as_mut());
    let after = seen(world.as_ref());
    let mean = (after[0] - before[0]) / DT_SECS as f32;
    assert!((mean - 0.25).abs() < 0.01 && (0.7..0.9).contains(&(after[3] / mean)), "{mean}, {}", after[3]);
    (0..60).for_each(|_| assert_eq!(world.step(&[0.0; 3], &mut Rng::new(0)).status, Status::Running));
    let at_rest = seen(world.as_ref());
    assert!(at_rest[3..6].iter().all(|v| v.abs() < 1e-3), "{at_rest:?}");
}

#[test]
fn wild_actions_do_not_leave_the_workspace() {
    let mut world = started(FAR);
    let mut rng = Rng::new(3);
    for _ in 0..300 {
        // One direction for a while, far beyond the bounds of the channels.
        let wild = [0; 3].map(|_| (1e6 * rng.normal()) as f32);
        for _ in 0..10 {
            assert_eq!(world.step(&wild, &mut Rng::new(0)).status, Status::Running, "{:?}", world.health());
        }
    }
}

#[test]
fn an_action_that_is_no_number_ends_the_episode_with_a_message() {
    let mut world = started(FAR);
    assert_eq!(world.step(&[f32::NAN, 0.0, 0.0], &mut Rng::new(0)), DIVERGED);
    assert!(world.health().unwrap_err().contains("expected a finite action, found NaN"));
    assert!(seen(world.as_ref()).iter().all(|v| v.is_finite()));
}

#[test]
fn an_episode_does_not_depend_on_the_one_before() {
    let play = |world: &mut dyn Env| {
        (0..30).for_each(|_| assert_eq!(step(world).status, Status::Running));
        seen(world)
    };
    let mut used = started([FAR[2]; GOALS]);
    let fresh = play(started(FAR).as_mut());
    play(used.as_mut());
    used.start(FAR.as_flattened(), &mut Rng::new(0));
    let again = play(used.as_mut());
    // The arm comes home to within its dry friction, not to the last bit.
    let off = again.iter().zip(fresh).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
    assert!(off < 5e-3, "{again:?} {fresh:?}");
}

#[test]
fn options_that_are_none_are_refused() {
    let error = build(&json!({"robott": "x"}), Ports::default()).err().unwrap().to_string();
    assert!(error.contains("unknown field `robott`"), "{error}");
}

fn at_sockets(served: &Served) -> Box<dyn Env> {
    build(&json!({"robot": "127.0.0.1"}), served.ports).unwrap()
}

/// One robot plays one episode after another, each from home, and what an anomaly changed is changed back.
#[test]
fn a_robot_plays_episodes_in_sequence() {
    let served = Served::locally(5.0, Settings::default()).unwrap();
    let env = at_sockets(&served);
    assert!(env.fork().is_none());
    let trial = Trial { horizon: 12, ..Trial::new(env.as_ref(), &straight) };
    let episodes: Vec<Episode> = (0..2_u64).map(|i| trial.nominal(Seed(i))).collect();
    let home = model::tool(&HOME).position_m;
    for episode in episodes {
        assert_eq!((episode.len(), episode.end), (12, End::TimedOut), "{:?}", env.health());
        let first = [0, 1, 2].map(|i| f64::from(episode.observations[i]));
        assert!(distance(first, home) < 2e-3, "{first:?}");
    }
    {
        let mut checked_out = env.checkout().unwrap();
        assert!(env.checkout().is_none(), "there is only one");
        checked_out.set_parameter("moving-goal", 1.0).unwrap();
    }
    let goal = |e: &Episode, t: usize| e.observations[9 * t + 6];
    let still = trial.nominal(Seed(5));
    assert_eq!(goal(&still, 0), goal(&still, 10), "the goal stands still again");
}

#[test]
fn a_protective_stop_ends_the_episode_and_stays() {
    let served =
        Served::locally(5.0, Settings { stop_after_secs: Some(0.5), ..Settings::default() }).unwrap();
    let env = at_sockets(&served);
    let trial = Trial::new(env.as_ref(), &straight);
    let episode = trial.nominal(Seed(1));
    assert_eq!(episode.end, End::Diverged);
    assert!(env.health().unwrap_err().contains("protective stop"), "{:?}", env.health());
    let next = trial.nominal(Seed(2));
    assert_eq!((next.len(), next.end), (1, End::Diverged), "it is not started again silently");
}

#[test]
fn a_connection_that_drops_ends_the_episode() {
    let served = Served::locally(5.0, Settings::default()).unwrap();
    let env = at_sockets(&served);
    let mut checked_out = env.checkout().unwrap();
    checked_out.start(FAR.as_flattened(), &mut Rng::new(0));
    (0..3).for_each(|_| assert_eq!(step(checked_out.as_mut()).status, Status::Running));
    drop(served);
    let ends = (0..100).any(|_| step(checked_out.as_mut()).status == Status::Diverged);
    assert!(ends && checked_out.health().is_err());
}

#[test]
fn a_host_that_is_no_robot_is_named() {
    let free = std::net::TcpListener::bind(("127.0.0.1", 0)).unwrap().local_addr().unwrap().port();
    let ports = Ports { rtde: free, ..Ports::default() };
    let error = build(&json!({"robot": "127.0.0.1"}), ports).err().unwrap().to_string();
    assert!(error.contains("127.0.0.1") && error.contains("does not answer"), "{error}");
}
