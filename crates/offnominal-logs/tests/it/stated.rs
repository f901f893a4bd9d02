//! What a log states beside its numbers: names that come twice, units, types of times, keys of episodes.

use arrow_array::{ArrayRef, Float64Array, RecordBatch, TimestampNanosecondArray};
use arrow_ipc::writer::StreamWriter;
use arrow_schema::{DataType, Field, Schema, TimeUnit as ArrowUnit};
use offnominal_engine::context::Context;
use offnominal_logs::chosen::Truth;
use offnominal_logs::inspect::guess::Proposal;
use offnominal_logs::mapping::TimeUnit;
use offnominal_logs::recordings::{self, Recordings};
use offnominal_logs::source::Log;
use std::path::PathBuf;
use std::sync::Arc;

fn log(name: &str, bytes: impl Into<Vec<u8>>) -> Log {
    Log::Bytes(PathBuf::from(name), bytes.into().into())
}

fn proposal(logs: &[Log]) -> anyhow::Result<Proposal> {
    recordings::proposal(logs, &Context::silent(1, 1))
}

fn read(logs: &[Log]) -> anyhow::Result<(Proposal, Recordings)> {
    let found = proposal(logs)?;
    let recordings = recordings::read(logs, &found.mapping, Truth::Needed, &Context::silent(1, 1))?;
    Ok((found, recordings))
}

fn waves(scale: f64) -> Vec<f64> {
    (0..90).map(|i| scale * (f64::from(i) / 9.0).sin()).collect()
}

/// A table as text with these names and rows.
fn table(names: &str, row: impl Fn(usize) -> String) -> Vec<u8> {
    let rows: String = (0..90).map(|i| row(i) + "\n").collect();
    format!("{names}\n{rows}").into_bytes()
}

fn arrow(columns: Vec<(&str, ArrayRef)>) -> Vec<u8> {
    let fields: Vec<Field> =
        columns.iter().map(|(name, array)| Field::new(*name, array.data_type().clone(), true)).collect();
    let schema = Arc::new(Schema::new(fields));
    let arrays = columns.into_iter().map(|(_, array)| array).collect();
    let mut writer = StreamWriter::try_new(Vec::new(), &schema).unwrap();
    writer.write(&RecordBatch::try_new(schema, arrays).unwrap()).unwrap();
    writer.into_inner().unwrap()
}

fn numbers(scale: f64) -> ArrayRef {
    Arc::new(Float64Array::from(waves(scale)))
}

fn times(from: i64, step: i64) -> ArrayRef {
    let times = TimestampNanosecondArray::from_iter_values((0..90).map(|i| from + step * i));
    assert_eq!(*arrow_array::Array::data_type(&times), DataType::Timestamp(ArrowUnit::Nanosecond, None));
    Arc::new(times)
}

#[test]
fn columns_of_arrow_whose_names_are_one_are_told_apart() {
    for names in [["tank (upper)", "tank (lower)"], ["tank", "tank"]] {
        let columns = vec![(names[0], numbers(1.0)), (names[1], numbers(2.0))];
        let (found, recordings) = read(&[log("a.arrows", arrow(columns))]).unwrap();
        let channels: Vec<&str> = found.mapping.channels().map(|channel| channel.name()).collect();
        assert_eq!(channels, ["tank", "tank.1"]);
        assert_eq!(recordings.all[0].observations[2..4], [waves(1.0)[1], waves(2.0)[1]]);
        let said = recordings.remarks.join("; ");
        assert!(said.contains("two columns are called tank: the later one is tank.1"), "{said}");
    }
}

#[test]
fn a_type_that_is_a_time_makes_a_clock_of_nanoseconds() {
    let second = 1_000_000_000;
    for (name, from, step) in
        [("time", 0, second), ("when", 0, second), ("__index_level_0__", 1_583_748_873 * second, second / 10)]
    {
        let columns = vec![("level", numbers(1.0)), (name, times(from, step))];
        let (found, recordings) = read(&[log("a.arrows", arrow(columns))]).unwrap();
        let clock = &found.mapping.clock;
        assert_eq!((clock.column.as_deref(), clock.unit), (Some(name), TimeUnit::Nanos));
        assert_eq!(clock.rate_hz, Some(second as f64 / step as f64), "{name}");
        assert_eq!(recordings.all[0].secs.len(), 90);
    }
}

#[test]
fn logs_that_state_different_units_are_refused_with_both() {
    let of = |name: &str, units: [&str; 2]| {
        log(
            name,
            table(&format!("time [{}],level [{}],flow", units[0], units[1]), |i| {
                format!("{i},{},{}", waves(1.0)[i], waves(0.5)[i].cos())
            }),
        )
    };
    for (other, says) in [
        (["ms", "m"], "column \"time\": expected one unit, found s in a.csv and ms in b.csv"),
        (["s", "cm"], "found m in a.csv and cm in b.csv"),
    ] {
        let logs = [of("a.csv", ["s", "m"]), of("b.csv", other)];
        let why = format!("{:#}", proposal(&logs).unwrap_err());
        assert!(why.contains(says), "{why}");
        let mapping = proposal(&logs[..1]).unwrap().mapping;
        let why = recordings::read(&logs, &mapping, Truth::Needed, &Context::silent(1, 1)).unwrap_err();
        let why = format!("{why:#}");
        assert!(why.contains("b.csv") && why.contains("of the mapping, found"), "{why}");
    }
    assert!(read(&[of("a.csv", ["s", "m"]), of("b.csv", ["sec", "m"])]).is_ok(), "spellings of one unit");
}

#[test]
fn episodes_in_turns_are_refused_and_a_value_that_comes_back_later_is_said() {
    let runs = |of: fn(usize) -> (&'static str, usize)| {
        let row = |i: usize| format!("{},{}.5,{}", of(i).0, of(i).1, waves(1.0)[i]);
        read(&[log("fleet.csv", table("run,time,level", row))])
    };
    // Two robots at the same times, which write fifteen rows at once.
    let turns = |i: usize| (if (i / 15).is_multiple_of(2) { "a" } else { "b" }, i / 30 * 15 + i % 15);
    let why = format!("{:#}", runs(turns).unwrap_err());
    let parts = [
        "log fleet.csv",
        "by the column run",
        "found a again in row 30, while rows of b",
        "sort the rows by run",
    ];
    for part in parts {
        assert!(why.contains(part), "{why}");
    }
    let found = runs(|i| if i < 45 { ("a", i) } else { ("b", i - 45) }).unwrap().1;
    assert_eq!(found.all.len(), 2);
    assert!(!found.remarks.concat().contains("comes back"), "{:?}", found.remarks);
    let found = runs(|i| (if (i / 15).is_multiple_of(2) { "a" } else { "b" }, i)).unwrap().1;
    assert_eq!(found.all.len(), 6);
    assert!(found.remarks[0].contains("run: 4 times a value comes back"), "{:?}", found.remarks);
}

#[test]
fn an_observation_stays_though_a_column_that_is_not_taken_equals_it() {
    let row = |i: usize| {
        let [joint, other] = [waves(1.0)[i], waves(0.5)[i].cos()];
        format!("{joint},{joint},{other},{joint},{}", waves(0.3)[i])
    };
    let found =
        proposal(&[log("a.csv", table("states[1],obs/joint,obs/other,obs/copy,actions", row))]).unwrap();
    let names: Vec<&str> = found.mapping.observation.iter().map(|channel| channel.name()).collect();
    assert_eq!(names, ["obs/joint", "obs/other"], "{:?}", found.why);
    assert_eq!(found.why["obs/copy"], "holds the same as obs/joint");
}

#[test]
fn thousands_that_come_after_the_head_are_no_thousandths_where_points_stand_before_decimals() {
    let row = |i: usize| {
        let pressure = if i < 70 { (900 + i % 9 * 7).to_string() } else { format!("1,{:03}", i % 9 * 7) };
        format!("{i}\t{pressure}\t{:.4}", waves(0.5)[i])
    };
    let (found, recordings) = read(&[log("a.tsv", table("time\tpressure\tflow", row))]).unwrap();
    assert_eq!(found.mapping.observation[0].name(), "pressure");
    assert_eq!(recordings.all[0].observations[2 * 80], 1056.0);
    let said = recordings.remarks.join("; ");
    assert!(said.contains("the comma in numbers such as 1,049 stands between thousands"), "{said}");
}
