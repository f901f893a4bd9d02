//! The catalogue, the files of this crate and the page about them tell the same story.
//!
//! `UPDATE_EXPECT=1 cargo test -p offnominal-detectors` writes the page anew.

use offnominal_detectors::{ALL, catalogue, defaults, fields};
use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

fn source(id: &str) -> String {
    let path = root().join("src").join(format!("{}.rs", id.replace('-', "_")));
    fs::read_to_string(&path).unwrap_or_else(|e| panic!("{id} should be in {}: {e}", path.display()))
}

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// The lines of the documentation at the head of a file.
fn head(id: &str) -> Vec<String> {
    let source = source(id);
    let lines = source.lines().take_while(|l| l.starts_with("//!"));
    lines.map(|l| l.trim_start_matches("//!").trim().to_string()).collect()
}

const FIELDS: [&str; 5] = ["Assumes:", "Blind to:", "Cost:", "Reference:", "Deviates:"];

/// A field of the documentation; it ends where the next one, or an empty line, begins.
fn field(id: &str, name: &str) -> String {
    let lines = head(id);
    let start = lines.iter().position(|l| l.starts_with(name)).unwrap_or_else(|| panic!("{id} lacks {name}"));
    let rest = lines[start + 1..].iter();
    let more = rest.take_while(|l| !l.is_empty() && !FIELDS.iter().any(|f| l.starts_with(f)));
    let text: Vec<&str> = std::iter::once(&lines[start]).chain(more).map(String::as_str).collect();
    let text = text.join(" ");
    text[name.len()..].split("Deviates:").next().unwrap_or_default().trim().to_string()
}

fn equation(id: &str) -> String {
    head(id).into_iter().find(|l| l.starts_with("score")).unwrap_or_else(|| panic!("{id} lacks its equation"))
}

fn page() -> String {
    let mut page = String::from(
        "# Detectors\n\nWritten from the catalogue by the tests of `offnominal-detectors`; do not edit.\n\n\
         A detector is fitted on nominal episodes and scores one transition (o, a, o′) after another; larger is more \
         anomalous. It sees no reward, no label and no time.\n\n| id | what it measures |\n|---|---|\n",
    );
    for entry in ALL {
        page += &format!("| [`{0}`](#{0}) | {1} |\n", entry.id, entry.summary);
    }
    for ((entry, parameters), parameters_of) in ALL.iter().zip(defaults()).zip(fields()) {
        let id = entry.id;
        page += &format!("\n## {id}\n\n{}\n\n`{}`\n\n", head(id)[0], equation(id));
        for name in ["Assumes:", "Blind to:", "Cost:", "Reference:"] {
            page += &format!("- **{name}** {}\n", field(id, name));
        }
        if let Some((_, how)) = head(id).join(" ").split_once("Deviates:") {
            page += &format!("- **Deviates:** {}\n", how.split("```").next().unwrap_or_default().trim());
        }
        page += &format!("- **Parameters and defaults:** `{parameters}`\n");
        for field in parameters_of {
            page += &format!("  - `{}`: {}\n", field.name, field.about);
        }
        for (law, reason) in entry.exempt {
            page += &format!("- **Exempt from the law {law:?}:** {reason}.\n");
        }
    }
    page
}

#[test]
fn the_page_is_up_to_date() {
    let path = root().join("../../docs/reference/detectors.md");
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        fs::write(&path, page()).unwrap();
    }
    let found = fs::read_to_string(&path).unwrap_or_default();
    assert!(
        found == page(),
        "docs/reference/detectors.md is out of date; run the tests with UPDATE_EXPECT=1"
    );
}

#[test]
fn every_file_is_in_the_catalogue() {
    let files =
        fs::read_dir(root().join("src")).unwrap().map(|f| f.unwrap().file_name().into_string().unwrap());
    let stems: BTreeSet<String> =
        files.filter_map(|f| Some(f.strip_suffix(".rs")?.replace('_', "-"))).filter(|s| s != "lib").collect();
    let ids: BTreeSet<String> = ALL.iter().map(|e| e.id.to_string()).collect();
    assert_eq!(stems, ids, "files in src and entries in ALL");
    assert_eq!(ids.len(), ALL.len(), "two entries share an id");
}

#[test]
fn every_file_says_what_the_template_asks() {
    for entry in ALL {
        let fields = FIELDS.iter().filter(|f| **f != "Deviates:");
        assert!(fields.map(|f| field(entry.id, f)).all(|text| !text.is_empty()), "{}", entry.id);
        assert!(head(entry.id).iter().any(|l| l.starts_with("```")), "{} has no example", entry.id);
    }
}

#[test]
fn a_wrong_name_gets_the_nearest_right_one() {
    let message = catalogue().build("isolation-forrest", &serde_json::json!({})).err().unwrap().to_string();
    assert!(message.contains("did you mean \"isolation-forest\""), "{message}");
}
