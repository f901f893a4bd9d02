//! Ids are read, and wrong options are refused.

use super::*;

#[test]
fn options_of_ours_do_not_reach_the_environment() {
    let found =
        Wanted::read("ALE/Pong-v5?frameskip=2&timeout=1.5&horizon=9&failure=return<-3&fresh=seed").unwrap();
    assert_eq!(found.id, "ALE/Pong-v5?frameskip=2&horizon=9");
    assert_eq!(found.limit, Duration::from_millis(1500));
    assert_eq!(found.failure, Some(Failure::ReturnBelow(-3.0)));
    assert_eq!(found.fresh, Fresh::Seeded("seed".into()));
    assert_eq!(Wanted::read("CartPole-v1?timeout=2").unwrap().id, "CartPole-v1");
    assert_eq!(Wanted::read("CartPole-v1").unwrap().limit, Duration::from_secs(60));
    let stated = Wanted::read("X-v0?dt=0.02&margin=info.gap").unwrap();
    assert_eq!((stated.dt_secs, stated.margin.as_deref(), &*stated.id), (Some(0.02), Some("gap"), "X-v0"));
    assert!(!Wanted::read("CartPole-v1?check=false").unwrap().is_checked);
}

#[test]
fn wrong_options_and_an_empty_name_are_refused() {
    let refused = |id: &str| Wanted::read(id).unwrap_err().to_string();
    assert!(refused("X-v0?timeout=0").contains("expected seconds from 0.001 to 86400, found \"0\""));
    assert!(refused("X-v0?memory=x").contains("memory: expected GB from 0.1 to 10000, found \"x\""));
    assert!(refused("X-v0?dt=0").contains("dt: expected seconds"));
    assert!(refused("X-v0?margin=gap").contains("margin: expected info.KEY, found \"gap\""));
    assert!(refused("X-v0?failure=late").contains("found \"late\""));
    assert!(refused("X-v0?fresh=a b").contains("found \"a b\""));
    assert!(refused("X-v0?check=1").contains("check: expected true or false, found \"1\""));
    assert!(refused("").contains("expected an id of Gymnasium"));
}
