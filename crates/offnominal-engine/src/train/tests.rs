//! A run that is broken off and continued leaves the policy of one that was not.

use crate::catalogues;
use crate::train::*;

fn config(steps: u64) -> TrainConfig {
    let sap = TrainConfig::for_env("sap-goal0");
    TrainConfig { steps, batch: 16, hidden: vec![16], eval_every: 300, eval_episodes: 2, ..sap }
}

fn common() -> Context {
    Context::silent(0, 1)
}

fn environment() -> Box<dyn Env> {
    catalogues::environments().build("sap-goal0", &serde_json::json!({})).unwrap()
}

fn begin(steps: u64, folder: &Folder) -> Result<Run> {
    begin_with(Keepsakes::default(), steps, folder)
}

fn begin_with(keepsakes: Keepsakes, steps: u64, folder: &Folder) -> Result<Run> {
    Run::begin(
        config(steps),
        environment().as_ref(),
        Seed(1),
        folder.clone(),
        Given { command: "the command".into(), ..Given::default() },
        keepsakes,
    )
}

#[test]
fn a_continued_run_leaves_the_same_policy_and_a_full_card() {
    let (env, dir) = (environment(), tempfile::tempdir().unwrap());
    let (whole, parts) = (Folder::new(dir.path().join("whole")), Folder::new(dir.path().join("parts")));
    let card = begin(500, &whole).unwrap().finish(env.as_ref(), &common()).unwrap();
    begin(300, &parts).unwrap().finish(env.as_ref(), &common()).unwrap();
    let continued = Run::resume(env.as_ref(), parts.clone(), Some(500), Seed(1)).unwrap();
    let other = continued.finish(env.as_ref(), &common()).unwrap();
    assert_eq!(std::fs::read(whole.policy()).unwrap(), std::fs::read(parts.policy()).unwrap());
    assert_eq!((card.sha256.as_str(), card.mean_return), (other.sha256.as_str(), other.mean_return));
    assert_eq!((card.command.as_str(), card.steps, card.id.as_str()), ("the command", 500, "sap-goal0-tqc"));
    assert_eq!((other.command.as_str(), other.steps), ("the command --steps 500", 500));
}

#[test]
fn a_run_is_not_overwritten_and_a_missing_one_not_resumed() {
    let (env, dir) = (environment(), tempfile::tempdir().unwrap());
    let folder = Folder::new(dir.path().to_path_buf());
    let missing = Run::resume(env.as_ref(), folder.clone(), None, Seed(0)).err().unwrap().to_string();
    assert!(missing.contains("no run to resume"), "{missing}");
    begin(120, &folder).unwrap().finish(env.as_ref(), &common()).unwrap();
    let taken = begin(120, &folder).err().unwrap().to_string();
    assert!(taken.contains("already holds a run: continue it with --resume"), "{taken}");
}

#[test]
fn a_checkpoint_is_due_after_every_evaluation_and_when_the_last_is_old() {
    let mut trainer = Trainer::new(config(400), environment().as_ref(), Seed(1)).unwrap();
    let first = trainer.advance(CHUNK);
    assert!(!is_due(&first, Duration::ZERO) && is_due(&first, CHECKPOINT_EVERY));
    let evaluated = trainer.advance(400);
    assert_eq!((evaluated.steps, evaluated.evaluation.is_some()), (300, true));
    assert!(is_due(&evaluated, Duration::ZERO));
}

/// Number of TensorBoard files in a folder.
fn n_event_files(folder: &Folder) -> usize {
    let files = std::fs::read_dir(folder.path()).unwrap().flatten();
    files.filter(|f| f.file_name().to_string_lossy().starts_with("events.")).count()
}

#[test]
fn a_finished_run_adds_no_event_file_and_keeps_its_seed() {
    let (env, dir) = (environment(), tempfile::tempdir().unwrap());
    let folder = Folder::new(dir.path().to_path_buf());
    let card = begin(120, &folder).unwrap().finish(env.as_ref(), &common()).unwrap();
    let again = Run::resume(env.as_ref(), folder.clone(), None, Seed(0)).unwrap();
    assert_eq!(again.finish(env.as_ref(), &common()).unwrap().sha256, card.sha256);
    assert_eq!(n_event_files(&folder), 1);
    let other = Run::resume(env.as_ref(), folder.clone(), None, Seed(2)).err().unwrap().to_string();
    assert!(other.contains("--seed 2: expected the seed 1 of the run in"), "{other}");
}

#[test]
fn the_command_of_an_extended_run_has_its_steps() {
    let commands = ["train --env x --seed 1", "train --env x --steps 9 --seed 1", "train --env x --steps 9"];
    let extended = commands.map(|command| with_steps(command, 20));
    let wanted = [
        "train --env x --steps 20 --seed 1",
        "train --env x --steps 20 --seed 1",
        "train --env x --steps 20",
    ];
    assert_eq!(extended, wanted);
}

#[test]
fn demonstrations_need_a_scripted_policy_or_one_that_is_named() {
    let dir = tempfile::tempdir().unwrap();
    let folder = Folder::new(dir.path().to_path_buf());
    let begin = |demonstrations: u64, demonstrator: Option<&str>| {
        let config = TrainConfig { demonstrations, ..config(120) };
        let given = Given { demonstrator: demonstrator.map(String::from), ..Given::default() };
        let env = environment();
        Run::begin(config, env.as_ref(), Seed(1), folder.clone(), given, Keepsakes::default())
    };
    let refused = |demonstrations, demonstrator| {
        format!("{:#}", begin(demonstrations, demonstrator).err().expect("a refusal"))
    };
    assert!(
        refused(50, None).contains("sap-goal0 has no scripted policy; these environments have: driving"),
        "{}",
        refused(50, None)
    );
    assert!(refused(0, Some("random")).contains("expected demonstrations above 0 in the recipe, found 0"));
    assert!(refused(50, Some("rondom")).contains("demonstrator"), "{}", refused(50, Some("rondom")));
    let env = environment();
    begin(50, Some("random")).unwrap().finish(env.as_ref(), &common()).unwrap();
    // Who demonstrated is known to a run that goes on.
    Run::resume(env.as_ref(), folder.clone(), Some(240), Seed(0))
        .unwrap()
        .finish(env.as_ref(), &common())
        .unwrap();
    assert_eq!(folder.read().unwrap().1.demonstrator.as_deref(), Some("random"));
}

#[test]
fn a_continued_run_keeps_the_history_and_the_policies_of_one_that_was_not_broken_off() {
    let (env, dir) = (environment(), tempfile::tempdir().unwrap());
    let (whole, parts) = (Folder::new(dir.path().join("whole")), Folder::new(dir.path().join("parts")));
    let keepsakes = Keepsakes { history: true, checkpoints: 3 };
    begin_with(keepsakes, 900, &whole).unwrap().finish(env.as_ref(), &common()).unwrap();
    // Broken off after the checkpoint at step 300, with episodes and a policy that are to be made again.
    let mut broken = begin_with(keepsakes, 900, &parts).unwrap();
    while broken.trainer.steps() < 640 {
        broken.trainer.advance(CHUNK.min(broken.memory.until_next(&broken.trainer)));
        broken.memory.take(&mut broken.trainer, &parts).unwrap();
        broken.memory.write(&parts).unwrap();
        if broken.trainer.steps() == 300 {
            parts.write(&broken.trainer, &broken.notes).unwrap();
        }
    }
    Run::resume(env.as_ref(), parts.clone(), None, Seed(0)).unwrap().finish(env.as_ref(), &common()).unwrap();
    let read = |path: std::path::PathBuf| std::fs::read(path).unwrap();
    assert_eq!(read(whole.history()), read(parts.history()));
    let history = offnominal_agents::History::from_bytes(&read(whole.history())).unwrap();
    assert!(history.episodes.len() >= 2 && history.run.steps == 900, "{}", history.episodes.len());
    for step in [300, 600, 900] {
        assert_eq!(read(whole.policy_at(step)), read(parts.policy_at(step)));
    }
    assert_eq!(std::fs::read_dir(dir.path().join("whole/policies")).unwrap().count(), 3);
}

#[test]
fn a_continued_run_in_environments_that_are_drawn_leaves_the_policy_of_one_that_was_not_broken_off() {
    let dir = tempfile::tempdir().unwrap();
    let (whole, parts) = (Folder::new(dir.path().join("whole")), Folder::new(dir.path().join("parts")));
    let draws = crate::scenario::around(environment().spec(), &["mass".into()], 0.3).unwrap();
    let scenario = Scenario { draws: Some(draws), criterion: None };
    let env = scenario.apply(environment()).unwrap();
    let begin = |steps: u64, folder: &Folder| {
        let given = Given { scenario: Some(scenario.clone()), ..Given::default() };
        Run::begin(config(steps), env.as_ref(), Seed(1), folder.clone(), given, Keepsakes::default()).unwrap()
    };
    begin(500, &whole).finish(env.as_ref(), &common()).unwrap();
    // The checkpoint stands within an episode, which is then played again in the environment that was drawn for it.
    begin(330, &parts).finish(env.as_ref(), &common()).unwrap();
    assert_eq!(parts.scenario().unwrap().as_ref(), Some(&scenario));
    let continued = Run::resume(env.as_ref(), parts.clone(), Some(500), Seed(1)).unwrap();
    continued.finish(env.as_ref(), &common()).unwrap();
    assert_eq!(std::fs::read(whole.policy()).unwrap(), std::fs::read(parts.policy()).unwrap());
}
