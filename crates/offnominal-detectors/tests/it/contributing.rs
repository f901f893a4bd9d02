//! The example of CONTRIBUTING.md, moved as told there, is a detector of the catalogue.
//!
//! The quick test reads it as text; the slow tier moves it in a copy of the crate and runs the tests of the catalogue.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

const NAME: &str = "action_jump";

fn crates() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").canonicalize().unwrap()
}

/// The example without its `main`, as CONTRIBUTING.md says.
fn moved() -> String {
    let file = crates().join("offnominal-detectors/examples/own_detector.rs");
    let text = fs::read_to_string(file).unwrap();
    let main = text.find("\nfn main()").expect("the example ends with `main`");
    text[..main].to_string()
}

#[test]
fn the_example_has_all_that_the_catalogue_asks_of_a_detector() {
    let text = moved();
    let head: Vec<&str> = text.lines().map_while(|l| l.strip_prefix("//!")).map(str::trim).collect();
    assert!(head[0].ends_with('.') && head.iter().any(|l| l.starts_with("score")), "{head:?}");
    for field in ["Assumes:", "Blind to:", "Cost:", "Reference:"] {
        assert!(head.iter().any(|l| l.starts_with(field) && l.len() > field.len()), "{field} begins a line");
    }
    assert!(head.contains(&"```") && head.iter().any(|l| l.starts_with("assert_eq!")), "a doctest");
    let code = [
        "pub const ENTRY: Entry<dyn Detector>",
        "exempt: &[(Law::",
        "#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]",
        "#[serde(default, deny_unknown_fields)]\npub struct ActionJump",
        "impl Default for ActionJump",
        "    fn load(&self",
        "    fn save(&self",
        "#[derive(Clone)]\nstruct Fitted",
    ];
    for part in code {
        assert!(text.contains(part), "the example lacks {part:?}");
    }
    assert!(text.contains(&format!("\"{}\"", NAME.replace('_', "-"))), "the id is the name of the file");
}

#[test]
fn the_example_moved_as_told_passes_the_tests_of_the_catalogue() {
    if !skips::is_slow_tier("the example of CONTRIBUTING.md, built in a copy of the crate") {
        return;
    }
    let folder = workspace();
    let crate_folder = folder.path().join("crates/offnominal-detectors");
    fs::write(crate_folder.join(format!("src/{NAME}.rs")), moved()).unwrap();
    let lib = crate_folder.join("src/lib.rs");
    let text = fs::read_to_string(&lib).unwrap();
    let text = text.replacen("mod clock;\n", &format!("mod clock;\nmod {NAME};\n"), 1);
    let text = text.replacen("clock::Clock,\n", &format!("clock::Clock,\n    {NAME}::ActionJump,\n"), 1);
    fs::write(lib, text).unwrap();
    for tests in [&["--test", "it", "--", "catalogue::", "laws::"][..], &["--doc", "--", NAME]] {
        let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
        cargo
            .args(["test", "--offline", "-p", "offnominal-detectors"])
            .args(tests)
            .current_dir(folder.path());
        // The page docs/reference/detectors.md gets its section.
        cargo.env("UPDATE_EXPECT", "1").env("CARGO_TARGET_DIR", build());
        let output = cargo.output().unwrap();
        let text = [output.stdout, output.stderr].concat();
        assert!(output.status.success(), "{tests:?}: {}", String::from_utf8_lossy(&text));
    }
    let page = fs::read_to_string(folder.path().join("docs/reference/detectors.md")).unwrap();
    assert!(page.contains("## action-jump"), "the page has the new detector");
}

/// A folder for the copy's build that is kept, so that only its first build is long.
fn build() -> PathBuf {
    let program = std::env::current_exe().unwrap();
    program.parent().and_then(Path::parent).unwrap().join("contributing")
}

/// A copy of the workspace that holds what the detectors need.
fn workspace() -> tempfile::TempDir {
    let (folder, root) = (tempfile::tempdir().unwrap(), crates().join(".."));
    fs::create_dir_all(folder.path().join("docs/reference")).unwrap();
    for file in ["Cargo.toml", "Cargo.lock", "docs/reference/detectors.md"] {
        fs::copy(root.join(file), folder.path().join(file)).unwrap();
    }
    let manifest = folder.path().join("Cargo.toml");
    let text = fs::read_to_string(&manifest).unwrap();
    // The program is not in the copy.
    let text = text.replace("default-members = [\"crates/offnominal\"]\n", "");
    fs::write(&manifest, text).unwrap();
    for name in needed("offnominal-detectors", BTreeSet::new()) {
        copy(&crates().join(&name), &folder.path().join("crates").join(&name));
    }
    folder
}

/// The crates of this project that one needs, with itself.
fn needed(name: &str, mut found: BTreeSet<String>) -> BTreeSet<String> {
    if found.insert(name.to_string()) {
        let manifest = fs::read_to_string(crates().join(name).join("Cargo.toml")).unwrap();
        let names = manifest.lines().filter_map(|line| line.split(['.', ' ', '=']).next());
        for other in names.filter(|n| *n != "name" && !n.is_empty() && crates().join(n).is_dir()) {
            found = needed(other, found);
        }
    }
    found
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for item in fs::read_dir(from).unwrap() {
        let item = item.unwrap();
        let target = to.join(item.file_name());
        match item.file_type().unwrap().is_dir() {
            true => copy(&item.path(), &target),
            false => drop(fs::copy(item.path(), target).unwrap()),
        }
    }
}
