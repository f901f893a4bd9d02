//! What is said beside alarms: what spoke, whether any is possible, and what a monitor says of itself.

use crate::alarms::{Rig, tanks};
use offnominal_engine::context::Context;
use offnominal_logs::fit;
use offnominal_logs::inspect::{self, monitor::of};
use offnominal_logs::mapping::Mapping;
use offnominal_work::fitting::Fitting;

#[test]
fn what_spoke_is_said_in_the_text_the_page_and_the_table() {
    let rig = Rig::new(40);
    let mut request = rig.request(rig.nominal.clone(), 0.05);
    let recipe = "{ id = \"mewma\", statistic = \"farthest\", reference = \"beginning\" }";
    request.fitting = Fitting { detector: recipe.parse().unwrap(), diagnosis: false, ..request.fitting };
    fit::run(&request, &Context::silent(1, 2)).unwrap();
    let leak = rig.path("leak.csv");
    std::fs::write(&leak, tanks(77, 60)).unwrap();
    let found = rig.score(vec![leak], None).unwrap();
    let says = "exponentially weighted mean of level against the beginning of the episode";
    let alarm = &found.recordings[0].alarms[0];
    assert_eq!((alarm.evidence.as_deref(), alarm.onset_secs), (Some(says), None), "no member of a panel");
    let [page, table] =
        ["report.html", "alarms.csv"].map(|name| std::fs::read_to_string(rig.path(name)).unwrap());
    for text in [found.to_string(), page, table] {
        assert!(text.contains(says), "{text}");
    }
}

#[test]
fn a_panel_says_since_when_without_a_diagnosis() {
    let rig = Rig::new(40);
    let mut request = rig.request(rig.nominal.clone(), 0.05);
    let chart = "{ id = \"mewma\", statistic = \"farthest\" }";
    let recipe = format!("{{ id = \"panel\", inner = [{chart}] }}");
    request.fitting = Fitting { detector: recipe.parse().unwrap(), diagnosis: false, ..request.fitting };
    fit::run(&request, &Context::silent(1, 2)).unwrap();
    let leak = rig.path("leak.csv");
    std::fs::write(&leak, tanks(77, 60)).unwrap();
    let found = rig.score(vec![leak], None).unwrap();
    let alarm = &found.recordings[0].alarms[0];
    let onset = alarm.onset_secs.unwrap();
    assert!((5.5..=alarm.secs).contains(&onset), "{alarm:?}");
    assert!(found.to_string().contains(&format!("nominal mean, since {onset:.3} s")), "{found}");
}

#[test]
fn a_fit_says_that_hardly_any_alarm_is_possible_above_a_recording_at_the_end_of_the_scale() {
    let rig = Rig::new(40);
    // One of those that set the threshold has another unit, and is said to be nominal.
    let wrong =
        tanks(39, 999).lines().skip(1).fold(String::from("time,level,flow,valve,leak\n"), |text, line| {
            let fields: Vec<f64> = line.split(',').map(|x| x.parse().unwrap()).collect();
            let row = format!("{},{},{},{},0\n", fields[0], 1e6 * fields[1], 1e6 * fields[2], fields[3]);
            text + &row
        });
    std::fs::write(&rig.nominal[39], wrong).unwrap();
    for detector in ["mewma", "knn-transition"] {
        let found = rig.fit_with(rig.nominal.clone(), detector, 0.05).unwrap();
        let is_said = found.fitted.warnings.iter().any(|w| w.contains("hardly any alarm is possible"));
        assert!(is_said, "{detector}: {:?}", found.fitted.warnings);
        assert!(found.to_string().contains("hardly any alarm is possible"), "{found}");
    }
}

#[test]
fn a_monitor_among_the_files_to_inspect_is_described_from_its_header() {
    let rig = Rig::new(40);
    rig.fit(rig.nominal.clone(), 0.05).unwrap();
    let request = |logs, map, report| inspect::Request { logs, map, report, against: vec![] };
    let file = rig.path("tanks.monitor");
    let found = of(&request(vec![file.clone()], Some(rig.path("again.toml")), None)).unwrap().unwrap();
    let text = found.to_string();
    for part in [
        &format!("monitor of format {}", offnominal_monitor::FORMAT),
        "(10.0000 Hz); nothing is promised beyond 119 steps",
        "observation: 2 numbers at each step, in this order\n  level (m)\n  flow\ncommand: 1 number",
        "set by conformal on 20 episodes",
        "missing values: knn-transition",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert!(found.needs_commands && found.rate_hz == 10.0);
    let mapping = Mapping::parse(&std::fs::read_to_string(rig.path("again.toml")).unwrap()).unwrap();
    assert_eq!(mapping.observation.len(), 2);
    assert_eq!(of(&request(rig.nominal[..2].to_vec(), None, None)).unwrap(), None, "logs are no monitors");
    let refused = |logs, page| of(&request(logs, None, page)).unwrap_err().to_string();
    assert!(refused(vec![rig.nominal[0].clone(), file.clone()], None).contains("expected it alone, found 2"));
    assert!(refused(vec![file.clone()], Some(rig.path("page.html"))).contains("no --report"));
    let mut bytes = std::fs::read(&file).unwrap();
    bytes.truncate(bytes.len() / 2);
    std::fs::write(&file, bytes).unwrap();
    assert!(refused(vec![file], None).contains("monitor "));
}
