//! A killed run continues with the same bits; a light checkpoint continues without the past.

use crate::environments::{Pendulum, Point};
use offnominal_agents::config::{Keep, Normalise, Schedule};
use offnominal_agents::{ALL, Algorithm, Contents, Evaluation, TrainConfig, Trainer};
use offnominal_core::Seed;
use offnominal_core::env::Env;
use std::cell::Cell;

fn config_of(algorithm: &str) -> TrainConfig {
    TrainConfig {
        steps: 260,
        buffer: 120,
        learning_starts: 40,
        batch: 16,
        hidden: vec![16, 16],
        n_envs: 3,
        restart_after: 11,
        average: 150,
        schedule: Schedule::Linear,
        normalise: Normalise::Running,
        eval_every: 70,
        eval_episodes: 2,
        ..TrainConfig::for_env("point").with_algorithm(algorithm).unwrap()
    }
}

fn config() -> TrainConfig {
    config_of("tqc")
}

fn finished(mut run: Trainer) -> Vec<u8> {
    while !run.is_done() {
        run.advance(13);
    }
    run.checkpoint(Contents::Full)
}

#[track_caller]
fn resumes_at(steps: &[u64], algorithm: &Algorithm) {
    let (point, id) = (Point::for_algorithm(algorithm), algorithm.id);
    let begin = || Trainer::new(config_of(id), &point, Seed(3)).unwrap();
    let whole = finished(begin());
    for &step in steps {
        let mut run = begin();
        while run.steps() < step {
            run.advance(step - run.steps());
        }
        let bytes = run.checkpoint(Contents::Full);
        drop(run);
        let resumed = Trainer::resume(&bytes, &point).unwrap();
        assert_eq!(resumed.steps(), step);
        assert!(finished(resumed) == whole, "{id}: other bits after a break at step {step}");
    }
}

#[test]
fn stopped_in_an_evaluation_a_run_ends_with_the_same_bits() {
    let (point, config) = (Point::new(), TrainConfig { steps: 140, ..config() });
    let begin = || Trainer::new(config.clone(), &point, Seed(3)).unwrap();
    let whole = finished(begin());
    for step in [70, 140] {
        let (mut run, asked) = (begin(), Cell::new(0));
        while run.steps() < step - 1 {
            run.advance(step - 1 - run.steps());
        }
        // Yes to the step and to the first of the two episodes of the evaluation.
        let go_on = || asked.replace(asked.get() + 1) < 2;
        assert_eq!(run.advance_while(9, &go_on).evaluation, None);
        assert!(run.steps() == step && !run.is_done());
        let resumed = Trainer::resume(&run.checkpoint(Contents::Full), &point).unwrap();
        assert!(finished(resumed) == whole, "other bits after a break in the evaluation at step {step}");
    }
}

#[test]
fn resumed_at_any_step_a_run_ends_with_the_same_bits() {
    resumes_at(&[0, 25, 41, 100, 139, 259], &ALL[0]);
}

#[test]
fn every_algorithm_resumes_with_the_same_bits() {
    for algorithm in ALL {
        resumes_at(&[42, 139], algorithm);
    }
}

#[test]
fn the_seed_decides() {
    let run = |seed| finished(Trainer::new(config(), &Point::new(), Seed(seed)).unwrap());
    assert!(run(3) == run(3));
    assert!(run(3) != run(4));
}

#[test]
fn a_light_checkpoint_refills_its_buffer() {
    let mut run = Trainer::new(config(), &Point::new(), Seed(3)).unwrap();
    run.advance(69);
    let (light, full) = (run.checkpoint(Contents::Light), run.checkpoint(Contents::Full));
    assert!(light.len() + 69 * 4 * 7 <= full.len());
    let mut resumed = Trainer::resume(&light, &Point::new()).unwrap();
    let losses = resumed.advance(39).losses;
    assert_eq!(losses, Default::default());
    resumed.advance(100);
    assert_ne!(resumed.advance(100).losses, losses);
}

#[test]
fn bad_checkpoints_are_refused_with_a_reason() {
    let mut run = Trainer::new(config(), &Point::new(), Seed(3)).unwrap();
    run.advance(100);
    let bytes = run.checkpoint(Contents::Full);
    let refuse = |bytes: &[u8], env: &dyn Env, want: &str| {
        let found = Trainer::resume(bytes, env).err().expect("a refusal").to_string();
        assert!(found.contains(want), "{found}");
    };
    refuse(&bytes, &Pendulum::new(), "expected a run in pendulum-test, found point");
    refuse(&bytes[..bytes.len() - 1], &Point::new(), "expected a safetensors file");
    refuse(b"", &Point::new(), "expected a safetensors file");
    let policy = run.actor().to_bytes();
    refuse(&policy, &Point::new(), "expected \"offnominal-training-1\", found \"offnominal-actor-1\"");
}

#[test]
fn an_unknown_algorithm_gets_the_nearest() {
    let wrong = TrainConfig { algorithm: "tqc2".into(), ..config() };
    let found = Trainer::new(wrong, &Point::new(), Seed(1)).err().expect("a refusal").to_string();
    assert!(found.contains("did you mean \"tqc\"?"), "{found}");
}

#[test]
fn an_algorithm_for_other_actions_is_refused() {
    let refuse = |algorithm: &str, env: &dyn Env, want: &str| {
        let found = Trainer::new(config_of(algorithm), env, Seed(1)).err().expect("a refusal").to_string();
        assert_eq!(found, want);
    };
    let real = "environment point: dqn expects one action that is a choice; those for the others are: tqc, sac, td3, ddpg";
    refuse("dqn", &Point::new(), real);
    let choice =
        "environment point: td3 expects actions that are real numbers; those for the others are: dqn";
    refuse("td3", &Point::with_choices(), choice);
}

#[test]
fn the_recipe_says_which_actor_is_kept() {
    let steps_kept = |keep| {
        let config = TrainConfig { keep, steps: 280, ..config() };
        let mut run = Trainer::new(config, &Point::new(), Seed(3)).unwrap();
        let mut found: Vec<Evaluation> = Vec::new();
        while !run.is_done() {
            found.extend(run.advance(1).evaluation);
        }
        let order = |a: &&Evaluation, b: &&Evaluation| a.mean_return.total_cmp(&b.mean_return);
        let best = found.iter().max_by(order).unwrap().step;
        (run.best().unwrap().0.step, best, found.last().unwrap().step)
    };
    let (kept, best, last) = steps_kept(Keep::Best);
    assert_eq!((kept, last), (best, 280));
    assert_ne!(best, last, "the last one happens to be the best: nothing was tested");
    assert_eq!(steps_kept(Keep::Last).0, last);
}

/// Full thrust, whatever is seen.
fn push(_: &[f32], action: &mut [f32]) {
    action.fill(1.0);
}

#[test]
fn a_demonstrator_actions_the_first_steps_also_across_a_break() {
    let config = TrainConfig { demonstrations: 100, ..config() };
    let begin = || Trainer::new(config.clone(), &Point::new(), Seed(3)).unwrap();
    let whole = finished(begin().demonstrated_by(Box::new(push)));
    assert!(whole != finished(begin()), "the demonstrator changes nothing");
    let mut run = begin().demonstrated_by(Box::new(push));
    run.advance(60);
    let resumed = Trainer::resume(&run.checkpoint(Contents::Full), &Point::new()).unwrap();
    assert!(finished(resumed.demonstrated_by(Box::new(push))) == whole);
}

#[test]
fn scaled_rewards_are_for_the_learner_only() {
    let begin = |reward_scale, learning_starts| {
        let config = TrainConfig { reward_scale, learning_starts, ..config() };
        Trainer::new(config, &Point::new(), Seed(3)).unwrap()
    };
    let played = |mut run: Trainer| {
        let mut progress = run.advance(1);
        while run.steps() < 250 {
            progress = run.advance(50);
        }
        (progress.mean_return, run.actor().to_bytes())
    };
    // Before anything is learnt the same episodes are played and reported.
    let [plain, scaled] = [1.0, 0.1].map(|scale| played(begin(scale, 1000)).0);
    assert!(plain.is_some() && plain == scaled, "{plain:?} {scaled:?}");
    let [plain, scaled] = [1.0, 0.1].map(|scale| played(begin(scale, 40)).1);
    assert!(plain != scaled, "the learner sees no difference");
}
