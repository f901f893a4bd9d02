//! The page on file formats says what the code says.

use super::{collect, root};
use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

const PAGE: &str = "docs/reference/formats.md";

/// A row of the table: the version it states, and the constant that it names, as `path NAME`.
struct Row<'p> {
    version: &'p str,
    constant: String,
}

/// The rows that link to a constant of the code.
fn rows(page: &str) -> Vec<Row<'_>> {
    let row = |line| -> Option<Row<'_>> {
        let cells: Vec<&str> = str::split(line, '|').map(str::trim).collect();
        let (name, rest) = cells.get(5)?.strip_prefix("[`")?.split_once("`](../../")?;
        let constant = format!("{} {name}", rest.strip_suffix(')')?);
        Some(Row { version: cells[4], constant })
    };
    page.lines().filter_map(row).collect()
}

/// The name and the value of a line that defines a version.
fn defined(line: &str) -> Option<(&str, &str)> {
    let line = line.trim_start();
    let (name, rest) = line.strip_prefix("pub ").unwrap_or(line).strip_prefix("const ")?.split_once(": ")?;
    let (kind, value) = rest.strip_suffix(';')?.split_once(" = ")?;
    let value = value.trim_matches('"');
    let is_number = kind == "u32" && name == "FORMAT";
    let ends_in_number = value.rsplit(['-', ' ']).next().is_some_and(|n| n.parse::<u32>().is_ok());
    let is_name = kind == "&str" && value.starts_with("offnominal") && ends_in_number;
    (is_number || is_name).then_some((name, value))
}

/// Every version of a format in the sources, by `path NAME`.
fn versions() -> BTreeMap<String, String> {
    let mut files: Vec<PathBuf> = Vec::new();
    collect(&root().join("crates"), &mut files);
    let mut found = BTreeMap::new();
    for file in files.iter().filter(|file| !file.components().any(|c| c.as_os_str() == "tests")) {
        let path = file.strip_prefix(root()).unwrap().to_str().unwrap().replace('\\', "/");
        let text = fs::read_to_string(file).unwrap();
        found.extend(text.lines().filter_map(defined).map(|(name, v)| (format!("{path} {name}"), v.into())));
    }
    found
}

/// The page with the versions of the code.
fn updated(page: &str, versions: &BTreeMap<String, String>) -> String {
    let line = |line: &str| match rows(line).first() {
        Some(row) => {
            line.replacen(&format!("| {} |", row.version), &format!("| {} |", versions[&row.constant]), 1)
        }
        None => line.to_string(),
    };
    page.lines().map(|text| line(text) + "\n").collect()
}

#[test]
fn the_page_on_formats_has_every_format_with_its_version() {
    let (path, versions) = (root().join(PAGE), versions());
    let page = fs::read_to_string(&path).unwrap();
    let mut stated: Vec<String> = rows(&page).into_iter().map(|row| row.constant).collect();
    stated.sort();
    assert_eq!(
        stated,
        versions.keys().cloned().collect::<Vec<_>>(),
        "{PAGE} lists other formats than the code"
    );
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        fs::write(&path, updated(&page, &versions)).unwrap();
    }
    assert!(fs::read_to_string(&path).unwrap() == updated(&page, &versions), "{PAGE} states old versions");
}

#[test]
fn a_version_is_found_however_it_is_written() {
    assert_eq!(defined("pub const FORMAT: u32 = 7;"), Some(("FORMAT", "7")));
    assert_eq!(defined("const MANY: &str = \"offnominal-actor-2\";"), Some(("MANY", "offnominal-actor-2")));
    assert_eq!(defined("const VERSION: &str = \"0.5.4\";"), None);
    assert_eq!(defined("const LIMIT: u32 = 7;"), None);
    let page = "| a | b | c | 1 | [`FORMAT`](../../x.rs) |\n";
    let versions = BTreeMap::from([("x.rs FORMAT".to_string(), "2".to_string())]);
    assert_eq!(updated(page, &versions), page.replace("| 1 |", "| 2 |"));
}
