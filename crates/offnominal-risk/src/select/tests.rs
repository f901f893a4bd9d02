//! Selections of toys whose risk is known.

use super::elimination::{Rules, eliminate};
use super::episodes;
use super::heats::{self, SelectionSpec};
use crate::estimate::block::Method;
use crate::guide::Guide;
use crate::testing::{Toy, context, guide, subject};
use offnominal_agents::History;
use offnominal_engine::subject::Subject;
use offnominal_stats::Level;
use offnominal_stats::risk::selection::Standing;

/// The rules of a selection of toys.
fn rules<'g>(subjects: &[Subject], guides: &'g [Guide], budget: u64) -> Rules<'g> {
    let thinned = |g: &Guide| Method::Thinned {
        predictor: g.digest.clone(),
        exponent: 0.5,
        plain_share: 0.1,
        rate: 0.2,
        mean_power: 0.1,
        top: None,
    };
    let spec = SelectionSpec {
        env: "toy".into(),
        simulator: None,
        policies: subjects.iter().map(|subject| subject.name.clone()).collect(),
        seed: 1,
        methods: (0..subjects.len()).map(|i| guides.get(i).map_or(Method::Plain, thinned)).collect(),
        round: 300,
        scenario: None,
    };
    Rules { spec, guides, budget, level: Level::P95 }
}

#[test]
fn the_best_policy_wins_the_race_and_equals_stay_unresolved() {
    let subjects = [0.9, 0.05, 0.6].map(|height| subject(&Toy::new(height)));
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let finish = eliminate(&subjects, &rules(&subjects, &[], 6000), Some(&at("plain")), &context(2)).unwrap();
    assert_eq!(finish.standing, Standing::Resolved { best: 1 });
    let places = &finish.contenders;
    assert!(
        places[0].experiments < places[1].experiments + 1 && !places[0].may_be_best && places[1].may_be_best
    );
    let guides = [0, 1, 2].map(|i| guide(&Toy::new(0.05), &subjects[i], folder.path()));
    let finish =
        eliminate(&subjects, &rules(&subjects, &guides, 6000), Some(&at("thinned")), &context(2)).unwrap();
    assert_eq!(finish.standing, Standing::Resolved { best: 1 });
    let equals = [0.05, 0.05].map(|height| subject(&Toy::new(height)));
    let finish = eliminate(&equals, &rules(&equals, &[], 900), None, &context(1)).unwrap();
    assert_eq!(finish.standing, Standing::Unresolved { left: vec![0, 1] });
    assert_eq!(finish.choices.last().map(|c| c.experiments), Some(1800));
}

#[test]
fn the_episodes_of_a_race_are_a_history() {
    let subjects = [(0.9, "2.safetensors"), (0.4, "1.safetensors")].map(|(height, name)| {
        let mut subject = subject(&Toy::new(height));
        subject.name.id = name.into();
        subject
    });
    let (folder, rules) = (tempfile::tempdir().unwrap(), rules(&subjects, &[], 900));
    let finish = eliminate(&subjects, &rules, Some(folder.path()), &context(2)).unwrap();
    let history = episodes::history(&subjects, &rules.spec, folder.path()).unwrap();
    let read = History::from_bytes(&history.to_bytes()).unwrap();
    // Earlier policies stand first, whatever their order in the selection.
    for (step, contender) in [1, 2].into_iter().zip([&finish.contenders[1], &finish.contenders[0]]) {
        let mine = || read.episodes.iter().filter(|e| e.step == step);
        assert_eq!(mine().count() as u64, contender.experiments);
        assert_eq!(mine().filter(|e| e.failed).count() as u64, contender.failures);
    }
    assert!(read.episodes.is_sorted_by_key(|e| e.step) && read.run.env == "toy");
    // The toy fails near zero, so the draws are those that were tried.
    let failed: Vec<f64> = read.episodes.iter().filter(|e| e.failed).map(|e| e.initial[0]).collect();
    let mean = failed.iter().sum::<f64>() / failed.len() as f64;
    assert!(failed.len() > 20 && mean < 0.1, "{mean} of {}", failed.len());
}

#[test]
fn a_killed_race_goes_on_with_the_same_bits_and_another_race_is_refused() {
    let subjects = [0.5, 0.1].map(|height| subject(&Toy::new(height)));
    let folder = tempfile::tempdir().unwrap();
    let guides = [0, 1].map(|i| guide(&Toy::new(0.1), &subjects[i], folder.path()));
    for (name, guides) in [("plain", &[][..]), ("thinned", &guides)] {
        let run = |name: &str, budget, jobs| {
            let rules = rules(&subjects, guides, budget);
            eliminate(&subjects, &rules, Some(&folder.path().join(name)), &context(jobs))
        };
        let whole = run(name, 900, 2).unwrap();
        let (journal, cut) = (folder.path().join(name).join(heats::JOURNAL), format!("{name}-cut"));
        let text = std::fs::read(&journal).unwrap();
        std::fs::create_dir(folder.path().join(&cut)).unwrap();
        let cut_journal = folder.path().join(&cut).join(heats::JOURNAL);
        std::fs::write(&cut_journal, &text[..text.len() / 2]).unwrap();
        assert_eq!(run(&cut, 900, 1).unwrap(), whole);
        assert_eq!(std::fs::read(&cut_journal).unwrap(), text);
        // A larger budget goes on with the rounds that are there.
        let longer = run(&cut, 1800, 1).unwrap();
        assert_eq!(longer, run(&format!("{name}-long"), 1800, 2).unwrap());
        assert!(std::fs::read(&cut_journal).unwrap().starts_with(&text));
    }
    let other = rules(&subjects, &[], 900);
    let error = eliminate(&subjects, &other, Some(&folder.path().join("thinned")), &context(1)).unwrap_err();
    assert!(format!("{error:#}").contains("choose another --out"), "{error:#}");
    let journal = folder.path().join("plain").join(heats::JOURNAL);
    let text = std::fs::read_to_string(&journal).unwrap();
    std::fs::write(&journal, text.replacen("\"at\":299", "\"at\":300", 1)).unwrap();
    let error = eliminate(&subjects, &other, Some(&folder.path().join("plain")), &context(1)).unwrap_err();
    let text = format!("{error:#}");
    assert!(text.contains("line 2, block 0") && text.contains("the journal was changed"), "{text}");
}
