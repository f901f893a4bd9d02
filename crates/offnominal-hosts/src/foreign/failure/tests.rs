//! Rules are read, refused and applied.

use super::*;

#[test]
fn a_rule_is_a_word_a_key_or_a_return() {
    assert_eq!("terminated".parse(), Ok(Failure::Terminated));
    assert_eq!("timeout".parse(), Ok(Failure::Timeout));
    assert_eq!("info.crashed".parse(), Ok(Failure::Info("crashed".into())));
    assert_eq!("return<-100.5".parse(), Ok(Failure::ReturnBelow(-100.5)));
    assert_eq!("info.goal=false".parse(), Ok(Failure::InfoFalse("goal".into())));
    for wrong in ["", "info.", "info.=false", "return<", "return<inf", "return>3", "crashed"] {
        let error = wrong.parse::<Failure>().unwrap_err();
        assert!(error.ends_with(&format!("found {wrong:?}")), "{error}");
    }
}

#[test]
fn each_rule_looks_at_its_own_part_of_the_end() {
    let end = Ended { terminated: true, total: 3.0, ..Ended::default() };
    let holds = |rule: &str, end| rule.parse::<Failure>().unwrap().holds(end);
    assert!(holds("terminated", end) && !holds("timeout", end));
    assert!(holds("return<4", end) && !holds("return<3", end));
    assert!(!holds("info.x", end) && holds("info.x", Ended { flagged: true, ..end }));
    assert!(holds("info.x=false", Ended { flagged: true, ..end }));
    assert!(!holds("info.x=false", Ended { flagged_last: true, ..end }));
    assert!(holds("timeout", Ended { terminated: false, ..end }));
}
