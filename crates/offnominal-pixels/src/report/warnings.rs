//! Warnings of many methods as few sentences: those that differ in their numbers alone become one.

use crate::results::MethodResult;

/// Methods that have the same warning but for its numbers.
struct Group<'a> {
    methods: Vec<&'a str>,
    /// Their warnings, word by word.
    words: Vec<Vec<&'a str>>,
}

/// The warnings of all methods, in the order in which they first occur.
pub fn merged(methods: &[MethodResult]) -> Vec<String> {
    let pairs = methods.iter().flat_map(|m| m.warnings.iter().map(|w| (m.method.as_str(), w.as_str())));
    let mut groups: Vec<Group> = Vec::new();
    for (method, warning) in pairs {
        let words: Vec<&str> = warning.split(' ').collect();
        match groups.iter_mut().find(|group| is_alike(&group.words[0], &words)) {
            Some(group) => {
                group.methods.push(method);
                group.words.push(words);
            }
            None => groups.push(Group { methods: vec![method], words: vec![words] }),
        }
    }
    groups.iter().map(Group::sentence).collect()
}

fn number(word: &str) -> Option<u64> {
    word.parse().ok()
}

fn is_alike(a: &[&str], b: &[&str]) -> bool {
    let is_same = |(x, y): (&&str, &&str)| x == y || number(x).is_some() && number(y).is_some();
    a.len() == b.len() && a.iter().zip(b).all(is_same)
}

impl Group<'_> {
    fn sentence(&self) -> String {
        let names = self.methods.join(", ");
        let who = match self.methods.len() {
            1 => names,
            n => format!("{n} methods ({names})"),
        };
        let words: Vec<String> = (0..self.words[0].len()).map(|at| self.word(at)).collect();
        format!("{who}: {}", words.join(" "))
    }

    /// A word that all share, or the least and the largest of the numbers in its place.
    fn word(&self, at: usize) -> String {
        let numbers = || self.words.iter().filter_map(|words| number(words[at]));
        match (numbers().min(), numbers().max()) {
            (Some(low), Some(high)) if low < high => format!("{low} to {high}"),
            _ => self.words[0][at].into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gallery::Gallery;

    fn method(name: &str, warnings: &[&str]) -> MethodResult {
        MethodResult {
            method: name.into(),
            has_seen_unknown: false,
            has_seen_pasted: false,
            modes: Default::default(),
            auroc_if_alike: None,
            components: None,
            aupro: None,
            max_iou_threshold: 0.0,
            youden_threshold: 0.0,
            best_f1: 0.0,
            best_f1_threshold: 0.0,
            histogram_error: [[0.0; 2]; 4],
            warnings: warnings.iter().map(ToString::to_string).collect(),
            class_means: Vec::new(),
            nominal_class_means: Vec::new(),
            gallery: Gallery::default(),
        }
    }

    #[test]
    fn warnings_that_differ_in_numbers_become_one() {
        let methods = [
            method("odin", &["paper400: only 3 distinct thresholds (at least 50 are needed)"]),
            method("energy", &["paper400: 12 scores outside [0, 1] were clipped", "exact: left out"]),
            method("entropy", &["paper400: only 17 distinct thresholds (at least 50 are needed)"]),
            method("vim", &["paper400: 12 scores outside [0, 1] were clipped"]),
        ];
        let want = [
            "2 methods (odin, entropy): paper400: only 3 to 17 distinct thresholds (at least 50 are needed)",
            "2 methods (energy, vim): paper400: 12 scores outside [0, 1] were clipped",
            "energy: exact: left out",
        ];
        assert_eq!(merged(&methods), want);
        assert!(merged(&methods[..0]).is_empty());
    }
}
