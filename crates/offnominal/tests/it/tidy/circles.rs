//! Files of different purpose do not need one another in a circle.
//!
//! A file needs the files whose items it names after `use`, `crate::`, `super::` or the name of a child. An item that a file
//! only passes on belongs to where it comes from. That a file needs its own ancestors does not count: a folder has one
//! purpose, and what its files share stands above them. Tests do not count either.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

/// Circles that remain, each with its crate and the names of its files. One that no longer occurs is removed.
const KNOWN: &[(&str, &[&str])] = &[
    // A library is found, fetched, opened and used; its errors name what it was asked for.
    ("mujoco", &["engine_log", "error", "fetch", "library", "locate", "model", "simulation"]),
    // A trunk is one of three networks, and they share its plan.
    ("deep", &["residual", "small", "trunk", "xception"]),
    // A fitting ends as what is fitted, which begins it.
    ("deep", &["fit", "fitting"]),
    // A network learns from batches of videos, which are in the size of the network.
    ("deep", &["library", "network"]),
];

type Name = Vec<String>;

/// What stands before a `use`; elsewhere the word is part of a text.
const BEFORE_USE: &[&str] = &[";", "}", "{", "]", ")", "pub"];
/// Parts of a path at most, so that a text which looks like one stays small.
const LONGEST: usize = 32;

/// What a file names: paths, and what it takes or passes on under which name.
#[derive(Default)]
struct File {
    paths: Vec<Name>,
    uses: Vec<(Name, String)>,
}

/// The files of a crate by the names of their modules.
#[derive(Default)]
struct Graph(BTreeMap<Name, File>);

impl Graph {
    fn of_crate(src: &Path) -> Graph {
        let mut files = Vec::new();
        super::collect(src, &mut files);
        let mut graph = Graph::default();
        for file in files {
            let inner = file.strip_prefix(src).unwrap().with_extension("");
            let mut name: Name = inner.iter().map(|part| part.to_str().unwrap().to_string()).collect();
            name.pop_if(|last| ["mod", "lib", "main"].contains(&last.as_str()));
            graph.add(name, &fs::read_to_string(&file).unwrap());
        }
        graph
    }

    fn add(&mut self, name: Name, text: &str) {
        let file = self.0.entry(name).or_default();
        let text = without_tests(text);
        let mut tokens = tokens(&text).into_iter().peekable();
        let mut before = ";";
        while let Some(token) = tokens.next() {
            if token == "use" && BEFORE_USE.contains(&before) {
                take(&mut tokens, &mut Vec::new(), &mut file.uses);
            } else if is_word(token) {
                let mut path = vec![token.to_string()];
                while tokens.next_if_eq(&"::").is_some() {
                    path.extend(tokens.next_if(|t| is_word(t)).map(str::to_string));
                }
                file.paths.push(path);
            }
            before = token;
        }
        file.paths.retain(|path| path.len() > 1);
    }

    /// A path as one from the root of the crate; none if it leads elsewhere.
    fn absolute(&self, from: &Name, path: &[String]) -> Option<Name> {
        let above = path.iter().take_while(|part| *part == "super").count();
        let base = match path.first()?.as_str() {
            "crate" => return Some(path[1..].to_vec()),
            "self" => return Some([from, &path[1..]].concat()),
            "super" => &from[..from.len().checked_sub(above)?],
            child if self.0.contains_key(&[from.as_slice(), &[child.to_string()]].concat()) => from,
            _ => return None,
        };
        Some([base, &path[above..]].concat())
    }

    /// The file that has an item, through all that pass it on.
    fn owner(&self, path: &[String], depth: usize) -> Option<Name> {
        let end = (0..=path.len()).rev().find(|&end| self.0.contains_key(&path[..end]))?;
        let (file, rest) = path.split_at(end);
        let found = rest.first().and_then(|item| self.0[file].uses.iter().find(|(_, name)| name == item));
        match found {
            Some((from, _)) if depth > 0 => {
                let from = self.absolute(&file.to_vec(), from)?;
                self.owner(&[&from, &rest[1..]].concat(), depth - 1)
            }
            _ => Some(file.to_vec()),
        }
    }

    fn needs(&self, name: &Name) -> BTreeSet<Name> {
        let file = &self.0[name];
        let all = file.paths.iter().chain(file.uses.iter().map(|(path, _)| path));
        let owners = all.filter_map(|path| self.owner(&self.absolute(name, path)?, 16));
        owners.filter(|owner| !name.starts_with(owner)).collect()
    }

    /// Every set of files that need one another, as the names of the files.
    fn circles(&self) -> BTreeSet<Vec<String>> {
        let needs: BTreeMap<&Name, BTreeSet<Name>> = self.0.keys().map(|n| (n, self.needs(n))).collect();
        let reach = |from: &Name| {
            let (mut seen, mut open) = (BTreeSet::new(), vec![from.clone()]);
            while let Some(next) = open.pop() {
                open.extend(needs[&next].iter().filter(|n| seen.insert((*n).clone())).cloned());
            }
            seen
        };
        let reached: BTreeMap<&Name, BTreeSet<Name>> = self.0.keys().map(|n| (n, reach(n))).collect();
        let circle = |name: &Name| -> Vec<String> {
            let members = reached[name].iter().filter(|other| reached[other].contains(name));
            let mut names: Vec<String> = members.filter_map(|n| n.last().cloned()).collect();
            names.sort();
            names
        };
        self.0.keys().map(circle).filter(|circle| circle.len() > 1).collect()
    }
}

/// The code without comments and without what is compiled for tests alone.
fn without_tests(text: &str) -> String {
    let (mut lines, mut kept) = (text.lines(), String::new());
    while let Some(line) = lines.next() {
        if line.trim_start().starts_with("#[cfg(test)]") {
            let item = lines.by_ref().find(|l| !l.trim_start().starts_with("#[")).unwrap_or_default();
            let end = format!("{}}}", &item[..item.len() - item.trim_start().len()]);
            if !item.ends_with(';') && !item.ends_with('}') {
                lines.by_ref().find(|l| l.starts_with(&end));
            }
            continue;
        }
        kept += line.split("//").next().unwrap_or_default();
        kept += "\n";
    }
    kept
}

fn is_word(token: &str) -> bool {
    token.starts_with(|c: char| c.is_alphanumeric() || c == '_')
}

/// Words, `::`, and single marks.
fn tokens(text: &str) -> Vec<&str> {
    let (mut found, mut rest) = (Vec::new(), text.trim_start());
    while let Some(first) = rest.chars().next() {
        let word = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
        let end = if rest.starts_with("::") { 2 } else { word.max(first.len_utf8()) };
        found.push(&rest[..end]);
        rest = rest[end..].trim_start();
    }
    found
}

/// Reads a tree of `use`, up to its end or to the comma or brace after it.
fn take<'t>(
    tokens: &mut std::iter::Peekable<impl Iterator<Item = &'t str>>,
    path: &mut Name,
    into: &mut Vec<(Name, String)>,
) {
    let start = path.len();
    while let Some(token) = tokens.next_if(|t| ![",", "}", ";"].contains(t)) {
        match token {
            "{" => {
                while tokens.peek().is_some_and(|t| *t != "}") {
                    take(tokens, path, into);
                    tokens.next_if(|t| *t == "," || *t == ";");
                }
                tokens.next();
                return path.truncate(start);
            }
            "as" => {
                let name = tokens.next().unwrap_or_default().to_string();
                into.push((path.clone(), name));
                return path.truncate(start);
            }
            "self" if !path.is_empty() => {}
            "::" => {}
            part if path.len() < LONGEST => path.push(part.to_string()),
            _ => {}
        }
    }
    into.push((path.clone(), path.last().cloned().unwrap_or_default()));
    path.truncate(start);
}

#[test]
fn files_of_different_purpose_do_not_need_one_another() {
    let line = |name: &str, circle: &[String]| format!("{name}: {}", circle.join(", "));
    let known =
        KNOWN.iter().map(|(name, c)| line(name, &c.iter().map(|n| n.to_string()).collect::<Vec<_>>()));
    let mut left: BTreeSet<String> = known.collect();
    let mut new = Vec::new();
    for folder in fs::read_dir(super::root().join("crates")).unwrap() {
        let folder = folder.unwrap();
        let name = folder.file_name().into_string().unwrap();
        for circle in Graph::of_crate(&folder.path().join("src")).circles() {
            let found = line(super::short(&name), &circle);
            if !left.remove(&found) {
                new.push(found);
            }
        }
    }
    assert!(new.is_empty(), "files that need one another: {new:#?}");
    assert!(left.is_empty(), "these are no circles any longer, so remove them from the list: {left:?}");
}

#[test]
fn a_circle_is_found_and_a_folder_is_none() {
    let circles = |files: &[(&str, &str)]| {
        let mut graph = Graph::default();
        for (name, text) in files {
            let name = name.split("::").filter(|part| !part.is_empty()).map(str::to_string).collect();
            graph.add(name, text);
        }
        graph.circles().into_iter().map(|circle| circle.join(" ")).collect::<Vec<_>>()
    };
    let root = ("", "mod a;\nmod b;\nmod c;\npub use b::B;");
    let (a, b) = (("a", "use crate::{B, c};"), ("b", "pub struct B;\nfn f() { super::c::g() }"));
    assert_eq!(circles(&[root, a, b, ("c", "use crate::a::{self as first, A};")]), ["a b c"]);
    assert_eq!(circles(&[root, a, b, ("c", "#[cfg(test)]\nuse crate::a;\n// crate::a::A")]), [""; 0]);
    let folder = [("a", "mod x;\nmod y;\nuse x::X;\nstruct A;"), ("a::x", "use super::{A, y::Y};")];
    assert_eq!(circles(&[&folder[..], &[("a::y", "use crate::a::A;")]].concat()), [""; 0]);
    assert_eq!(circles(&[&folder[..], &[("a::y", "use super::x;")]].concat()), ["x y"]);
}
