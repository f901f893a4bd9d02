//! From a training history to an estimate, on a toy whose risk is known.

use crate::estimate::atlas::Atlas;
use crate::estimate::block::{Block, Method};
use crate::estimate::document::Document;
use crate::estimate::ending::Ending;
use crate::estimate::estimation::{Estimation, JOURNAL, Proposal};
use crate::estimate::{Request, SamplingMethod};
use crate::experimenter::Experimenter;
use crate::guide::Guide;
use crate::search::{Aids, Hunt, SearchRun, SearchSpec, Strategy};
use crate::split::{self, SubsetSpec};
use crate::testing::{Toy, context, guide, history, subject};
use offnominal_engine::subject::Subject;
use offnominal_stats::Level;
use offnominal_work::cli;
use serde_json::json;
use std::path::Path;

#[test]
fn a_learned_predictor_guides_experiments_to_the_truth() {
    let (toy, folder) = (Toy::new(0.02), tempfile::tempdir().unwrap());
    let subject = subject(&toy);
    let (experimenter, guide) =
        (Experimenter::new(&subject, 1).unwrap(), guide(&toy, &subject, folder.path()));
    let proposal = Proposal { exponent: guide.exponent(), ..Proposal::default() };
    let estimation = Estimation::thinned(experimenter, &guide, proposal, (None, None), &context(2)).unwrap();
    let blocks = estimation.run(Some(folder.path()), 4000, &Ending::NONE, &context(2)).unwrap();
    let verdict = estimation.judge(&blocks, Level::P95).unwrap();
    let risk = verdict.risk.clone().unwrap();
    assert!(risk.covers(toy.p()) && risk.low > 0.0, "{risk:.6} {}", toy.p());
    let shares: f64 = verdict.failures.iter().map(|f| f.1).sum();
    assert!((shares / risk.value - 1.0).abs() < 1e-9, "{shares} {}", risk.value);
    let atlas = Atlas::of(&verdict.failures, subject.env.spec());
    let document = Document::new(&estimation.spec, &verdict, atlas);
    let read: Document = serde_json::from_str(&serde_json::to_string(&document).unwrap()).unwrap();
    assert_eq!(read.failures.len(), verdict.failures.len());
    assert_eq!(read, document);
}

#[test]
fn the_failures_of_the_highest_predictions_are_told_apart() {
    let (toy, folder) = (Toy::new(0.05), tempfile::tempdir().unwrap());
    let subject = subject(&toy);
    let (by, guide) = (Experimenter::new(&subject, 4).unwrap(), guide(&toy, &subject, folder.path()));
    let proposal = Proposal { exponent: 0.5, ..Proposal::default() };
    let shares = (Some(0.1), Some(0.1));
    let estimation = Estimation::thinned(by, &guide, proposal, shares, &context(2)).unwrap();
    let Method::Thinned { top: Some(top), .. } = estimation.spec.method else {
        panic!("{:?}", estimation.spec)
    };
    assert!(top.from > 0.15 && 3 * top.outside < top.of && top.of > 20, "{top:?}");
    let blocks = estimation.run(None, 3000, &Ending::NONE, &context(2)).unwrap();
    let verdict = estimation.judge(&blocks, Level::P95).unwrap();
    let [_, high, elsewhere, assumed] = &verdict.others[..] else { panic!("{:?}", verdict.others) };
    // The chance to fail falls by e⁴ over the tenth, and x below it has all but 2 % of the failures.
    let [high_, elsewhere_, assumed_] = [high, elsewhere, assumed].map(|part| part.1.clone().unwrap());
    let whole = verdict.risk.unwrap();
    assert!((high_.value + elsewhere_.value - whole.value).abs() < 1e-12, "{high_} {elsewhere_} {whole}");
    assert!(high_.covers(0.98 * toy.p()) && assumed_.covers(toy.p()), "{high_} {assumed_} {}", toy.p());
    assert!(assumed_.high < 0.5 * whole.high, "{assumed_} {whole}");
    let sentence = format!("no larger than in the history, where {} of {} do", top.outside, top.of);
    assert!(assumed.0.starts_with("all failures, if ") && assumed.0.ends_with(&sentence), "{}", assumed.0);
}

#[test]
fn the_bits_are_the_same_for_any_number_of_threads_and_for_a_killed_run() {
    let (toy, folder) = (Toy::new(0.5), tempfile::tempdir().unwrap());
    let subject = subject(&toy);
    let estimation = Estimation::plain(Experimenter::new(&subject, 3).unwrap());
    let run = |name: &str, n: u64, jobs: usize| {
        estimation.run(Some(&folder.path().join(name)), n, &Ending::NONE, &context(jobs)).unwrap()
    };
    let (one, many) = (run("one", 5000, 1), run("many", 5000, 3));
    // A run that was killed while it wrote its second block.
    let text = std::fs::read(folder.path().join("one").join(JOURNAL)).unwrap();
    std::fs::create_dir(folder.path().join("cut")).unwrap();
    std::fs::write(folder.path().join("cut").join(JOURNAL), &text[..text.len() / 2]).unwrap();
    let cut = run("cut", 5000, 2);
    let failures = |blocks: &[Block]| blocks.iter().flat_map(|b| b.failures.clone()).collect::<Vec<_>>();
    assert!(failures(&one).len() > 20);
    assert_eq!(failures(&one), failures(&many));
    assert_eq!(failures(&one), failures(&cut));
    let verdict = estimation.judge(&one, Level::P95).unwrap();
    assert_eq!(verdict.risk.unwrap().method, "clopper-pearson");
    // Going on after a look is no planned number any longer.
    let more = run("one", 6000, 1);
    let risk = estimation.judge(&more, Level::P95).unwrap().risk.unwrap();
    assert_eq!((risk.method.as_str(), risk.n), ("beta-binomial-sequence", 6000));
    assert!(risk.covers(toy.p()));
}

#[test]
fn a_goal_without_a_plain_share_to_set_is_refused() {
    let method = |value| cli::request::<Request>(&value).unwrap().method();
    let plain = json!({ "env": "toy", "policy": "random", "goal": "gate" });
    let error = method(plain).unwrap_err().to_string();
    assert!(error.contains("goal gate: expected the method thinned or adaptive"), "{error}");
    assert!(error.contains("found plain"), "{error}");
    let adaptive = json!({ "env": "toy", "policy": "random", "goal": "gate", "method": "adaptive" });
    assert_eq!(method(adaptive).unwrap(), SamplingMethod::Adaptive);
}

#[test]
fn no_failure_seen_is_an_upper_bound() {
    let toy = Toy::new(0.0);
    let subject = subject(&toy);
    let estimation = Estimation::plain(Experimenter::new(&subject, 1).unwrap());
    let blocks = estimation.run(None, 300, &Ending::NONE, &context(2)).unwrap();
    let verdict = estimation.judge(&blocks, Level::P95).unwrap();
    let risk = verdict.risk.clone().unwrap();
    assert!(risk.low == 0.0 && (0.01..0.02).contains(&risk.high), "{risk:?}");
    let atlas = Atlas::of(&verdict.failures, subject.env.spec());
    assert!(atlas.kinds.is_empty());
    assert_eq!(Document::new(&estimation.spec, &verdict, atlas).counting, None);
}

fn hunt(strategy: Strategy, aids: Aids<'_>, subject: &Subject, folder: &Path, jobs: usize) -> Vec<SearchRun> {
    let spec = SearchSpec {
        env: "toy".into(),
        simulator: None,
        policy: subject.name.clone(),
        seed: 1,
        strategy,
        of: 200,
        budget: 3000,
        all: false,
        predictor: None,
        past_failures: None,
        scenario: None,
    };
    Hunt::new(Experimenter::new(subject, 1).unwrap(), aids, spec)
        .unwrap()
        .run(Some(folder), 10, &context(jobs))
        .unwrap()
}

#[test]
fn every_strategy_finds_failures_and_those_who_know_more_sooner() {
    let (toy, folder) = (Toy::new(0.2), tempfile::tempdir().unwrap());
    let subject = subject(&toy);
    let (guide, past) = (guide(&toy, &subject, folder.path()), history(&toy, 3000));
    let aids = Aids { guide: Some(&guide), history: Some(&past) };
    let cost = |strategy: Strategy| {
        let found = hunt(strategy, aids, &subject, &folder.path().join(strategy.name()), 2);
        found.iter().map(|f| f.experiments).sum::<usize>()
    };
    let random = cost(Strategy::Random);
    assert!(random > 800, "{random}");
    for strategy in [Strategy::Replay, Strategy::Argmax] {
        assert!(2 * cost(strategy) < random, "{strategy:?}");
    }
    for strategy in [Strategy::CrossEntropy, Strategy::Elites] {
        assert!(cost(strategy) < random, "{strategy:?}");
    }
    let again = hunt(Strategy::Argmax, aids, &subject, &folder.path().join("again"), 1);
    assert_eq!(again, hunt(Strategy::Argmax, aids, &subject, &folder.path().join("argmax"), 3));
}

#[test]
fn swarms_in_the_driving_environment_agree_with_counting_and_are_the_same_for_any_number_of_threads() {
    let subject = Subject::new("driving", "random").unwrap();
    let experimenter = Experimenter::new(&subject, 1).unwrap();
    let spec = SubsetSpec {
        env: "driving".into(),
        simulator: None,
        policy: subject.name.clone(),
        seed: 1,
        particles: 10,
        moves: 2,
        budget: 200,
        scenario: None,
    };
    let folder = tempfile::tempdir().unwrap();
    let run = |name: &str, jobs: usize| {
        split::all(&experimenter, &spec, 3, Some(&folder.path().join(name)), &context(jobs)).unwrap().0
    };
    let one = run("one", 1);
    assert_eq!(one, run("many", 3));
    // Random commands always hit a wall, so that no particle has to move.
    assert!(one.iter().all(|s| s.has_failed && s.levels == 0 && s.value > 0.2), "{one:?}");
    let toy = crate::testing::subject(&Toy::new(0.1));
    let refused = split::all(&Experimenter::new(&toy, 1).unwrap(), &spec, 1, None, &context(1));
    assert!(refused.unwrap_err().to_string().contains("does not say how far it is from failing"));
}

#[test]
fn a_predictor_of_another_environment_and_a_strategy_without_its_aid_are_refused() {
    let (toy, folder) = (Toy::new(0.02), tempfile::tempdir().unwrap());
    let subject = subject(&toy);
    guide(&toy, &subject, folder.path());
    let driving = Subject::new("driving", "random").unwrap();
    let error = Guide::open(&folder.path().join("predictor.safetensors"), &driving).err().unwrap();
    assert!(
        format!("{error:#}").contains("expected a predictor for driving, found one for toy"),
        "{error:#}"
    );
    let spec = SearchSpec {
        env: "toy".into(),
        simulator: None,
        policy: subject.name.clone(),
        seed: 1,
        strategy: Strategy::Argmax,
        of: 1,
        budget: 1,
        all: false,
        predictor: None,
        past_failures: None,
        scenario: None,
    };
    let experimenter = Experimenter::new(&subject, 1).unwrap();
    let error = Hunt::new(experimenter, Aids::default(), spec.clone()).err().unwrap().to_string();
    assert!(error.contains("strategy argmax: expected a predictor"), "{error}");
    let blind = SearchSpec { strategy: Strategy::Elites, ..spec };
    assert!(Hunt::new(experimenter, Aids::default(), blind).is_err());
}
