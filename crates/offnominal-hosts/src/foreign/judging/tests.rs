//! Who says what counts as a failure, in which order, and what becomes of an episode where nobody does.

use super::*;

fn judging(query: &str, registered: Option<&str>, offered: &[&str]) -> Judging {
    let offered: Vec<String> = offered.iter().map(|&key| key.into()).collect();
    Judging::of(&Wanted::read(&format!("X-v0?{query}")).unwrap(), registered, &offered)
}

fn reply(terminated: bool, success: Option<bool>, margin: f64) -> Reply {
    Reply { reward: 0.0, terminated, truncated: false, success, flagged: false, margin }
}

/// How an episode stands that the environment terminates, and how one whose time is over.
fn ends(judging: &Judging, success: Option<bool>) -> [(Status, Option<bool>); 2] {
    [(true, false), (false, true)].map(|(terminated, is_late)| {
        let ended = Ended { terminated, ..Ended::default() };
        judging.status(reply(terminated, success, f64::INFINITY), ended, is_late)
    })
}

#[test]
fn where_nobody_says_what_a_failure_is_nothing_fails_and_whoever_asks_is_told_what_there_is() {
    let nobody = judging("", Some("Pendulum-v1"), &["crashed", "speed"]);
    assert_eq!(ends(&nobody, None), [(Status::Ended, None), (Status::Running, None)]);
    let question = nobody.question();
    assert!(question.contains("info.KEY=false") && question.contains("offers crashed, speed"), "{question}");
    assert!(nobody.to_string().contains("Nobody has said"));
    assert!(judging("", None, &[]).question().contains("no truth and no number"));
}

#[test]
fn a_stated_rule_comes_before_the_environments_own_and_that_before_the_table() {
    let stated = judging("failure=timeout", Some("CartPole-v1"), &["is_success"]);
    assert_eq!(ends(&stated, None), [(Status::Succeeded, Some(true)), (Status::Failed, Some(false))]);
    let own = judging("", Some("CartPole-v1"), &["success"]);
    assert_eq!(ends(&own, Some(true))[0], (Status::Succeeded, Some(true)));
    assert_eq!(ends(&own, Some(false))[0], (Status::Failed, Some(false)));
    let known = judging("", Some("MountainCar-v0"), &[]);
    assert_eq!(ends(&known, None), [(Status::Succeeded, Some(true)), (Status::Failed, Some(false))]);
    assert!(known.to_string().contains("this program's rule for MountainCar-v0"));
    assert!([stated, own, known].iter().all(|judging| judging.question().is_empty()));
}

#[test]
fn a_margin_that_is_used_up_is_a_failure_and_whatever_else_fails_stays_one() {
    let alone = judging("margin=info.gap", None, &["gap"]);
    assert_eq!(alone.status(reply(false, None, 0.0), Ended::default(), false), (Status::Failed, Some(false)));
    assert_eq!(ends(&alone, None), [(Status::Succeeded, Some(true)), (Status::Running, Some(true))]);
    assert_eq!(alone.question(), "");
    let both = judging("margin=info.gap&failure=terminated", None, &[]);
    assert_eq!(ends(&both, None)[0], (Status::Failed, Some(false)));
}

#[test]
fn every_rule_of_the_table_is_one_of_an_id_with_a_version() {
    for id in ["CartPole-v0", "Humanoid-v5", "Taxi-v3", "LunarLander-v3", "FrozenLake8x8-v1"] {
        assert!(Failure::known(id).is_some(), "{id}");
    }
    for id in ["Pendulum-v1", "HalfCheetah-v5", "CarRacing-v3", "CartPoles-v1"] {
        assert_eq!(Failure::known(id), None, "{id}");
    }
}
