//! Every command line in the documentation is one of this program, also where it cannot be run.
//!
//! `python/tests/test_docs.py` runs the blocks that can be run. Images are there, and have words for those who do not see
//! them. No page is longer than a person reads.

use std::fs;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// README and the pages below `docs`.
fn pages() -> Vec<PathBuf> {
    [vec![root().join("README.md")], pages_in("docs")].concat()
}

/// The pages below a folder.
fn pages_in(folder: &str) -> Vec<PathBuf> {
    let (mut found, mut open) = (vec![], vec![root().join(folder)]);
    while let Some(folder) = open.pop() {
        for path in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
            match path.extension().and_then(|e| e.to_str()) {
                Some("md") => found.push(path),
                _ if path.is_dir() => open.push(path),
                _ => (),
            }
        }
    }
    found.sort();
    found
}

/// The lines of a page's shell blocks with their numbers; a line that ends with a backslash goes on in the next one.
fn shell(page: &str) -> Vec<(usize, String)> {
    let (mut inside, mut open, mut found) = (None, String::new(), Vec::new());
    for (number, line) in page.lines().enumerate() {
        match (&inside, line.strip_prefix("```")) {
            (None, Some(info)) => inside = Some(info.split(' ').next() == Some("sh")),
            (Some(_), Some(_)) => inside = None,
            (Some(true), None) => match line.strip_suffix('\\') {
                Some(start) => open += start,
                None => found.push((number + 1, std::mem::take(&mut open) + line)),
            },
            _ => (),
        }
    }
    found
}

/// The arguments of each call of the program in a line of a shell.
fn calls(line: &str) -> Vec<Vec<String>> {
    let mut words = shlex::split(line).unwrap_or_else(|| panic!("a quote is not closed: {line}"));
    // The file of a redirection is no call, whatever its name.
    while let Some(at) = words.iter().position(|word| matches!(word.as_str(), ">" | "<" | ">>")) {
        words.drain(at..(at + 2).min(words.len()));
    }
    let is_operator = |word: &str| matches!(word, "|" | "&&" | "||" | ";" | "&" | "do" | "done");
    let mut found = Vec::new();
    for part in words.split(|word| is_operator(word)) {
        let name = |word: &String| word == "offnominal" || word.ends_with("/offnominal");
        let cargo = part.starts_with(&["cargo".to_string(), "run".to_string()]);
        let first = if cargo { part.iter().position(|w| w == "--") } else { part.iter().position(name) };
        let sets = |words: &[String]| words.iter().all(|word| word.contains('='));
        let is_example = part.iter().any(|word| ["--example", "studies"].contains(&word.as_str()));
        if let Some(at) = first.filter(|&at| cargo || sets(&part[..at])).filter(|_| !is_example) {
            let arguments = part[at + 1..].iter().map(|word| word.trim_end_matches(';').to_string());
            found.push(std::iter::once("offnominal".to_string()).chain(arguments).collect());
        }
    }
    found
}

#[test]
fn command_lines_of_the_documentation_are_those_of_the_program() {
    let (mut wrong, mut n) = (Vec::new(), 0);
    for path in pages() {
        let text = fs::read_to_string(&path).unwrap();
        for (number, line) in shell(&text) {
            for call in calls(&line) {
                n += 1;
                let place = path.strip_prefix(root()).unwrap().display().to_string();
                if let Err(why) = offnominal::cli::parse(&call) {
                    wrong.push(format!("{place}:{number}: {}\n{why}", call.join(" ")));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(n > 100, "expected more than a hundred calls in the documentation, found {n}");
}

#[test]
fn calls_are_found_in_lines_of_a_shell() {
    let found = |line: &str| calls(line).iter().map(|c| c[1..].join(" ")).collect::<Vec<_>>();
    assert_eq!(
        found("A=1 offnominal list envs > x | offnominal metrics -  # why"),
        ["list envs", "metrics -"]
    );
    assert_eq!(found("cargo run --release -- demo && bash x.sh"), ["demo"]);
    assert_eq!(found("for a in 1 2; do offnominal list $a; done"), ["list $a"]);
    assert!(found("python x.py target/release/offnominal").is_empty());
    assert_eq!(found("offnominal manual x > pages/offnominal"), ["manual x"]);
    assert_eq!(shell("```sh\na \\\n b\n```\n```text\nc\n```\n"), [(3, "a  b".to_string())]);
}

/// The files of the repository that a page names between backquotes. A name in capitals, such as NAME or ENV, stands for others.
fn named(page: &str) -> impl Iterator<Item = &str> {
    const FOLDERS: [&str; 8] =
        ["crates/", "studies/", "docs/", "agents/", "python/", "packaging/", "strengths/", "noise/"];
    let is_path = |word: &&str| {
        FOLDERS.iter().any(|folder| word.starts_with(folder)) && !word.contains([' ', '*', '{', '…'])
    };
    let stands_for_others = |part: &str| {
        let name = part.split(['.', '-']).next().unwrap_or_default();
        name.len() > 1 && part != "README.md" && name.chars().all(|c| c.is_ascii_uppercase())
    };
    let words = page.split('`').skip(1).step_by(2).filter(is_path);
    words.filter(move |word| !word.split('/').any(stands_for_others))
}

#[test]
fn files_that_the_documentation_names_are_there() {
    let (mut missing, mut n) = (Vec::new(), 0);
    let pages = [pages(), pages_in("studies"), vec![root().join("ARCHITECTURE.md")]].concat();
    for path in pages {
        let page = fs::read_to_string(&path).unwrap();
        for name in named(&page) {
            n += 1;
            if !root().join(name).exists() {
                missing.push(format!("{}: {name}", path.strip_prefix(root()).unwrap().display()));
            }
        }
    }
    assert!(missing.is_empty(), "{}", missing.join("\n"));
    assert!(n > 50, "expected more than fifty names, found {n}");
    let found = "`studies/x.md` and `crates/NAME.rs`, `docs/a b`, `noise/ENV-x.csv`";
    assert_eq!(named(found).collect::<Vec<_>>(), ["studies/x.md"]);
}

/// The images of a page: what is seen, and the file.
fn images(page: &str) -> Vec<(&str, &str)> {
    let parts = page.split("![").skip(1);
    parts
        .filter_map(|part| part.split_once("]("))
        .filter_map(|(says, rest)| Some((says, rest.split_once(')')?.0)))
        .collect()
}

#[test]
fn every_image_is_there_and_has_words() {
    let mut count = 0;
    for path in [pages(), pages_in("studies")].concat() {
        let page = fs::read_to_string(&path).unwrap();
        // Badges are made where the repository is published.
        for (says, file) in images(&page).into_iter().filter(|(_, file)| !file.contains("/badges/")) {
            let is_there = path.parent().unwrap().join(file).is_file();
            assert!(is_there, "{}: expected an image {file}, found none", path.display());
            let has_words = says.split_whitespace().count() > 1;
            assert!(has_words, "{}: expected words for {file}, found {says:?}", path.display());
            count += 1;
        }
    }
    assert!(count > 10, "{count} images");
    assert_eq!(images("a ![b c](d.png) ![](e)"), [("b c", "d.png"), ("", "e")]);
}

/// Screens of the README, and pages that somebody reads from the beginning to the end; in lines.
const README: usize = 110;
const PAGE: usize = 310;

/// Whether a catalogue writes a page, which has a section for each entry and is searched.
fn is_catalogue(path: &Path) -> bool {
    path.ends_with("docs/reference/detectors.md") || path.ends_with("docs/reference/noise.md")
}

#[test]
fn no_page_is_longer_than_a_person_reads() {
    let mut long = Vec::new();
    for path in pages().into_iter().filter(|path| !is_catalogue(path)) {
        let lines = fs::read_to_string(&path).unwrap().lines().count();
        let most = if path == root().join("README.md") { README } else { PAGE };
        if lines > most {
            long.push(format!(
                "{}: {lines} lines, at most {most}",
                path.strip_prefix(root()).unwrap().display()
            ));
        }
    }
    assert!(long.is_empty(), "split by what a reader asks, or move tables to their study: {long:#?}");
}

/// The parts have these headings in this order, and every page lies in the folder of one.
#[test]
fn the_documentation_has_four_parts() {
    let parts = ["Tutorials", "How-to guides", "Reference", "Explanations and studies"];
    let folders = ["tutorials", "howto", "reference", "explanations"];
    let summary = fs::read_to_string(root().join("docs/SUMMARY.md")).unwrap();
    let headings: Vec<&str> = summary.lines().filter_map(|line| line.strip_prefix("# ")).collect();
    assert_eq!(headings[1..], parts);
    for page in pages() {
        let Ok(page) = page.strip_prefix(root().join("docs")) else { continue };
        let top = page.iter().next().unwrap().to_str().unwrap();
        let is_of_a_part = folders.contains(&top) || ["README.md", "SUMMARY.md"].contains(&top);
        assert!(is_of_a_part, "docs/{}: expected a folder among {folders:?}", page.display());
    }
}

/// The intervals in a text, such as `[.086, .171]`.
fn intervals(text: &str) -> Vec<(f64, f64)> {
    let inside = text.split('[').skip(1).filter_map(|part| part.split_once(']'));
    let bounds = inside.filter_map(|(bounds, _)| bounds.split_once(", "));
    bounds.filter_map(|(low, high)| Some((low.parse().ok()?, high.parse().ok()?))).collect()
}

#[test]
fn intervals_of_the_readme_stand_on_a_page_that_it_names() {
    let (mut old, mut n) = (Vec::new(), 0);
    let readme = fs::read_to_string(root().join("README.md")).unwrap();
    // What the program prints is compared with the program.
    for line in readme.lines().filter(|line| line.starts_with('|')) {
        let names = line.split("](").skip(1).filter_map(|part| part.split([')', '#']).next());
        let pages = names.filter_map(|name| fs::read_to_string(root().join(name)).ok());
        let there: Vec<_> = pages.flat_map(|page| intervals(&page)).collect();
        n += intervals(line).len();
        old.extend(intervals(line).into_iter().filter(|one| !there.contains(one)));
    }
    assert!(old.is_empty(), "the pages that the README names do not have these: {old:?}");
    assert!(n > 5, "expected more than five intervals, found {n}");
    assert_eq!(intervals("+0.1 [-0.2, +.3] [a, b](c.md) [1, 2, 3]"), [(-0.2, 0.3)]);
}
