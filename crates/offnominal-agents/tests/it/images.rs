//! A policy that sees: training, files, predictions and resumption in an environment of images.

use crate::environments::{Dot, Point};
use offnominal_agents::config::Normalise;
use offnominal_agents::{Actor, Contents, TrainConfig, Trainer};
use offnominal_core::env::Env;
use offnominal_core::policy::Policy;
use offnominal_core::{Rng, Seed};
use offnominal_laws::{assert_lawful, policy};
use offnominal_nets::Tensors;

fn config() -> TrainConfig {
    TrainConfig {
        steps: 400,
        buffer: 150,
        learning_starts: 50,
        demonstrations: 0,
        imitation: 0.0,
        advice: false,
        hidden: vec![16],
        filters: vec![[3, 3, 4]],
        normalise: Normalise::None,
        train_every: 2,
        eval_every: 200,
        epsilon_steps: 200,
        ..TrainConfig::preset("pong").unwrap()
    }
}

fn finished(mut run: Trainer) -> Vec<u8> {
    while !run.is_done() {
        run.advance(37);
    }
    run.checkpoint(Contents::Full)
}

fn trained(more: &[(&str, &str)]) -> Actor {
    let recipe = more.iter().fold(config(), |recipe, (name, value)| recipe.with(name, value).unwrap());
    let mut run = Trainer::new(recipe, &Dot::new(), Seed(1)).unwrap();
    run.advance(120);
    run.actor()
}

#[test]
fn a_dot_is_brought_to_the_middle() {
    let recipe = TrainConfig { steps: 4_000, epsilon_steps: 2_000, eval_every: 4_000, lr: 3e-3, ..config() };
    let mut run = Trainer::new(recipe, &Dot::new(), Seed(2)).unwrap();
    let found = std::iter::from_fn(|| Some(run.advance(1_000))).find_map(|p| p.evaluation).unwrap();
    // From the edge it takes two steps, the first of which costs 1; chance loses about ten.
    assert!(found.mean_return > -1.5, "{found:?}");
}

/// Away from the middle: what no reward would teach.
fn flee(obs: &[f32], action: &mut [f32]) {
    let column = (0..6).find(|c| obs[36 + 18 + c] > 100.0).expect("the dot is in its row");
    action[0] = if column < 3 { 0.0 } else { 2.0 };
}

#[test]
fn advice_is_followed_against_the_reward_and_also_where_demonstrations_never_were() {
    let recipe = TrainConfig {
        steps: 1_200,
        demonstrations: 20,
        imitation: 100.0,
        advice: true,
        lr: 3e-3,
        ..config()
    };
    let mut run = Trainer::new(recipe, &Dot::new(), Seed(4)).unwrap().demonstrated_by(Box::new(flee));
    run.advance(1_200);
    let (mut dot, mut obs, mut actor) = (Dot::new(), vec![0.0; 72], run.actor());
    for column in 0..6 {
        let (mut told, mut found) = ([9.0], [9.0]);
        dot.start(&[column as f64], &mut Rng::new(1));
        dot.observe(&mut obs);
        flee(&obs, &mut told);
        actor.act(&obs, &mut found, &mut Rng::new(1));
        assert_eq!(found, told, "column {column}");
    }
}

#[test]
fn resumed_at_any_step_a_run_ends_with_the_same_bits() {
    resumes(config());
    resumes(TrainConfig { normalise: Normalise::Centred, ..config() });
}

#[track_caller]
fn resumes(config: TrainConfig) {
    let begin = || Trainer::new(config.clone(), &Dot::new(), Seed(3)).unwrap();
    let whole = finished(begin());
    for step in [30, 199, 333] {
        let mut run = begin();
        while run.steps() < step {
            run.advance(step - run.steps());
        }
        let resumed = Trainer::resume(&run.checkpoint(Contents::Full), &Dot::new()).unwrap();
        assert!(finished(resumed) == whole, "other bits after a break at step {step}");
    }
}

#[test]
fn a_policy_read_back_predicts_the_same() {
    let obs: Vec<f32> = (0..72).map(|i| (i * 31 % 256) as f32).collect();
    for more in [
        &[][..],
        &[("dropout", "0.2")],
        &[("dropconnect", "0.2")],
        &[("normalise", "centred"), ("dropout", "0.2")],
    ] {
        let (before, dot) = (trained(more), Dot::new());
        assert_lawful("dqn", &policy(&before, dot.spec(), &[]));
        let after = Actor::from_bytes(&before.to_bytes(), dot.spec()).unwrap();
        assert_eq!((after.to_bytes(), after.net()), (before.to_bytes(), before.net()));
        if after.n_predictions() > 1 {
            let (mut a, mut b) = (before.samples(None).unwrap(), after.samples(None).unwrap());
            let heads = a.predict(&obs, &mut Rng::new(5)).heads.to_vec();
            assert_eq!(heads, b.predict(&obs, &mut Rng::new(5)).heads);
            let passes: Vec<&[f32]> = heads.chunks_exact(3).collect();
            assert!(passes.iter().any(|pass| *pass != passes[0]), "expected passes that differ: {heads:?}");
        }
    }
}

#[test]
fn members_with_other_filters_are_refused() {
    let (one, other) = (trained(&[]), trained(&[("filters", "[[2,2,4],[3,3,9]]")]));
    let found = Actor::ensemble(vec![one.clone(), other]).unwrap_err().to_string();
    assert!(
        found.contains("filters [[3, 3, 4]]") && found.contains("filters [[2, 2, 4], [3, 3, 9]]"),
        "{found}"
    );
    let found =
        Actor::ensemble(vec![one.clone(), trained(&[("normalise", "centred")])]).unwrap_err().to_string();
    assert!(found.contains("on centred images"), "{found}");
    let both = Actor::ensemble(vec![one.clone(), one]).unwrap();
    assert_eq!(Actor::from_bytes(&both.to_bytes(), Dot::new().spec()).unwrap().n_members(), 2);
}

#[test]
fn filters_that_do_not_fit_are_refused() {
    let refuses = |env: &dyn Env, filters: &str, want: &str| {
        let recipe = config().with("filters", filters).unwrap();
        let found = Trainer::new(recipe, env, Seed(1)).err().expect("a refusal").to_string();
        assert!(found.contains(want), "{found}");
    };
    refuses(&Dot::new(), "[[7,1,4]]", "[[7, 1, 4]] fitting on it; found 6 pixels by 6 in dot");
    refuses(&Point::with_choices(), "[[3,1,4]]", "found point, which shows 2 channels");
    let found = config().with("filters", "[[3,0,4]]").unwrap_err().to_string();
    assert!(found.contains("filters: expected positive counts"), "{found}");
    let found = config().with("normalise", "running").unwrap_err().to_string();
    assert!(found.contains("none or centred where filters are given"), "{found}");
    let found = TrainConfig::for_env("point").with("normalise", "centred").unwrap_err().to_string();
    assert!(found.contains("none or running without filters"), "{found}");
}

#[test]
fn an_edited_encoder_is_refused_with_a_reason() {
    let refuses = |edit: &dyn Fn(&mut Tensors), want: &str| {
        let mut file = Tensors::from_bytes(&trained(&[]).to_bytes()).unwrap();
        edit(&mut file);
        let found = Actor::from_bytes(&file.to_bytes(), Dot::new().spec()).unwrap_err().to_string();
        assert!(found.contains(want), "{found}");
    };
    let header = |value: &str| {
        let value = value.to_string();
        move |f: &mut Tensors| drop(f.metadata.insert("filters".into(), value.clone()))
    };
    refuses(&header("[[9,3,4]]"), "expected \"filters that fit on the image of dot\", found \"[[9,3,4]]\"");
    refuses(&header("many"), "found \"many\"");
    refuses(&header("[[3,3,5]]"), "expected 20 features of its filters as the environment has, found 16");
    refuses(&|f| f.insert("eye.0.bias", &[1], &[0.0]), "expected shape [4], found [1]");
}
