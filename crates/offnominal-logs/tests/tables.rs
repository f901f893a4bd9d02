//! One table as people and programs write it, in some eighty ways: the same numbers, or a refusal with its cause. And a proposal
//! that does not contradict what reads with it.

use offnominal_engine::context::Context;
use offnominal_logs::chosen::Truth;
use offnominal_logs::episodes::Recorded;
use offnominal_logs::mapping::{Episodes, Mapping};
use offnominal_logs::recordings::{self, Recordings};
use offnominal_logs::source::Log;
use std::path::PathBuf;
use std::sync::OnceLock;

/// A row: when it is in tenths of a second, and its three numbers in ten-thousandths.
type Row = (i64, [i64; 3]);

/// Two tanks of which one leaks: whole numbers, so that each way to write them has all digits.
fn rows() -> Vec<Row> {
    let row = |step: i64| {
        let x = step as f64;
        let leak = if step < 60 { 0.0 } else { (x - 60.0) * 90.0 };
        let wave = |a: f64, b: f64| (a * (x / b).sin()).round() as i64;
        (step, [3000 + wave(700.0, 9.0) - leak as i64, 5000 + wave(900.0, 7.0), 5000 + wave(4000.0, 9.0)])
    };
    (0..90).map(row).collect()
}

const NAMES: [&str; 4] = ["time", "level", "flow", "valve"];

/// A number in ten-thousandths.
fn number(n: i64) -> String {
    format!("{}{}.{:04}", if n < 0 { "-" } else { "" }, n.abs() / 10_000, n.abs() % 10_000)
}

fn secs(tenths: i64) -> String {
    format!("{}.{}", tenths / 10, tenths % 10)
}

/// Lines of fields: the names and all rows, with a time as `time` writes it.
fn fields(time: impl Fn(i64) -> String) -> Vec<Vec<String>> {
    let names = NAMES.map(str::to_string).to_vec();
    let row = |(at, numbers): Row| std::iter::once(time(at)).chain(numbers.map(number)).collect();
    std::iter::once(names).chain(rows().into_iter().map(row)).collect()
}

fn joined(lines: &[Vec<String>], separator: &str) -> String {
    lines.iter().map(|line| line.join(separator) + "\n").collect()
}

fn plain() -> String {
    joined(&fields(secs), ",")
}

/// The plain table with another time, whose column has another name.
fn timed(name: &str, time: impl Fn(i64) -> String) -> String {
    joined(&fields(time), ",").replacen("time", name, 1)
}

/// A date in March 2020 with a fraction of a second.
fn date(form: &'static str) -> impl Fn(i64) -> String {
    move |tenths| {
        let at = chrono::DateTime::from_timestamp_millis(1_583_748_873_000 + tenths * 100).unwrap();
        at.format(form).to_string()
    }
}

fn changed(change: impl Fn(usize, &mut Vec<String>)) -> String {
    let mut lines = fields(secs);
    lines.iter_mut().enumerate().for_each(|(at, line)| change(at, line));
    joined(&lines, ",")
}

fn read(bytes: Vec<u8>) -> anyhow::Result<(Mapping, Recordings)> {
    let log = [Log::Bytes(PathBuf::from("run.csv"), bytes.into())];
    let context = Context::silent(1, 1);
    let mapping = Mapping::parse(&recordings::proposal(&log, &context)?.to_toml())?;
    let found = recordings::read(&log, &mapping, Truth::Needed, &context)?;
    Ok((mapping, found))
}

/// Seconds and observations of a recording, by the names of the channels.
fn numbers(mapping: &Mapping, found: &Recorded) -> Vec<(String, Vec<f64>)> {
    let width = mapping.observation.len();
    let of = |(i, name): (usize, &str)| {
        (name.to_string(), found.observations.iter().skip(i).step_by(width).copied().collect())
    };
    let mut all: Vec<(String, Vec<f64>)> =
        mapping.observation.iter().map(|channel| channel.name()).enumerate().map(of).collect();
    all.sort_by(|a, b| a.0.cmp(&b.0));
    all.insert(0, ("secs".into(), found.secs.iter().map(|secs| (secs * 1e3).round()).collect()));
    all
}

/// What the plain table holds.
fn expected() -> &'static [(String, Vec<f64>)] {
    static EXPECTED: OnceLock<Vec<(String, Vec<f64>)>> = OnceLock::new();
    EXPECTED.get_or_init(|| {
        let (mapping, found) = read(plain().into()).unwrap();
        numbers(&mapping, &found.all[0])
    })
}

fn assert_plain(name: &str, bytes: Vec<u8>) -> (Mapping, Recordings) {
    let expected = expected();
    assert_eq!((expected[0].1.len(), expected.len()), (90, 4));
    let (mapping, found) = read(bytes).unwrap_or_else(|why| panic!("{name}: {why:#}"));
    assert_eq!(found.all.len(), 1, "{name}");
    let same = numbers(&mapping, &found.all[0]);
    for (expected, found) in expected.iter().zip(&same) {
        assert_eq!(expected, found, "{name}: {}", mapping.to_toml());
    }
    assert_eq!(mapping.clock.rate_hz, Some(10.0), "{name}");
    assert_eq!(same.len(), expected.len(), "{name}");
    (mapping, found)
}

#[test]
fn separators_encodings_and_what_stands_around_a_table_change_no_number() {
    let lines = fields(secs);
    let comma = |text: String| text.replace('.', ",");
    let utf16 = |mark: &str, bytes: fn(u16) -> [u8; 2]| -> Vec<u8> {
        format!("{mark}{}", plain()).encode_utf16().flat_map(bytes).collect()
    };
    let latin =
        [&b"time,level [\xb0C],flow,valve\n"[..], plain().split_once('\n').unwrap().1.as_bytes()].concat();
    let quoted: Vec<Vec<String>> =
        lines.iter().map(|line| line.iter().map(|field| format!("{field:?}")).collect()).collect();
    let rest = plain().split_once('\n').unwrap().1.to_string();
    let blank = joined(&lines, "  ");
    let variants: Vec<(&str, Vec<u8>)> = vec![
        ("bytes before UTF-8", [&b"\xef\xbb\xbf"[..], plain().as_bytes()].concat()),
        ("CRLF", plain().replace('\n', "\r\n").into()),
        ("semicolons", joined(&lines, ";").into()),
        ("tabs", joined(&lines, "\t").into()),
        ("bars", joined(&lines, "|").into()),
        ("blanks", blank.clone().into()),
        ("columns aligned by blanks", blank.replace('\n', "  \n   ").trim_end_matches(' ').into()),
        ("a blank behind commas", joined(&lines, ", ").into()),
        ("quotes", joined(&quoted, ",").into()),
        ("decimal commas", comma(joined(&lines, ";")).into()),
        ("decimal commas between tabs", comma(joined(&lines, "\t")).into()),
        ("decimal commas between blanks", comma(blank.clone()).into()),
        ("decimal commas in quotes", comma(joined(&quoted, ";")).replace(';', ",").into()),
        ("comments", format!("# a log\n# of 2020, of a tank\n{}", plain()).into()),
        ("comments in between", plain().replacen("\n1.0,", "\n# restarted, \"again\"\n1.0,", 1).into()),
        ("names in a comment", format!("#{}", plain()).into()),
        ("names in a comment, with a blank", format!("# {}", plain()).into()),
        ("names in a comment between blanks", format!("# {blank}").into()),
        ("names in the last comment", format!("# a log\n#{}", plain()).into()),
        (
            "pandas' index",
            changed(|at, line| line.insert(0, if at == 0 { String::new() } else { (at - 1).to_string() }))
                .into(),
        ),
        (
            "an index that was read again",
            changed(|at, line| {
                line.insert(0, if at == 0 { "Unnamed: 0".into() } else { (at - 1).to_string() });
            })
            .into(),
        ),
        ("a time as index", plain().replacen("time", "", 1).into()),
        ("trailing commas", plain().replace('\n', ",\n").into()),
        (
            "trailing commas below the names",
            format!("time,level,flow,valve\n{}", rest.replace('\n', ",\n")).into(),
        ),
        ("a trailing comma behind the names", plain().replacen('\n', ",\n", 1).into()),
        (
            "row names of R",
            changed(|at, line| {
                if at > 0 {
                    line.insert(0, at.to_string())
                }
            })
            .into(),
        ),
        ("units", plain().replacen('\n', "\ns,m,m/s,-\n", 1).into()),
        ("units in brackets", plain().replacen('\n', "\n[s],[m],[m/s],[-]\n", 1).into()),
        ("units and types", plain().replacen('\n', "\ns,m,m/s,V\nf64,f64,f64,f64\n", 1).into()),
        ("lines before the table", format!("Device: tank\nRate: 10 Hz\n\n{}", plain()).into()),
        ("lines of a spreadsheet before the table", format!("Tank,,,\nRate,10,,\n,,,\n{}", plain()).into()),
        ("UTF-16, little", utf16("\u{feff}", u16::to_le_bytes)),
        ("UTF-16, big", utf16("\u{feff}", u16::to_be_bytes)),
        ("UTF-16 without a mark", utf16("", u16::to_le_bytes)),
        ("Latin-1", latin),
        ("empty lines", plain().replace("\n1", "\n\n1").into()),
        (
            "a column of words",
            changed(|at, line| line.push(if at == 0 { "mode" } else { "auto" }.into())).into(),
        ),
        (
            "a column of a word",
            changed(|at, line| line.insert(0, if at == 0 { "who" } else { "me" }.into())).into(),
        ),
        (
            "nothing measured",
            changed(|at, line| line.push(if at == 0 { "spare".into() } else { String::new() })).into(),
        ),
        ("another sign", plain().replace(",-", ",\u{2212}").into()),
    ];
    for (name, bytes) in variants {
        assert_plain(name, bytes);
    }
}

#[test]
fn the_same_moments_are_the_same_in_every_form() {
    let whole = |factor: i64, from: i64| move |tenths: i64| (from + tenths * factor).to_string();
    let day = |tenths: i64| format!("00:00:{:02}.{}", tenths / 10, tenths % 10);
    let variants = [
        ("ISO", timed("time", date("%Y-%m-%d %H:%M:%S%.f"))),
        ("ISO with T", timed("timestamp", date("%Y-%m-%dT%H:%M:%S%.3f"))),
        ("ISO in UTC", timed("Date", date("%Y-%m-%dT%H:%M:%S%.3fZ"))),
        ("a zone", timed("datetime", date("%Y-%m-%d %H:%M:%S%.3f+02:00"))),
        ("a named zone", timed("time", date("%Y-%m-%d %H:%M:%S%.3f CET"))),
        ("German", timed("Datum", date("%d.%m.%Y %H:%M:%S%.3f"))),
        ("American", timed("time", date("%m/%d/%Y %H:%M:%S%.3f"))),
        ("American, by twelve hours", timed("time", date("%m/%d/%Y %I:%M:%S%.3f %p"))),
        ("British", timed("time", date("%d/%m/%Y %H:%M:%S%.3f"))),
        ("of MATLAB", timed("time", date("%d-%b-%Y %H:%M:%S%.3f"))),
        ("compact", timed("time", date("%Y%m%dT%H%M%S%.3f"))),
        ("time of day", timed("time", day)),
        (
            "time of day over midnight",
            timed("time", |tenths| {
                let all = 863_955 + tenths;
                format!("{:02}:{:02}:{}", all / 36000 % 24, all / 600 % 60, secs(all % 600))
            }),
        ),
        ("durations of pandas", timed("time", move |tenths| format!("0 days {}", day(tenths)))),
        ("durations as index", timed("", move |tenths| format!("0 days {}00000", day(tenths)))),
        ("dates as index", timed("", date("%Y-%m-%d %H:%M:%S%.f"))),
        ("milliseconds", timed("time_ms", whole(100, 0))),
        ("microseconds", timed("timestamp_us", whole(100_000, 7))),
        ("nanoseconds of ROS", timed("%time", whole(100_000_000, 5_000_000_000))),
        ("milliseconds in brackets", timed("Time (ms)", whole(100, 50))),
        ("of ArduPilot", timed("TimeUS", whole(100_000, 99))),
        ("since 1970 in seconds", timed("ts", |tenths| format!("15837488{}", secs(730 + tenths)))),
        ("since 1970 in milliseconds", timed("timestamp", whole(100, 1_583_748_873_000))),
        ("since 1970 in nanoseconds", timed("timestamp", whole(100_000_000, 1_583_748_873_000_000_000))),
        ("minutes", timed("elapsed_min", |tenths| format!("{:.13}", tenths as f64 / 600.0))),
        (
            "days of a spreadsheet",
            timed("date", |tenths| format!("{:.12}", 43899.0 + tenths as f64 / 864_000.0)),
        ),
    ];
    for (name, text) in variants {
        assert_plain(name, text.into_bytes());
    }
}

#[test]
fn words_and_numbers_in_place_of_values_are_missing_and_said() {
    for word in [
        "",
        "NA",
        "#N/A",
        "nan",
        "NaN",
        "null",
        "None",
        "NaT",
        "-",
        "--",
        "ERR",
        "error",
        "#DIV/0!",
        "Bad Input",
        "-999",
        "65535",
        "open",
    ] {
        let text = changed(|at, line| {
            if at % 30 == 5 {
                line[1] = word.into()
            }
        });
        let (mapping, found) = read(text.into_bytes()).unwrap_or_else(|why| panic!("{word}: {why:#}"));
        let names: Vec<&str> = mapping.observation.iter().map(|channel| channel.name()).collect();
        assert_eq!(names, ["level", "flow", "valve"], "{word}");
        let expected = expected();
        let same = numbers(&mapping, &found.all[0]);
        // In place of what is missing stands the value before it.
        let held = |at: usize| if at % 30 == 4 { at - 1 } else { at };
        for (own, expected) in same.iter().zip(expected) {
            let is_held = own.0 == "level";
            let of = |at: usize| expected.1[if is_held { held(at) } else { at }];
            let expected: Vec<f64> = (0..90).map(of).collect();
            assert_eq!(own.1, expected, "{word}: {}", own.0);
        }
        let silent = ["", "NA", "#N/A", "nan", "NaN", "null", "None", "NaT", "-", "--"].contains(&word);
        assert!(
            silent || found.remarks.iter().any(|remark| remark.contains("level: taken as missing: 3")),
            "{word}"
        );
    }
    let many = read(
        changed(|at, line| {
            if at % 4 == 1 {
                line[1] = "open".into()
            }
        })
        .into_bytes(),
    )
    .unwrap();
    assert!(many.0.channels().all(|channel| channel.column != "level"), "a quarter of words is no channel");
}

#[test]
fn times_out_of_order_are_brought_into_order_and_counted() {
    let mut lines = fields(secs);
    lines[1..].reverse();
    let (mapping, found) = assert_plain("reversed", joined(&lines, ",").into());
    assert!(mapping.to_toml().contains("order = \"sort\""), "{}", mapping.to_toml());
    assert!(found.remarks[0].contains("89 have a time before that of the row before"), "{:?}", found.remarks);
    let mut lines = fields(secs);
    lines.swap(40, 41);
    let (_, found) = assert_plain("a step back", joined(&lines, ",").into());
    assert!(found.remarks[0].contains("1 have a time before"), "{:?}", found.remarks);

    let with = |order: &str| {
        let text = format!(
            "version = 1\nobservation = [{{ column = \"level\" }}]\n[clock]\ncolumn = \"time\"\nrate_hz = 10.0\n{order}"
        );
        let log = [Log::Bytes(PathBuf::from("run.csv"), joined(&lines, ",").into_bytes().into())];
        recordings::read(&log, &Mapping::parse(&text).unwrap(), Truth::Needed, &Context::silent(1, 1))
    };
    let why = format!("{:#}", with("").unwrap_err());
    assert!(why.contains("found 1 of 90 that do, first in row 40: 3.9 after 4"), "{why}");
    assert!(why.contains("order = \"sort\"") && why.contains("by = \"gap\""), "{why}");
    assert!(with("order = \"drop\"").unwrap().remarks[0].contains("left out"));
}

#[test]
fn a_clock_that_begins_anew_begins_a_recording() {
    let twice = format!("{}{}", plain(), plain().split_once('\n').unwrap().1);
    let (mapping, found) = read(twice.into_bytes()).unwrap();
    assert!(matches!(mapping.episodes, Episodes::Gap { .. }), "{mapping:?}");
    let lengths: Vec<usize> = found.all.iter().map(|recording| recording.secs.len()).collect();
    assert_eq!(lengths, [90, 90]);
}

#[test]
fn a_line_that_is_ragged_or_cut_off_costs_itself() {
    let text = plain().replacen("\n1.0,", "\n1.0,7,", 1);
    let (_, found) = read(text[..text.trim_end().rfind(',').unwrap()].into()).unwrap();
    let said = found.remarks.join("; ");
    assert!(said.contains("lines: 2 times, the first: line 12: expected 4 fields"), "{said}");
    assert_eq!(found.rows, read(plain().into_bytes()).unwrap().1.rows - 2);
}

#[test]
fn what_cannot_be_read_is_refused_with_its_line() {
    let why = |text: String| format!("{:#}", read(text.into_bytes()).unwrap_err());
    let short = why(plain().replacen("time,level,flow,valve", "time,level", 1));
    assert!(
        short.contains("line 1: expected as many names as the rows below have fields, 4, found 2"),
        "{short}"
    );
    let large = why(changed(|at, line| {
        if at == 30 {
            line[2] = "1e40".into()
        }
    }));
    assert!(
        large.contains(
            "run.csv: line 31: row 29, column \"flow\": expected a number within 3.4028234663852886e38 of 0"
        ),
        "{large}"
    );
    assert!(large.contains("found 1e40"), "{large}");
    let words = why("a,b\nx,y\nx,z\n".into());
    assert!(
        words.contains("no mapping can be proposed (a: texts such as x; b: texts such as y, z)"),
        "{words}"
    );
}

#[test]
fn columns_of_one_name_are_told_apart_and_names_that_are_absent_are_said() {
    let twice = changed(|at, line| line.push(if at == 0 { "level".into() } else { at.to_string() + ".5" }));
    let (mapping, found) = read(twice.into_bytes()).unwrap();
    assert!(mapping.channels().any(|channel| channel.column == "level.1"));
    assert!(
        found.remarks.iter().any(|remark| remark.contains("two columns are called level")),
        "{:?}",
        found.remarks
    );
    let without = plain().split_once('\n').unwrap().1.to_string();
    let (mapping, found) = read(without.into_bytes()).unwrap();
    assert_eq!(mapping.clock.column.as_deref(), Some("0"));
    assert!(found.remarks.iter().any(|remark| remark.contains("no line has names")), "{:?}", found.remarks);
    let by_number = changed(|at, line| {
        if at == 0 {
            *line = ["", "0", "1", "2"].map(str::to_string).to_vec()
        }
    });
    assert_eq!(
        read(by_number.into_bytes()).unwrap().1.all[0].secs.len(),
        90,
        "pandas' columns without names"
    );
}

#[test]
fn a_label_of_words_is_nominal_where_it_says_so() {
    let label = |word: fn(usize) -> &'static str| {
        let text = changed(|at, line| line.push(if at == 0 { "fault".into() } else { word(at).into() }));
        read(text.into_bytes()).unwrap().1.all[0].labels.clone().unwrap()
    };
    let found = label(|at| if at > 60 { "leak" } else { "normal" });
    assert_eq!(found.iter().position(|&is| is), Some(59));
    let found = label(|at| if at < 30 { "leak" } else { "OK" });
    assert!(found[0] && !found[40], "the first word need not be the nominal one");
}

#[test]
fn a_column_of_the_mapping_that_is_absent_is_an_error() {
    let with = |rest: &str, truth| {
        let text = format!("version = 1\nobservation = [{{ column = \"level\" }}]\n{rest}");
        let log = [Log::Bytes(PathBuf::from("run.csv"), plain().into_bytes().into())];
        let found = recordings::read(&log, &Mapping::parse(&text).unwrap(), truth, &Context::silent(1, 1));
        found.map(|found| found.all.len()).map_err(|why| format!("{why:#}"))
    };
    let label = "label = \"falt\"\n[clock]\ncolumn = \"time\"";
    let why = with(label, Truth::Needed).unwrap_err();
    assert!(
        why.contains("expected the column \"falt\" of the mapping, which says what was wrong, found none"),
        "{why}"
    );
    assert_eq!(with(label, Truth::IfThere), Ok(1), "a log that is scored may have no label");
    for truth in [Truth::Needed, Truth::IfThere] {
        let why = with("[clock]\ncolumn = \"tme\"", truth).unwrap_err();
        assert!(
            why.contains("expected the column \"tme\", which is the clock of the mapping, found none"),
            "{why}"
        );
    }
}

#[test]
fn flags_of_the_last_row_end_episodes_and_nothing_that_follows_a_step_is_observed() {
    for (name, command) in [("d4rl.h5", "actions"), ("robomimic.h5", "data:actions")] {
        let log = [PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data")).join(name)];
        let context = Context::silent(1, 1);
        let mapping = recordings::proposal(&log, &context).unwrap().mapping;
        let names: Vec<&str> = mapping.observation.iter().map(|channel| channel.name()).collect();
        assert_eq!(names.len(), 2, "{name}: {names:?}");
        assert!(names.iter().all(|name| name.contains("obs") && !name.contains("next")), "{names:?}");
        assert_eq!(mapping.command[0].name(), command, "{name}");
        let found = recordings::read(&log, &mapping, Truth::Needed, &context).unwrap().all;
        let lengths: Vec<usize> = found.iter().map(|recording| recording.len(2)).collect();
        assert_eq!(lengths, [7; 5], "{name}: eight rows, of which none is in two episodes");
    }
}

#[test]
fn a_proposal_is_read_as_it_is_written_for_a_log_of_every_format() {
    let folder = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data"));
    let context = Context::silent(1, 1);
    let mut read = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|end| end == "py") {
            continue;
        }
        let log = [match path.join("table-v0") {
            inner if inner.is_dir() => inner,
            _ => path.clone(),
        }];
        let proposal = match recordings::proposal(&log, &context) {
            Ok(proposal) => proposal,
            Err(why) => {
                assert!(
                    format!("{why:#}").contains("no mapping can be proposed"),
                    "{}: {why:#}",
                    path.display()
                );
                continue;
            }
        };
        let mapping =
            Mapping::parse(&proposal.to_toml()).unwrap_or_else(|why| panic!("{}: {why:#}", path.display()));
        let found = recordings::read(&log, &mapping, Truth::Needed, &context);
        found.unwrap_or_else(|why| panic!("{}: {why:#}\n{}", path.display(), proposal.to_toml()));
        read += 1;
    }
    assert!(read >= 15, "{read}");
}
