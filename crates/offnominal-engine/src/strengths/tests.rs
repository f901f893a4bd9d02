//! Tables are read, refused and found.

use super::*;

const HEADER: &str =
    "env,policy,anomaly,level,magnitude,low,high,score,score_low,score_high,episodes,status\n";

fn rows(lines: &str) -> Result<Vec<Strength>> {
    parse(&format!("{HEADER}{lines}"), "w")
}

#[track_caller]
fn refuses(lines: &str, want: &str) {
    let error = format!("{:#}", rows(lines).unwrap_err());
    assert!(error.contains(want), "{error}");
}

fn strengths() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../strengths")
}

/// The names of the tables in a folder; none, where there is no folder.
fn csv_files(folder: &Path) -> Vec<String> {
    let Ok(files) = std::fs::read_dir(folder) else { return vec![] };
    let names = files.map(|f| f.unwrap().file_name().into_string().unwrap());
    let mut there: Vec<String> = names.filter(|f| f.ends_with(".csv")).collect();
    there.sort();
    there
}

#[test]
fn the_embedded_tables_are_sound_and_complete() {
    let there = csv_files(&strengths());
    assert_eq!(there, EMBEDDED.iter().map(|(env, _)| format!("{env}.csv")).collect::<Vec<_>>());
    for (env, text) in EMBEDDED {
        assert!(parse(text, env).unwrap().len() > 40, "{env}");
    }
    let noisy = csv_files(&strengths().join("datasheet"));
    assert_eq!(noisy, DATASHEET.iter().map(|(env, _)| format!("{env}.csv")).collect::<Vec<_>>());
    for (env, text) in DATASHEET {
        let rows = parse(text, &noise::id(env, Some("datasheet"))).unwrap();
        assert!(rows.len() > 40, "{env}");
    }
    for (env, text) in CAMERAS {
        assert_eq!(parse(text, env).unwrap().len(), 9 * LEVELS.len(), "{env}");
    }
}

#[test]
fn a_table_is_read() {
    let read = rows("w,tqc,obs-noise,tiny,0.5,0.4,0.6,0.99,0.98,1.0,300,found\nw,tqc,obs-noise,extreme,,,,,,,300,unattainable").unwrap();
    assert_eq!((read[0].magnitude, read[0].status), (Some(0.5), Status::Found));
    assert_eq!((read[1].magnitude, read[1].status), (None, Status::Unattainable));
}

#[test]
fn bad_tables_are_refused_by_row() {
    refuses(
        "w,tqc,obs-noise,tiny,NaN,,,,,,300,found",
        "row 1: magnitude: expected a finite number, found Some(NaN)",
    );
    refuses("w,tqc,obs-noise,tny,0.5,,,,,,300,found", "did you mean \"tiny\"?");
    refuses("v,tqc,obs-noise,tiny,0.5,,,,,,300,found", "env: expected w, found \"v\"");
    refuses("w,tqc,obs-noise,tiny,big,,,,,,300,found", "invalid float literal");
    refuses("w,tqc", "line: 2");
}

/// A table as `calibrate` writes it.
fn table_of(env: &str, policy: &str) -> String {
    format!("{HEADER}{env},{policy},obs-noise,tiny,0.5,0.4,0.6,0.99,0.98,1.0,300,found\n")
}

#[test]
fn a_table_that_is_named_is_read_and_no_other_one() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("mine.csv");
    std::fs::write(&file, table_of("sap-goal1", "p")).unwrap();
    let find = |policy, from: &Path| magnitude("sap-goal1", policy, "obs-noise", "tiny", Some(from));
    assert_eq!(find("p", &file).unwrap(), 0.5);
    let error = find("tqc", &file).unwrap_err().to_string();
    assert!(error.contains("mine.csv") && error.contains("which has those of p"), "{error}");
    std::fs::rename(&file, folder.path().join("sap-goal1.csv")).unwrap();
    assert_eq!(find("p", folder.path()).unwrap(), 0.5);
    let error = find("p", &file).unwrap_err().to_string();
    assert!(error.contains("mine.csv, which is not there"), "{error}");
}

#[test]
fn how_an_episode_is_judged_changes_no_magnitude() {
    let folder = tempfile::tempdir().unwrap();
    let env = "gymnasium:X-v0?a=1";
    std::fs::write(file(folder.path(), env), table_of(env, "p")).unwrap();
    let judged = "gymnasium:X-v0?a=1&failure=return<3&timeout=5";
    assert_eq!(magnitude(judged, "p", "obs-noise", "tiny", Some(folder.path())).unwrap(), 0.5);
}

#[test]
fn the_error_names_what_was_looked_for() {
    let error = magnitude("gymnasium:X/Y-v0?a=1", "p", "obs-noise", "tiny", None).unwrap_err().to_string();
    assert!(error.contains("runs/calibrate/gymnasium_X_Y-v0_a=1.csv, which is not there"), "{error}");
}
