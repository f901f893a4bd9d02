//! A monitor that was fitted on bags, and the node as a program that plays others.

use super::bag::{Fault, bag, share};
use offnominal_core::fit_progress::FitProgress;
use offnominal_core::{Rng, Seed};
use offnominal_detectors::diagnosis::{Diagnoser, Direction, Family, Fault as Example, Hypothesis};
use offnominal_laws::nominal_episodes;
use offnominal_monitor::{About, decode, encode};
use serde_json::Value;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::LazyLock;
use tempfile::TempDir;

/// Which column of the bags is which channel.
pub const MAPPING: &str = r#"version = 1
observation = [
    { column = "/joint_states:position[elbow]", name = "elbow", unit = "rad" },
    { column = "/joint_states:velocity[shoulder]", name = "speed", unit = "rad/s" },
    { column = "/imu:angular_velocity.z", name = "gyro", unit = "rad/s" },
]
command = [{ column = "/cmd_vel:linear.x", name = "push" }]
[clock]
rate_hz = 20.0
max_age_secs = 0.06
[episodes]
by = "file"
"#;

/// The sources of the node, and of the program that plays bags to it.
const SOURCES: [&str; 6] = [
    "src/watch.cpp",
    "src/status.cpp",
    "src/definitions.cpp",
    "src/messages.cpp",
    "src/node.cpp",
    "test/replay.cpp",
];

/// Bags that the monitor is fitted on.
const N_NOMINAL: u64 = 24;

/// A detector that is fitted in a tenth of a second, and leaves missing numbers out of its score as the default one does.
const QUICK: &str = "{ id = \"ensemble-dm\", members = 2, hidden = [8], training = { epochs = 5 } }";

/// A folder with the monitor and the program.
pub struct Lab {
    folder: TempDir,
    /// Whether the monitor says what looks wrong, which takes long to fit.
    pub diagnoses: bool,
}

/// The laboratory, or nothing where there is no compiler.
pub fn lab() -> Option<&'static Lab> {
    static LAB: LazyLock<Option<Lab>> = LazyLock::new(Lab::new);
    LAB.as_ref()
}

impl Lab {
    fn new() -> Option<Lab> {
        let compiler = compiler()?;
        let diagnoses = skips::is_slow_tier("the default detector and a diagnosis in the node of ROS 2");
        let lab = Lab { folder: tempfile::tempdir().unwrap(), diagnoses };
        lab.compile(&compiler);
        lab.fit();
        Some(lab)
    }

    /// Compiles the node and the program that plays bags to it. In the quick tier all sources are one, which takes half the
    /// time; in the slow tier each stands alone.
    fn compile(&self, compiler: &OsString) {
        let sources = SOURCES.map(|name| package().join(name));
        let include = |path: &PathBuf| format!("#include \"{}\"\n", path.display());
        let all: String = sources.iter().map(include).collect();
        let all = self.write("all.cpp", all.as_bytes());
        let mut command = strict(compiler);
        if self.diagnoses {
            command.args(sources)
        } else {
            command.arg(all)
        };
        succeeds(command.arg(library()).args(["-lpthread", "-ldl", "-lm", "-o"]).arg(self.path("replay")));
        // The program of the node starts an executor, of which there is none; it is only looked at.
        succeeds(strict(compiler).arg("-fsyntax-only").arg(package().join("src/main.cpp")));
    }

    fn fit(&self) {
        self.write("map.toml", MAPPING.as_bytes());
        let name = |i| format!("nominal{i}.mcap");
        let bags: Vec<String> =
            (0..N_NOMINAL).map(|i| self.write(&name(i), &bag(100 + i, Fault::default()))).collect();
        let mut command = Command::new(env!("CARGO_BIN_EXE_offnominal"));
        command.arg("fit").args(bags).args(["--map", &self.path("map.toml"), "--alpha", "0.1", "--quiet"]);
        let detector = if self.diagnoses { "default" } else { QUICK };
        command.args(["--detector", detector, "--diagnosis", &self.diagnoses.to_string()]);
        command.args(["--out", &self.path("arm.monitor")]);
        succeeds(&mut command);
    }

    pub fn path(&self, name: &str) -> String {
        self.folder.path().join(name).into_os_string().into_string().unwrap()
    }

    /// Writes a file; its path.
    pub fn write(&self, name: &str, bytes: &[u8]) -> String {
        std::fs::write(self.path(name), bytes).unwrap();
        self.path(name)
    }

    /// The same monitor with a diagnosis that was taught two names; what it says of bags is of no use, but of the same bits
    /// everywhere.
    pub fn teach_names(&self) {
        let bytes = std::fs::read(self.path("arm.monitor")).unwrap();
        let (about, mut archive) = decode(&bytes).unwrap();
        archive.lists.retain(|name, _| !name.starts_with("diagnosis."));
        let episodes = nominal_episodes(Seed(3), 40, 40);
        let views: Vec<_> = episodes.iter().map(|episode| episode.signals()).collect();
        let mut diagnoser = Diagnoser::fit(&views[..6], &mut Rng::new(1), FitProgress::unseen()).unwrap();
        let hypothesis = |(anomaly, family): (&str, Family)| Hypothesis {
            anomaly: anomaly.into(),
            family,
            neutral: 0.0,
            direction: Direction::Down,
        };
        let hypotheses = [("obs-noise", Family::Observation), ("dyn-mass", Family::Dynamics)].map(hypothesis);
        let fault = |i: usize| Example { hypothesis: i % 2, magnitude: -1.0, signals: views[i], alarm: 9 };
        let faults: Vec<Example<'_>> = (0..views.len()).map(fault).collect();
        let (hypotheses, mut rng) = (hypotheses.to_vec(), Rng::new(2));
        diagnoser.teach(hypotheses.clone(), &faults, &mut rng, FitProgress::unseen()).unwrap();
        diagnoser.save(&mut archive.writer().part("diagnosis"));
        let about = About { diagnoses: true, hypotheses, ..about };
        self.write("naming.monitor", &encode(&about, &archive));
    }

    /// What `monitor` says of a bag by a mapping.
    pub fn monitor(&self, monitor: &str, mapping: &str, bag: &str) -> Vec<Value> {
        let mut command = Command::new(env!("CARGO_BIN_EXE_offnominal"));
        command.args(["monitor", &self.path(monitor), "--map", mapping]);
        lines(&succeeds(command.stdin(std::fs::File::open(bag).unwrap())))
    }

    /// What the node says of a bag, with services that are called so many seconds after its beginning.
    pub fn replay(&self, bag: &str, calls: &[(&str, &str)]) -> Said {
        self.replay_with("arm.monitor", "-", bag, calls)
    }

    pub fn replay_with(&self, monitor: &str, mapping: &str, bag: &str, calls: &[(&str, &str)]) -> Said {
        let mut command = self.node(&self.path(monitor), mapping, bag);
        command.args(calls.iter().flat_map(|(secs, service)| [secs, service]));
        Said(lines(&succeeds(&mut command)))
    }

    /// Why the node does not start.
    pub fn refused(&self, monitor: &str, mapping: &str, bag: &str) -> String {
        let output = self.node(monitor, mapping, bag).output().unwrap();
        assert_eq!(output.status.code(), Some(2));
        String::from_utf8(output.stderr).unwrap()
    }

    fn node(&self, monitor: &str, mapping: &str, bag: &str) -> Command {
        let mut command = Command::new(self.path("replay"));
        command.args([monitor, mapping, bag]).env("STUBS_SHARE", share());
        command
    }
}

/// What the node has published, answered and logged, in its order.
#[derive(Debug)]
pub struct Said(pub Vec<Value>);

impl Said {
    fn all(&self, name: &str) -> Vec<Value> {
        self.0.iter().filter_map(|line| line.get(name).cloned()).collect()
    }

    pub fn verdicts(&self) -> Vec<Value> {
        self.all("~/verdict")
    }

    pub fn statuses(&self) -> Vec<Value> {
        self.all("/diagnostics")
    }

    pub fn answers(&self, service: &str) -> Vec<Value> {
        self.all(service)
    }

    pub fn errors(&self) -> Vec<String> {
        self.all("error").iter().map(|text| text.as_str().unwrap().to_string()).collect()
    }

    /// The levels of the diagnostics with the beginnings of their messages; those that stay as they were are told once.
    pub fn levels(&self) -> Vec<(u64, &'static str)> {
        const BEGINNINGS: [&str; 6] = [
            "no number yet of",
            "no step yet",
            "nominal",
            "alarm since step",
            "lost sensors: gyro",
            "the episode is young",
        ];
        let level = |status: &Value| {
            let message = status["message"].as_str().unwrap();
            let known = BEGINNINGS.into_iter().find(|beginning| message.starts_with(beginning));
            (status["level"].as_u64().unwrap(), known.unwrap_or_else(|| panic!("{message}")))
        };
        let mut levels: Vec<_> = self.statuses().iter().map(level).collect();
        levels.dedup();
        levels
    }
}

fn package() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../ros2/offnominal_monitor_ros")
}

/// A compiler that takes every warning for an error, and finds the stubs.
fn strict(compiler: &OsString) -> Command {
    let mut command = Command::new(compiler);
    command.args(["-std=c++17", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-O0"]);
    for folder in ["include", "test", "test/stubs", "../../crates/offnominal-monitor-c/include"] {
        command.arg("-I").arg(package().join(folder));
    }
    command
}

/// A compiler of C++, or a test that is skipped.
fn compiler() -> Option<OsString> {
    let name = std::env::var_os("CXX").unwrap_or_else(|| "c++".into());
    let runs = Command::new(&name).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
    if cfg!(unix) && runs.is_ok_and(|status| status.success()) {
        return Some(name);
    }
    skips::skip("c++", "the node of ROS 2 against stubs");
    None
}

/// The static library, which cargo makes beside the program of this test.
fn library() -> PathBuf {
    let program = std::env::current_exe().unwrap();
    let found = program.with_file_name("liboffnominal_monitor_c.a");
    assert!(found.is_file(), "there is no {}", found.display());
    found
}

#[track_caller]
fn succeeds(command: &mut Command) -> Output {
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    output
}

fn lines(output: &Output) -> Vec<Value> {
    let text = std::str::from_utf8(&output.stdout).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap_or_else(|_| panic!("{line}"))).collect()
}
