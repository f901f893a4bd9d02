//! `monitor` with `--serve`, `--record` and `--mcap`: what is told and kept beside the verdicts.

use crate::monitor::small;
use crate::{fails, offnominal, python, python_has};
use offnominal_logs::formats;
use offnominal_logs::record::{Column, Sink, Topic, Value};
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Duration;

/// `monitor` at work.
pub struct Running {
    pub child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    errors: BufReader<std::process::ChildStderr>,
    n_lines: u64,
}

impl Running {
    pub fn start(monitor: &Path, more: &[&str]) -> Running {
        let mut command = Command::new(env!("CARGO_BIN_EXE_offnominal"));
        command.arg("monitor").arg(monitor).args(more).env_remove("OFFNOMINAL_TOKEN");
        let pipes = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = pipes.spawn().unwrap();
        let (output, errors) = (child.stdout.take().unwrap(), child.stderr.take().unwrap());
        let input = child.stdin.take();
        Running { child, input, output: BufReader::new(output), errors: BufReader::new(errors), n_lines: 0 }
    }

    /// Where the page is, as `ADDRESS:PORT`.
    pub fn address(&mut self) -> String {
        let mut line = String::new();
        self.errors.read_line(&mut line).unwrap();
        let at = line.split("http://").nth(1).unwrap_or_else(|| panic!("{line}"));
        at.split('/').next().unwrap().to_string()
    }

    /// A tick whose observations are all of a size, but for the last, which was not read; the verdict on it but for the
    /// first tick.
    pub fn tick(&mut self, size: f32) -> Option<serde_json::Value> {
        let obs = format!("[{}null]", format!("{size}, ").repeat(13));
        let reset = if self.n_lines == 0 { ", \"reset\": true" } else { "" };
        let line = format!("{{\"obs\": {obs}, \"action\": [0.1, -0.1]{reset}}}\n");
        self.input.as_mut().unwrap().write_all(line.as_bytes()).unwrap();
        self.n_lines += 1;
        (self.n_lines > 1).then(|| {
            let mut line = String::new();
            self.output.read_line(&mut line).unwrap();
            serde_json::from_str(&line).unwrap_or_else(|_| panic!("{line:?}: {}", self.said()))
        })
    }

    /// Ends the input; the code and what else was said on standard error.
    pub fn end(mut self) -> (i32, String) {
        drop(self.input.take());
        let said = self.said();
        (self.child.wait().unwrap().code().unwrap_or(-1), said)
    }

    fn said(&mut self) -> String {
        let mut said = String::new();
        self.errors.read_to_string(&mut said).unwrap();
        said
    }
}

/// Sends a request and returns all that is answered.
pub fn ask(at: &str, first: &str, headers: &str) -> String {
    rest(asked(at, first, headers))
}

/// Sends a request.
fn asked(at: &str, first: &str, headers: &str) -> TcpStream {
    let mut stream = TcpStream::connect(at).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    write!(stream, "{first} HTTP/1.1\r\nHost: {at}\r\n{headers}\r\n").unwrap();
    stream
}

/// All that is still answered; what came before a connection broke counts.
fn rest(mut stream: TcpStream) -> String {
    let mut bytes = Vec::new();
    let _ = stream.read_to_end(&mut bytes);
    String::from_utf8_lossy(&bytes).into_owned()
}

/// The columns of a log by `topic:column`, each value as its bits; nothing where it is missing.
#[derive(Default)]
struct Columns {
    topics: Vec<String>,
    names: BTreeMap<(usize, usize), String>,
    values: BTreeMap<String, Vec<Option<u64>>>,
    said: Vec<String>,
}

impl Sink for Columns {
    fn topic(&mut self, _: usize, topic: &Topic) -> anyhow::Result<bool> {
        self.topics.push(topic.name.clone());
        Ok(true)
    }

    fn column(&mut self, topic: usize, number: usize, column: &Column) -> anyhow::Result<()> {
        self.names.insert((topic, number), format!("{}:{}", self.topics[topic], column.name));
        Ok(())
    }

    fn row(&mut self, topic: usize, _: Option<i64>, row: &[Value<'_>]) -> anyhow::Result<()> {
        for (number, value) in row.iter().enumerate() {
            let values = self.values.entry(self.names[&(topic, number)].clone()).or_default();
            values.push(value.number().map(f64::to_bits));
        }
        Ok(())
    }

    fn left_out(&mut self, _: Option<usize>, what: &str) {
        self.said.push(what.into());
    }
}

fn columns(path: &Path) -> (Columns, Option<anyhow::Error>) {
    let mut columns = Columns::default();
    let read = formats::read(path, &mut columns);
    (columns, read.err())
}

#[test]
fn the_page_and_the_verdicts_say_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let mut running = Running::start(&small(folder.path()), &["--serve", "127.0.0.1:0"]);
    let at = running.address();
    // The stream is open before anything is told.
    let mut stream = asked(&at, "GET /events", "");
    stream.read_exact(&mut [0; 12]).unwrap();
    let reading = std::thread::spawn(move || rest(stream));
    let mut told: Vec<_> = (0..5).filter_map(|_| running.tick(0.1)).collect();
    let own = "X-Offnominal: acknowledge\r\nContent-Length: 0\r\n";
    while told.last().is_none_or(|verdict| verdict["state"] != "raised") {
        told.extend(running.tick(50.0 * told.len() as f32));
        assert!(told.len() < 50, "no alarm: {told:?}");
    }
    // Told on standard output first, and at the page in the same moment.
    let until = std::time::Instant::now() + Duration::from_secs(10);
    while !ask(&at, "POST /acknowledge", own).contains("202 Accepted") {
        assert!(std::time::Instant::now() < until, "the alarm is not acknowledged");
    }
    told.extend(running.tick(0.1));
    assert_eq!(told[told.len() - 1]["acknowledged"], true);
    let steps = format!("offnominal_steps_total{{monitor=\"m.monitor\"}} {}\n", told.len());
    let metrics = loop {
        let metrics = ask(&at, "GET /metrics", "");
        if metrics.contains(&steps) {
            break metrics;
        }
        assert!(std::time::Instant::now() < until, "{metrics}");
    };
    check_metrics(metrics.split_once("\r\n\r\n").unwrap().1);
    assert_eq!(running.end(), (0, String::new()));
    let events = reading.join().unwrap();
    let of = |part: &str| serde_json::from_str(part.split('\n').next().unwrap()).unwrap();
    let seen: Vec<serde_json::Value> = events.split("event: step\ndata: ").skip(1).map(of).collect();
    assert_eq!(seen, told, "{events}");
}

/// Every sample follows its type, has a number, and labels between braces.
fn check_metrics(text: &str) {
    let mut kinds = BTreeMap::new();
    assert!(text.ends_with('\n'));
    for line in text.lines() {
        if let Some(rest) = line.strip_prefix("# TYPE ") {
            let (name, kind) = rest.split_once(' ').unwrap();
            assert!(["counter", "gauge"].contains(&kind) && kinds.insert(name, kind).is_none(), "{line}");
            assert_eq!(kind == "counter", name.ends_with("_total"), "{line}");
        } else if !line.starts_with("# HELP ") {
            let (sample, value) = line.rsplit_once(' ').unwrap();
            let (name, labels) = sample.split_once('{').unwrap();
            assert!(kinds.contains_key(name) && labels.ends_with("\"}"), "{line}");
            assert!(value.parse::<f64>().is_ok(), "{line}");
        }
    }
    assert!(kinds.len() > 10, "{kinds:?}");
}

#[test]
fn an_address_for_others_needs_a_token_before_anything_starts() {
    let folder = tempfile::tempdir().unwrap();
    let refused = |more: &[&str]| {
        let args = [&["monitor", "no-such.monitor"], more].concat();
        fails(offnominal(&args, folder.path()).env_remove("OFFNOMINAL_TOKEN").stdin(Stdio::null()))
    };
    let said = refused(&["--serve", "0.0.0.0:0", "--record", "1"]);
    assert!(said.contains("expected an address of this machine alone"), "{said}");
    assert!(
        refused(&["--serve", "127.0.0.1:0", "--record", "1", "--token", "short"]).contains("at least 16")
    );
    let said = refused(&["--record=-1"]);
    assert!(said.contains("expected a number of seconds, found -1"), "{said}");
    assert!(refused(&[]).contains("--record <SECONDS>"));
    let monitor = small(folder.path());
    let mut running = Running::start(&monitor, &["--serve", "0.0.0.0:0", "--token", "0123456789abcdef"]);
    let at = running.address().replace("0.0.0.0", "127.0.0.1");
    assert!(ask(&at, "GET /metrics", "").contains("401 Unauthorized"));
    let bearer = "Authorization: Bearer 0123456789abcdef\r\n";
    assert!(ask(&at, "GET /metrics", bearer).contains("200 OK"));
    assert_eq!(running.end().0, 0);
}

#[test]
fn what_happened_before_an_alarm_has_the_same_bits() {
    let folder = tempfile::tempdir().unwrap();
    let (out, mcap) = (folder.path().join("alarms"), folder.path().join("all.mcap"));
    let more = ["--record", "2", "--out", out.to_str().unwrap(), "--mcap", mcap.to_str().unwrap()];
    let mut running = Running::start(&small(folder.path()), &more);
    let (mut sizes, mut told) = (Vec::new(), Vec::new());
    while told.last().is_none_or(|verdict: &serde_json::Value| verdict["event"] != "raised") {
        sizes.push(if sizes.len() < 40 {
            0.001 + sizes.len() as f32 * 1e-5
        } else {
            31.7 * sizes.len() as f32
        });
        told.extend(running.tick(sizes[sizes.len() - 1]));
        assert!(told.len() < 90, "no alarm");
    }
    let (code, said) = running.end();
    assert!(code == 0 && said.contains("ticks before it are in"), "{said}");
    let step = told[told.len() - 1]["step"].as_u64().unwrap();
    let arrow = out.join(format!("alarm-0-{step}.arrow"));
    let bits = |values: &[f32]| values.iter().map(|x| Some(x.to_bits())).collect::<Vec<_>>();
    // A channel is a number of 32 bits; its decimal digits in JSON are as many as these need.
    let channel = |from: &Columns, name: &str| -> Vec<Option<u32>> {
        from.values[name].iter().map(|x| x.map(|x| (f64::from_bits(x) as f32).to_bits())).collect()
    };
    let (table, none) = columns(&arrow);
    assert!(none.is_none(), "{none:?}");
    // Two seconds of a step of 0.1 s are twenty steps, and the tick at which they begin.
    let n = table.values[":agent_x"].len();
    assert!(n == sizes.len().min(21), "{n}");
    let scores = |told: &[serde_json::Value]| -> Vec<Option<u64>> {
        told.iter().map(|verdict| verdict["score"].as_f64().map(f64::to_bits)).collect()
    };
    assert_eq!(channel(&table, ":agent_x"), bits(&sizes[sizes.len() - n..]));
    // Of a column the reader tells when it has its first number.
    assert!(!table.values.contains_key(":object_lidar_7"));
    assert_eq!(channel(&table, ":force_x"), bits(&vec![0.1; n]));
    assert_eq!(table.values[":score"], scores(&told[told.len() - n..]));
    for (file, n) in [(arrow.with_extension("mcap"), n), (mcap, sizes.len())] {
        let (messages, none) = columns(&file);
        assert!(none.is_none(), "{none:?}");
        assert_eq!(channel(&messages, "/observation:agent_x"), bits(&sizes[sizes.len() - n..]));
        assert_eq!(channel(&messages, "/action:force_y"), bits(&vec![-0.1; n]));
        assert_eq!(messages.values["/verdict:score"], scores(&told[told.len() - n.min(told.len())..]));
        assert!(!messages.values.contains_key("/observation:object_lidar_7"), "it was never read");
        if python_has("mcap") {
            assert_eq!(python(WITH_INDEX, &[&file], &[]).trim(), format!("{n} {n} {}", n.min(told.len())));
        }
    }
}

/// Reads a file by its index, comparing checksums: messages of each topic.
const WITH_INDEX: &str = "
import sys
from mcap.reader import make_reader
with open(sys.argv[1], 'rb') as file:
    reader = make_reader(file, validate_crcs=True)
    counts = reader.get_summary().statistics.channel_message_counts
    topics = {channel.topic: number for number, channel in reader.get_summary().channels.items()}
    for topic in ['/observation', '/action', '/verdict']:
        assert counts[topics[topic]] == len(list(reader.iter_messages(topics=[topic])))
    print(*(counts[topics[topic]] for topic in ['/observation', '/action', '/verdict']))
";

#[test]
fn a_kill_loses_nothing_of_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let mcap = folder.path().join("all.mcap");
    let out = folder.path().join("alarms");
    let monitor = small(folder.path());
    let more = ["--mcap", mcap.to_str().unwrap(), "--record", "9", "--out", out.to_str().unwrap()];
    let mut running = Running::start(&monitor, &more);
    let told = (0..30).filter_map(|i| running.tick(0.01 * i as f32)).count();
    // The line is told before it is kept, so the last one may be missing.
    std::thread::sleep(Duration::from_millis(200));
    running.child.kill().unwrap();
    running.child.wait().unwrap();
    let (messages, error) = columns(&mcap);
    assert_eq!(
        (messages.values["/observation:agent_x"].len(), messages.values["/verdict:score"].len()),
        (30, told)
    );
    assert!(error.is_none() && messages.said.iter().any(|what| what.starts_with("the file ended early")));
    let half: Vec<_> = std::fs::read_dir(&out).unwrap().flatten().map(|file| file.file_name()).collect();
    assert!(half.iter().all(|name| !name.to_string_lossy().starts_with(".offnominal-")), "{half:?}");
    let args = ["monitor", monitor.to_str().unwrap(), "--mcap", mcap.to_str().unwrap()];
    let said = fails(Command::new(env!("CARGO_BIN_EXE_offnominal")).args(args).stdin(Stdio::null()));
    assert!(said.contains("cannot begin the new file") && said.contains("exists"), "{said}");
}

#[test]
fn whole_transitions_are_kept_as_ticks_too() {
    let folder = tempfile::tempdir().unwrap();
    let mcap = folder.path().join("all.mcap");
    let mut running = Running::start(&small(folder.path()), &["--mcap", mcap.to_str().unwrap()]);
    let row = |x: usize| format!("{:?}", [x as f32; 14]);
    for i in 0..4 {
        let (obs, next) = (row(i), row(i + 1));
        let line = format!("{{\"obs\": {obs}, \"action\": [{i}, 0], \"next_obs\": {next}}}\n");
        running.input.as_mut().unwrap().write_all(line.as_bytes()).unwrap();
    }
    assert_eq!(running.end(), (0, String::new()));
    let (messages, _) = columns(&mcap);
    let numbers = |name: &str| -> Vec<f64> {
        messages.values[name].iter().map(|x| f64::from_bits(x.unwrap())).collect()
    };
    assert_eq!(numbers("/observation:agent_x"), [0.0, 1.0, 2.0, 3.0, 4.0]);
    assert_eq!(numbers("/action:force_x"), [0.0, 1.0, 2.0, 3.0]);
    assert_eq!(numbers("/verdict:step"), [0.0, 1.0, 2.0, 3.0]);
}
