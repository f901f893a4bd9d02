//! The house rules, as tests: direction of dependencies, headers, sizes, and words that must not stay.

mod circles;
mod docs;
mod formats;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// Who may depend on whom, from below upwards; everybody may depend on core and nets. A crate that is missing here fails
/// the test. The verticals (bench, risk, shift, pixels, logs, rollouts) know nothing of one another; audit calls bench and risk.
const ALLOWED: &[(&str, &[&str])] = &[
    ("core", &[]),
    ("laws", &[]),
    ("nets", &[]),
    ("mujoco", &[]),
    ("scenes", &[]),
    ("stats", &[]),
    ("topics", &[]),
    ("rtde", &["mujoco"]),
    ("worlds", &["mujoco", "rtde"]),
    ("agents", &[]),
    ("detectors", &[]),
    ("deep", &[]),
    ("monitor", &["detectors", "stats"]),
    // The border to C of one monitor.
    ("monitor-c", &["detectors", "monitor", "topics"]),
    // The border to the browser.
    ("web", &["detectors", "logs", "monitor", "work"]),
    ("files", &[]),
    ("skips", &[]),
    // Measurements; nothing that is shipped.
    ("studies", &["engine", "files", "report", "risk", "scenes", "stats"]),
    ("report", &["stats"]),
    // How work runs, and a monitor out of episodes: all that needs no environment.
    ("work", &["detectors", "files", "monitor", "stats"]),
    // Processes of others, and a monitor at work; neither needs a catalogue.
    ("hosts", &["files", "mujoco", "work"]),
    ("live", &["files", "monitor", "report", "work"]),
    (
        "engine",
        &["agents", "deep", "detectors", "files", "hosts", "monitor", "mujoco", "stats", "work", "worlds"],
    ),
    (
        "bench",
        &["agents", "detectors", "engine", "files", "hosts", "mujoco", "report", "stats", "work", "worlds"],
    ),
    ("risk", &["agents", "engine", "files", "monitor", "report", "stats", "work"]),
    ("shift", &["engine", "files", "report", "stats", "work", "worlds"]),
    ("pixels", &["deep", "detectors", "engine", "files", "report", "scenes", "stats", "work"]),
    ("logs", &["detectors", "engine", "files", "live", "monitor", "report", "stats", "topics", "work"]),
    ("rollouts", &["agents", "files", "report", "stats", "topics", "work"]),
    (
        // It stands on two verticals, whose commands it calls.
        "audit",
        &["bench", "engine", "files", "report", "risk", "stats", "work", "worlds"],
    ),
    (
        // It reads what any of them reads; for tests, and in no shipped program.
        "readers",
        &[
            "agents",
            "audit",
            "bench",
            "detectors",
            "engine",
            "files",
            "hosts",
            "live",
            "laws",
            "logs",
            "monitor",
            // All commands, whose requests are read.
            "offnominal",
            "pixels",
            "risk",
            "rollouts",
            "rtde",
            "stats",
        ],
    ),
    (
        "offnominal",
        &[
            "agents",
            "audit",
            "bench",
            "detectors",
            "engine",
            "files",
            "hosts",
            "live",
            "logs",
            "monitor",
            "mujoco",
            "pixels",
            "risk",
            "rollouts",
            "rtde",
            "shift",
            "stats",
            "work",
            "worlds",
        ],
    ),
    (
        // It binds the verticals, and calls commands by their table.
        "py",
        &[
            "agents",
            "bench",
            "detectors",
            "engine",
            "files",
            "hosts",
            "logs",
            "monitor",
            "offnominal",
            "pixels",
            "rollouts",
            "stats",
            "work",
            "worlds",
        ],
    ),
];

fn short(name: &str) -> &str {
    name.strip_prefix("offnominal-").unwrap_or(name)
}

fn dependencies(manifest: &Path) -> Vec<String> {
    let table: toml::Table = fs::read_to_string(manifest).unwrap().parse().unwrap();
    let targets =
        table.get("target").and_then(|d| d.as_table()).into_iter().flatten().map(|(_, target)| target);
    let tables = targets.filter_map(|target| target.get("dependencies")).chain(table.get("dependencies"));
    let names = tables.filter_map(|d| d.as_table()).flatten().map(|(name, _)| name.clone());
    names.filter(|name| name.starts_with("offnominal")).collect()
}

#[test]
fn crates_depend_only_downwards() {
    let allowed: BTreeMap<_, _> = ALLOWED.iter().copied().collect();
    for folder in fs::read_dir(root().join("crates")).unwrap() {
        let folder = folder.unwrap();
        let name = folder.file_name().into_string().unwrap();
        let may = allowed.get(short(&name)).unwrap_or_else(|| panic!("{name} has no place in the house"));
        for dependency in dependencies(&folder.path().join("Cargo.toml")) {
            let low = ["core", "nets"].contains(&short(&dependency));
            assert!(low || may.contains(&short(&dependency)), "{name} must not know {dependency}");
        }
    }
}

/// The laws are for tests: a crate that needs them names them among its dev-dependencies.
#[test]
fn no_shipped_program_contains_the_laws() {
    let knows = |may: &[&str]| may.contains(&"laws") || may.contains(&"readers");
    let shipped = |name: &str| name != "readers";
    assert!(
        ALLOWED.iter().all(|(name, may)| !shipped(name) || !knows(may)),
        "offnominal-laws belongs to dev-dependencies"
    );
}

/// Every Rust file of the project that a person wrote.
fn sources() -> Vec<PathBuf> {
    let mut found = Vec::new();
    collect(&root().join("crates"), &mut found);
    assert!(found.len() > 20, "the sources were not found");
    found
}

fn collect(folder: &Path, found: &mut Vec<PathBuf>) {
    for item in fs::read_dir(folder).unwrap() {
        let path = item.unwrap().path();
        if path.is_dir() && !path.ends_with("target") {
            collect(&path, found);
        } else if path.extension().is_some_and(|e| e == "rs") && !path.ends_with("bindings.rs") {
            found.push(path);
        }
    }
}

/// Complaints of `check`, which sees the path and the text of every source file.
fn complaints(check: impl Fn(&Path, &str) -> Option<String>) -> Vec<String> {
    let complain = |path: PathBuf| {
        let text = fs::read_to_string(&path).unwrap();
        check(&path, &text).map(|what| format!("{}: {what}", path.strip_prefix(root()).unwrap().display()))
    };
    sources().into_iter().filter_map(complain).collect()
}

fn header_is_missing(text: &str) -> bool {
    !text.lines().find(|l| !l.starts_with("#![")).unwrap_or("").starts_with("//!")
}

#[test]
fn every_file_says_what_it_is() {
    let found = complaints(|_, text| header_is_missing(text).then(|| "does not begin with `//!`".into()));
    assert!(found.is_empty(), "{found:#?}");
}

/// Every Python file of the package, its tests and its examples.
fn python_sources() -> Vec<PathBuf> {
    let all =
        ["offnominal", "tests", "examples", "benchmarks"].map(|folder| root().join("python").join(folder));
    let files = all.iter().flat_map(|folder| fs::read_dir(folder).unwrap()).map(|file| file.unwrap().path());
    files.filter(|path| path.extension().is_some_and(|e| e == "py" || e == "pyi")).collect()
}

#[test]
fn every_python_file_says_what_it_is_and_is_short() {
    let files = python_sources();
    assert!(files.len() > 20, "the Python sources were not found");
    for path in files {
        let text = fs::read_to_string(&path).unwrap();
        assert!(text.starts_with("\"\"\""), "{}: does not begin with a docstring", path.display());
        // A file that a test writes grows with what it is written from.
        let says = |line: &str| line.contains("ritten from the ") && line.contains("python/tests/test_");
        let is_written = text.lines().take(9).any(says);
        assert!(is_written || !is_too_long(&text), "{}: {} lines", path.display(), text.lines().count());
    }
}

fn is_too_long(text: &str) -> bool {
    text.lines().count() > 600
}

#[test]
fn no_file_outgrows_one_idea() {
    let found = complaints(|_, text| is_too_long(text).then(|| format!("{} lines", text.lines().count())));
    assert!(found.is_empty(), "{found:#?}");
}

/// Words that mark unfinished or switched-off work; split so that this file does not contain them.
fn unfinished(text: &str) -> Option<&'static str> {
    const WORDS: &[&str] = &[
        concat!("todo", "!("),
        concat!("unimplemented", "!("),
        concat!("#[ig", "nore"),
        concat!("FIX", "ME"),
    ];
    WORDS.iter().find(|w| text.contains(**w)).copied()
}

#[test]
fn nothing_is_left_unfinished() {
    let found = complaints(|_, text| unfinished(text).map(|w| format!("contains {w}")));
    assert!(found.is_empty(), "{found:#?}");
}

/// The only crates in which `unsafe` may be written are the borders to C and to the browser; benchmarks call `gemm` itself, which is unsafe,
/// to compare with it.
#[test]
fn only_the_borders_are_unsafe() {
    let places = ["offnominal-mujoco", "offnominal-monitor-c", "offnominal-web", "benches"];
    let found = complaints(|path, text| {
        let may = path.components().any(|c| places.iter().any(|p| c.as_os_str() == *p));
        let lenient = concat!("allow(", "unsafe_code)");
        (!may && text.contains(lenient)).then(|| "allows unsafe code".into())
    });
    assert!(found.is_empty(), "{found:#?}");
}

/// What a page shows as code is code that runs.
#[test]
fn the_contributors_example_is_the_one_that_runs() {
    let page = fs::read_to_string(root().join("CONTRIBUTING.md")).unwrap();
    let example = root().join("crates/offnominal-detectors/examples/own_detector.rs");
    assert!(
        page.contains(fs::read_to_string(example).unwrap().trim()),
        "copy the example into CONTRIBUTING.md"
    );
}

/// The paths that a row of the table "Files to touch" names, for an existing thing in place of `NAME`.
fn touched(row: &str, name: &str) -> Vec<String> {
    let quoted = row.split('`').skip(1).step_by(2);
    quoted.filter(|text| text.contains('/')).map(|path| path.replace("NAME", name)).collect()
}

#[test]
fn the_files_to_touch_exist_and_are_as_many_as_stated() {
    let page = fs::read_to_string(root().join("CONTRIBUTING.md")).unwrap();
    let examples = [
        ("a detector", "knn", 2),
        ("an environment", "pong", 3),
        ("an anomaly", "delay", 2),
        ("a command", "collect", 2),
        ("a metric", "", 1),
    ];
    for (what, name, count) in examples {
        let row = page.lines().find(|l| l.starts_with(&format!("| {what} | {count}"))).expect(what);
        let paths = touched(row, name);
        assert_eq!(paths.len(), count, "{row}");
        for path in paths {
            assert!(root().join(&path).is_file(), "{what}: there is no {path}");
        }
    }
}

/// The Python package brings every file that is read at run time, and no other.
#[test]
fn the_python_package_brings_the_data_files() {
    let folder = root().join("python/offnominal/agents");
    let mut found: Vec<String> = fs::read_dir(&folder)
        .unwrap()
        .flat_map(|kind| fs::read_dir(kind.unwrap().path()).unwrap())
        .map(|file| file.unwrap().path().strip_prefix(&folder).unwrap().to_str().unwrap().to_string())
        .collect();
    found.sort();
    assert_eq!(found, offnominal_engine::data::FILES);
    for file in found {
        let read = |folder: &Path| fs::read(folder.join(&file)).unwrap();
        assert!(read(&folder) == read(&root().join("agents")), "{file} is not the one in agents/");
    }
}

/// A copy of `offnominal_files::read`, which names the file in every error.
fn reads_by_itself(text: &str) -> bool {
    let reads = |line: &str| ["fs::read(", "fs::read_to_string("].iter().any(|call| line.contains(call));
    text.split(';').any(|statement| reads(statement) && statement.contains("with_context"))
}

/// A file that is opened by no function that refuses what may never end.
fn opens_by_itself(text: &str) -> bool {
    let opens = |line: &str| {
        [" File::open(", "(File::open(", "Reader::from_path("].iter().any(|call| line.contains(call))
    };
    text.split("#[cfg(test)]").next().unwrap_or_default().lines().any(opens)
}

#[test]
fn files_are_read_in_one_place() {
    // Files of our own: what is written aside, what a process of ours shares, what was downloaded.
    let own = ["files/src/write.rs", "foreign/folder.rs", "foreign/guest.rs", "mujoco/src/fetch.rs"];
    let found = complaints(|path, text| {
        let path = path.to_string_lossy();
        let may = ["files/src/read.rs", "tests/it/tidy.rs"].iter().any(|file| path.ends_with(file));
        let opens =
            path.contains("/src/") && opens_by_itself(text) && !own.iter().any(|file| path.ends_with(file));
        (!may && (opens || reads_by_itself(text))).then(|| "reads a file by itself".into())
    });
    assert!(found.is_empty(), "{found:#?}");
}

/// A way to the terminal besides the two that escape what a terminal obeys: `Common::print_text` and `terminal::say`.
fn prints_by_itself(text: &str) -> bool {
    let shipped = text.split("#[cfg(test)]").next().unwrap_or_default();
    shipped.lines().any(|line| {
        let code = line.split("//").next().unwrap_or_default();
        code.contains(concat!("print", "ln!(")) || code.contains(concat!("print", "!("))
    })
}

#[test]
fn what_is_shown_on_the_terminal_is_escaped() {
    let found = complaints(|path, text| {
        let is_program = path.strip_prefix(root().join("crates/offnominal/src")).is_ok();
        (is_program && prints_by_itself(text)).then(|| "prints by itself".into())
    });
    assert!(found.is_empty(), "{found:#?}");
}

/// The first action in a workflow that is not named by the digest of a commit: a tag can be moved to other code.
fn moving_action(workflow: &str) -> Option<&str> {
    let used =
        workflow.lines().filter_map(|line| line.trim_start().trim_start_matches("- ").strip_prefix("uses:"));
    used.map(str::trim).filter(|action| !action.starts_with("./")).find(|action| {
        let digest = action.split_once('@').map_or("", |(_, at)| at.split(' ').next().unwrap_or_default());
        digest.len() != 40 || !digest.chars().all(|c| c.is_ascii_hexdigit())
    })
}

#[test]
fn workflows_name_actions_by_digest() {
    let mut found = 0;
    for entry in fs::read_dir(root().join(".github/workflows")).unwrap() {
        let path = entry.unwrap().path();
        let text = fs::read_to_string(&path).unwrap();
        assert_eq!(moving_action(&text), None, "{}", path.display());
        found += text.matches("uses:").count();
    }
    assert!(found > 0, "expected actions, found none");
}

#[test]
fn the_rules_bite() {
    assert_eq!(moving_action("  - uses: a/b@v4\n"), Some("a/b@v4"));
    assert_eq!(
        moving_action("uses: pypa/a@release/v1 # 11bd71901bbe5b1630ceea73d27597364c9af683"),
        Some("pypa/a@release/v1 # 11bd71901bbe5b1630ceea73d27597364c9af683")
    );
    assert_eq!(moving_action("uses: a/b@11bd71901bbe5b1630ceea73d27597364c9af683 # v4.2.2"), None);
    assert!(prints_by_itself(concat!("    eprint", "ln!(\"{name}\");")));
    assert!(!prints_by_itself(concat!("say(name);\n#[cfg(test)]\nprint", "ln!();")));
    assert!(reads_by_itself("let bytes = fs::read(path).with_context(|| name())?;"));
    assert!(
        opens_by_itself("let file = File::open(path)?;") && !opens_by_itself("let file = read::open(path)?;")
    );
    assert!(header_is_missing("use std::fs;"));
    assert!(!header_is_missing("#![allow(x)]\n//! Says what it is."));
    assert!(is_too_long(&"\n".repeat(601)));
    assert_eq!(unfinished(concat!("fn f() { todo", "!() }")), Some(concat!("todo", "!(")));
}
