//! The committed header is that of the sources; `UPDATE_EXPECT=1` writes it anew.

use std::path::{Path, PathBuf};

/// The sources that C sees, in the order of the header.
const SOURCES: &[&str] = &[
    "src/types.rs",
    "src/fault.rs",
    "src/handle.rs",
    "src/stream.rs",
    "src/exports/life.rs",
    "src/exports/about.rs",
    "src/exports/watch.rs",
    "src/exports/explain.rs",
    "src/exports/batch.rs",
    "src/exports/stream.rs",
];

fn here(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

fn header() -> String {
    let config = cbindgen::Config::from_file(here("cbindgen.toml")).unwrap();
    let mut builder = cbindgen::Builder::new().with_config(config);
    for source in SOURCES {
        builder = builder.with_src(here(source));
    }
    let mut text = Vec::new();
    builder.generate().unwrap().write(&mut text);
    String::from_utf8(text).unwrap()
}

#[test]
fn the_header_is_that_of_the_sources() {
    let (path, text) = (here("include/offnominal_monitor.h"), header());
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        std::fs::write(&path, &text).unwrap();
    }
    let is_current = std::fs::read_to_string(&path).is_ok_and(|found| found == text);
    assert!(is_current, "{} is old; UPDATE_EXPECT=1 writes it", path.display());
}

#[test]
fn every_function_is_in_it() {
    let text = header();
    let exported = SOURCES.iter().flat_map(|source| {
        let text = std::fs::read_to_string(here(source)).unwrap();
        let names = text.split("extern \"C\" fn ").skip(1);
        names.map(|rest| rest.split('(').next().unwrap().to_string()).collect::<Vec<_>>()
    });
    let names: Vec<_> = exported.collect();
    assert_eq!(names.len(), 39, "{names:?}");
    for name in names {
        assert!(text.contains(&format!("{name}(")), "{name}");
    }
}
