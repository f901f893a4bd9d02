//! Robustness against its definition, another program and worked cases; what is no formula.

use super::formula::Formula;
use super::node::{Equality, Node, Window};
use super::{Monitor, StlError};
use proptest::prelude::*;

const SIGNALS: [&str; 2] = ["x", "y"];

fn names() -> Vec<String> {
    SIGNALS.map(String::from).to_vec()
}

fn formula(text: &str) -> Formula {
    Formula::parse(text).unwrap_or_else(|e| panic!("{text}: {e}"))
}

/// The robustness of a trace of x and y, with a step of 1 s.
fn robustness(text: &str, trace: &[[f64; 2]]) -> f64 {
    let mut monitor = Monitor::new(&formula(text), &names(), 1.0).unwrap();
    trace.iter().for_each(|sample| monitor.push(sample));
    monitor.finish()
}

fn wrong(text: &str) -> String {
    match Formula::parse(text).and_then(|f| Monitor::new(&f, &names(), 0.5).map(drop)) {
        Ok(()) => panic!("{text} was accepted"),
        Err(e) => e.to_string(),
    }
}

/// x rises from 0 to 4, y falls from 3 to −1.
const TRACE: [[f64; 2]; 5] = [[0.0, 3.0], [1.0, 2.0], [2.0, 1.0], [3.0, 0.0], [4.0, -1.0]];

#[test]
fn robustness_is_that_of_donze_and_maler() {
    let cases = [
        ("x < 3", 3.0),
        ("always (x < 5)", 1.0),
        ("always[0, 2] (x < 3)", 1.0),
        ("eventually[2, 4] (x > 2.5)", 1.5),
        ("eventually (x > 9)", -5.0),
        ("not always (y > 0)", 1.0),
        ("x < 1 or y < 1", 1.0),
        ("x < 1 and y > 1", 1.0),
        ("always (x > 3 implies y < 0.5)", 0.5),
        ("(y > 0) until (x > 1.5)", 1.0),
        ("(y > 0) until[0, 1] (x > 1.5)", -0.5),
        ("(y > 1.5) until[2, 4] (x > 1.5)", 0.5),
        ("always[1, 3] eventually[0, 1] (x * 2 - y / 2 >= 1)", 2.5),
        ("abs(x - y) + min(x, 1) > max(2, y)", 0.0),
        ("always[7, 9] (x > 100)", f64::INFINITY),
        ("eventually[7, 9] (x < 100)", f64::NEG_INFINITY),
        ("always (x / x > 0)", f64::NEG_INFINITY),
    ];
    for (text, expected) in cases {
        assert_eq!(robustness(text, &TRACE), expected, "{text}");
    }
}

#[test]
fn an_equality_holds_or_breaks_as_it_is_written() {
    for (text, holds) in [
        ("x <= 0", true),
        ("x < 0", false),
        ("0 >= x", true),
        ("not (x > 0)", true),
        ("not (x <= 0)", false),
        ("always (x <= 4 and x >= 0)", true),
        ("always (x < 4)", false),
        ("eventually (x >= 4)", true),
        ("eventually (x > 4)", false),
        ("(y >= 1) until (x >= 2)", true),
        ("(y > 1) until (x > 2)", false),
        ("x >= 1 implies x < 0", true),
    ] {
        let found = robustness(text, &TRACE);
        assert!((found > 0.0) == holds && found.abs() < 2.0, "{text}: {found}");
    }
}

#[test]
fn what_is_no_number_holds_in_no_formula_in_whichever_place_it_stands() {
    for text in
        ["x / x", "min(x / x, 1)", "min(1, x / x)", "max(x / x, 1)", "max(1, x / x)", "abs(x / x) + 1"]
    {
        for sign in ["> 0", "< 9", ">= 0", "<= 9"] {
            let text = format!("always ({text} {sign})");
            assert_eq!(robustness(&text, &TRACE), f64::NEG_INFINITY, "{text}");
        }
    }
}

#[test]
fn windows_behind_the_end_of_an_episode_are_known() {
    let beyond = |text: &str| {
        let found = Monitor::new(&formula(text), &names(), 0.5).unwrap().beyond(10);
        (found.wholly.len(), found.partly.len())
    };
    assert_eq!(beyond("always[0, 5] (x < 1)"), (0, 0));
    assert_eq!(beyond("always[0, 5.5] (x < 1)"), (0, 1));
    assert_eq!(beyond("always[5.5, 6] (x < 1) and eventually[6, inf] (x < 1)"), (2, 0));
    assert_eq!(beyond("always (x > 1 implies eventually[0, 2] (x < 1))"), (0, 0));
    assert_eq!(beyond("always[3, 4] eventually[0, 3] (x < 1)"), (0, 1));
    assert_eq!(beyond("always[3, 4] eventually[3, 4] (x < 1)"), (1, 0));
    assert_eq!(beyond("(x < 1) until[7, 8] (y > 1)"), (1, 0));
}

/// What RTAMT 0.4.10 says of the same formulas and samples (discrete time, offline).
#[test]
fn robustness_is_that_of_rtamt() {
    const X: [f64; 12] = [-1.06, -2.09, 0.91, -2.57, 0.22, -0.81, -2.65, 0.04, -2.78, -0.4, -2.58, -2.46];
    const Y: [f64; 12] = [-0.45, 1.96, -2.26, -1.66, 0.76, 2.69, 0.46, -0.62, 2.86, -2.72, 2.15, -1.26];
    let trace: Vec<[f64; 2]> = X.into_iter().zip(Y).map(|(x, y)| [x, y]).collect();
    let cases = [
        ("always[0, 4] (x < 2)", 1.0899999999999999),
        ("eventually[2, 6] (x + y > 1.5)", 0.3799999999999999),
        ("always[0, 3] (x > 0 implies eventually[1, 4] (y > 0.5))", 1.46),
        ("(y > -2.5) until[2, 7] (x > 1)", -0.08999999999999997),
        ("not (x > 1 and y < 2) or eventually[0, 2] always[0, 3] (abs(x) < 2.5)", 2.06),
    ];
    for (text, expected) in cases {
        assert_eq!(robustness(text, &trace), expected, "{text}");
    }
}

#[test]
fn what_is_broken_is_known_as_soon_as_no_continuation_could_mend_it() {
    let mut monitor =
        Monitor::new(&formula("always (x > 1 implies eventually[0, 2] (y > 0))"), &names(), 1.0).unwrap();
    let mut seen = Vec::new();
    for sample in [[0.0, 0.0], [2.0, -1.0], [0.0, -3.0], [0.0, -2.0], [0.0, 9.0]] {
        monitor.push(&sample);
        seen.push(monitor.robustness());
    }
    // At the third sample the window that began at the first is over, at the fourth that of the second.
    assert_eq!(seen, [f64::INFINITY, f64::INFINITY, 1.0, -1.0, -1.0]);
    monitor.start();
    assert_eq!((monitor.robustness(), monitor.finish()), (f64::INFINITY, f64::INFINITY));
}

#[test]
fn errors_name_the_place_what_was_expected_and_what_was_found() {
    let cases = [
        ("always x", "formula, at character 8: expected a comparison such as speed < 3, found a number"),
        ("x < y < 3", "formula, at character 7: expected the end or a word that joins formulas, found \"<\""),
        ("x <", "formula, at character 4: expected a number, a signal, a word or \"(\", found the end"),
        (
            "x < 1 and",
            "formula, at character 10: expected a number, a signal, a word or \"(\", found the end",
        ),
        (
            "always[3, 1] x < 1",
            "formula, at character 11: expected seconds of at least 3, found the number 1",
        ),
        ("always[1] x < 1", "formula, at character 9: expected \",\", found \"]\""),
        ("(x < 1", "formula, at character 7: expected \")\", found the end"),
        ("(x < 1) + 2 > 0", "formula, at character 1: expected a number, found what holds or does not"),
        ("x == 1", "formula, at character 3: expected a word, a number or a sign, found ="),
        ("\"x < 1", "formula, at character 1: expected a name that ends with \", found no end"),
        ("x < 1.2.3", "formula, at character 5: expected a number, found 1.2.3"),
        (
            "always[0.1, 0.4] x < 1",
            "formula: expected a step of 0.5 s in the window [0.1, 0.4] s, found none",
        ),
        ("speed < 1", "formula: expected one of the signals x, y, found \"speed\""),
    ];
    for (text, expected) in cases {
        assert_eq!(wrong(text), expected, "{text}");
    }
    let deep = format!("{}x < 1", "not ".repeat(200));
    assert!(matches!(Formula::parse(&deep), Err(StlError::TooLarge { .. })));
    let wide = vec!["x < 1"; 2000].join(" and ");
    assert!(matches!(
        Monitor::new(&formula(&wide), &names(), 1.0),
        Err(StlError::TooLarge { of: "parts", .. })
    ));
}

#[test]
fn windows_are_read_in_seconds() {
    let steps = |text: &str, dt_secs: f64| {
        let mut monitor = Monitor::new(&formula(text), &names(), dt_secs).unwrap();
        let broken = |_: &i32| {
            monitor.push(&[1.0, 0.0]);
            monitor.robustness() < 0.0
        };
        (1..10).find(broken)
    };
    // 0.3 s are three steps of 0.1 s behind the first, whatever they are in binary.
    assert_eq!(steps("eventually[0, 0.3] (x > 2)", 0.1), Some(4));
    assert_eq!(steps("eventually[0.25, 1] (x > 2)", 0.25), Some(5));
}

#[test]
fn names_with_other_signs_stand_in_quotes() {
    let signals = ["tool-speed".to_string(), "not".to_string()];
    let mut monitor = Monitor::new(&formula("\"tool-speed\" > \"not\""), &signals, 1.0).unwrap();
    monitor.push(&[3.0, 1.0]);
    assert_eq!(monitor.finish(), 2.0);
    let again: Formula = serde_json::from_str("\"x < 1\"").unwrap();
    assert_eq!(serde_json::to_string(&again).unwrap(), "\"x < 1\"");
    assert!(serde_json::from_str::<Formula>("\"x <\"").is_err());
}

/// The definition, by recursion over times; `unseen` stands for what `eventually` and `until` find behind the end.
fn defined(node: &Node, t: usize, trace: &[[f64; 2]], unseen: f64) -> f64 {
    let at = |node: &Node, t: usize| defined(node, t, trace, unseen);
    let times = |w: &Window| {
        let last = if w.to_secs.is_finite() { t + w.to_secs as usize } else { usize::MAX };
        (t + w.from_secs as usize, last)
    };
    let until = |w: &Window, p: &dyn Fn(usize) -> f64, q: &dyn Fn(usize) -> f64| {
        let (first, last) = times(w);
        let reached = |k: usize| (t..k.min(trace.len())).map(p).fold(f64::INFINITY, f64::min);
        let seen = (first..=last.min(trace.len() - 1)).map(|k| q(k).min(reached(k)));
        // Behind the end any time is as good as another.
        let beyond = (last >= trace.len()).then(|| reached(trace.len()).min(unseen));
        seen.chain(beyond).fold(f64::NEG_INFINITY, f64::max)
    };
    match node {
        Node::Above(term, equality) => match term.bind(&names()).unwrap().value(&trace[t]) {
            0.0 if *equality == Equality::Holds => f64::MIN_POSITIVE,
            value => value,
        },
        Node::And(pair) => at(&pair[0], t).min(at(&pair[1], t)),
        Node::Or(pair) => at(&pair[0], t).max(at(&pair[1], t)),
        Node::Always(w, inner) => {
            let (first, last) = times(w);
            (first..=last.min(trace.len() - 1)).map(|k| at(inner, k)).fold(f64::INFINITY, f64::min)
        }
        Node::Eventually(w, inner) => until(w, &|_| f64::INFINITY, &|k| at(inner, k)),
        Node::Until(w, pair) => until(w, &|k| at(&pair[0], k), &|k| at(&pair[1], k)),
        // What a release is: no until of the contraries, where those find nothing behind the end.
        Node::Release(w, pair) => {
            let (first, last) = times(w);
            let held = |k: usize| (t..k).map(|j| at(&pair[0], j)).fold(f64::NEG_INFINITY, f64::max);
            let seen = (first..=last.min(trace.len() - 1)).map(|k| at(&pair[1], k).max(held(k)));
            seen.fold(f64::INFINITY, f64::min)
        }
    }
}

fn window() -> impl Strategy<Value = String> {
    prop_oneof![
        Just(String::new()),
        (0u32..4, 0u32..4).prop_map(|(a, n)| format!("[{a}, {}]", a + n)),
        (1u32..3).prop_map(|a| format!("[{a}, inf]")),
    ]
}

fn text() -> impl Strategy<Value = String> {
    let above = ("[xy]", "[<>]=?", -3i32..4).prop_map(|(name, sign, n)| format!("{name} {sign} {n}"));
    above.prop_recursive(4, 12, 2, |inner| {
        let two = (inner.clone(), inner.clone());
        prop_oneof![
            inner.clone().prop_map(|p| format!("not ({p})")),
            (window(), inner.clone()).prop_map(|(w, p)| format!("always{w} ({p})")),
            (window(), inner).prop_map(|(w, p)| format!("eventually{w} ({p})")),
            two.clone().prop_map(|(p, q)| format!("(({p}) and ({q}))")),
            two.clone().prop_map(|(p, q)| format!("(({p}) implies ({q}))")),
            (window(), two).prop_map(|(w, (p, q))| format!("(({p}) until{w} ({q}))")),
        ]
    })
}

proptest! {
    #[test]
    fn every_formula_has_the_value_of_its_definition(
        text in text(),
        trace in prop::collection::vec(prop::array::uniform2((-4i32..5).prop_map(f64::from)), 1..12),
    ) {
        let formula = formula(&text);
        let mut monitor = Monitor::new(&formula, &names(), 1.0).unwrap();
        let mut last = f64::INFINITY;
        for n in 1..=trace.len() {
            monitor.push(&trace[n - 1]);
            let found = monitor.robustness();
            prop_assert_eq!(found, defined(formula.root(), 0, &trace[..n], f64::INFINITY), "{} at {}", &text, n);
            prop_assert!(found <= last, "{} rose from {} to {}", &text, last, found);
            last = found;
        }
        prop_assert_eq!(monitor.finish(), defined(formula.root(), 0, &trace, f64::NEG_INFINITY), "{}", &text);
        // Of a formula and its negation one holds, by as much as the other is broken.
        let (own, contrary) = (monitor.robustness(), robustness(&format!("not ({text})"), &trace));
        prop_assert!((own > 0.0) != (contrary > 0.0), "{}: {} and {}", &text, own, contrary);
        prop_assert!(contrary == -own || (contrary + own).abs() <= f64::MIN_POSITIVE, "{}", &text);
    }
}
