//! The page of `score` and its text: one overview of each log, what is loud first, what is quiet folded.

use crate::alarms::{Rig, tanks};

/// How often the page draws an overview.
fn n_overviews(page: &str) -> usize {
    page.matches("<figure class=\"overview").count()
}

#[test]
fn windows_of_a_log_share_an_overview_and_the_quiet_ones_are_one_line() {
    let rig = Rig::new(40);
    let windows =
        std::fs::read_to_string(rig.path("map.toml")).unwrap() + "[episodes]\nby = \"window\"\nsecs = 1.2\n";
    std::fs::write(rig.path("map.toml"), windows).unwrap();
    rig.fit(rig.nominal.clone(), 0.05).unwrap();
    std::fs::write(rig.path("leak.csv"), tanks(77, 100)).unwrap();
    let found = rig.score(vec![rig.path("leak.csv")], None).unwrap();
    let quiet = found.recordings.iter().filter(|r| r.alarms.is_empty() && r.labelled_secs.is_none()).count();
    assert!(quiet > 3, "{found}");
    let text = found.to_string();
    assert!(text.contains(&format!("\n  {quiet} quiet windows\n")) && !text.contains("part 1:"), "{text}");
    let page = std::fs::read_to_string(rig.path("report.html")).unwrap();
    assert_eq!(n_overviews(&page), 1);
    assert!(page.contains("leak.csv, parts 1 to ") && page.contains("quiet windows</summary>"), "{page}");
    let at = |text: &str| page.find(text).unwrap_or_else(|| panic!("{text}"));
    assert!(at("class=\"lede\"") < at("class=\"overview") && at("id=\"alarm-") < at("AUROC"));
}

#[test]
fn logs_of_one_time_stand_alone_and_those_without_an_alarm_are_folded() {
    let rig = Rig::new(40);
    rig.fit(rig.nominal.clone(), 0.05).unwrap();
    std::fs::write(rig.path("leak.csv"), tanks(77, 60)).unwrap();
    let logs = [&rig.nominal[..5], &[rig.path("leak.csv")]].concat();
    let found = rig.score(logs, None).unwrap();
    assert!(found.to_string().contains("\n  5 quiet recordings\n"), "{found}");
    let page = std::fs::read_to_string(rig.path("report.html")).unwrap();
    assert_eq!(n_overviews(&page), 6);
    let (loud, quiet) = page.split_once("<summary>5 without an alarm</summary>").unwrap();
    assert!(loud.contains("<h3>leak.csv</h3>") && quiet.contains("<h3>run00.csv</h3>"));
}

#[test]
fn a_log_with_dates_is_shown_and_told_on_its_dates() {
    let rig = Rig::new(40);
    rig.fit(rig.nominal.clone(), 0.05).unwrap();
    let later = |line: &str| match line.split_once(',') {
        Some((secs, rest)) if secs != "time" => format!("{},{rest}", 1.7e9 + secs.parse::<f64>().unwrap()),
        _ => line.into(),
    };
    let dated: Vec<String> = tanks(77, 60).lines().map(later).collect();
    std::fs::write(rig.path("leak.csv"), dated.join("\n")).unwrap();
    let found = rig.score(vec![rig.path("leak.csv")], None).unwrap();
    let text = found.to_string();
    assert!(
        text.contains(", alarm at 2023-11-14 22:13:26") && text.contains("from 2023-11-14 22:13:26"),
        "{text}"
    );
    let page = std::fs::read_to_string(rig.path("report.html")).unwrap();
    assert!(page.contains("Alarm at 2023-11-14 22:13:26") && page.contains("2023-11-14, UTC"));
    assert!(page.contains("&quot;dates&quot;:true"));
}
