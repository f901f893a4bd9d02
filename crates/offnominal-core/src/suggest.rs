//! "Did you mean …?": the nearest right name for a wrong one.

/// The most similar of the known names, if one is similar enough to be meant; of equals the first.
///
/// Similarity is 1 minus the distance of Damerau and Levenshtein (letters added, left out, changed, or swapped with a
/// neighbour) as a share of the longer name. At least half of the letters must be right, unless the name is a part of
/// a known one or has a long word of it.
pub fn nearest<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Option<String> {
    let name = name.to_lowercase();
    let similar = known.map(|k| (strsim::normalized_damerau_levenshtein(&name, k), k));
    let meant = similar.filter(|&(similarity, k)| similarity >= 0.5 || is_part(&name, k));
    let better = |best: (f64, &'a str), next: (f64, &'a str)| if next.0 > best.0 { next } else { best };
    meant.reduce(better).map(|(_, k)| k.to_string())
}

/// Whether a name of some length is a part of a known one, or has a long word of it.
fn is_part(name: &str, known: &str) -> bool {
    let has = |word: &str| word.len() >= 5 && name.contains(word);
    (name.len() >= 3 && known.contains(name)) || known.split(['-', '_']).any(has)
}

/// The suggestion for a name, as it ends a message; nothing where no known name is similar.
pub fn did_you_mean<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> String {
    hint(&nearest(name, known))
}

/// The suggestion as it ends a message; nothing where there is none.
pub fn hint(nearest: &Option<String>) -> String {
    nearest.as_ref().map_or(String::new(), |n| format!("; did you mean {n:?}?"))
}

/// The first of some names that is not known, with the nearest known one and all of them, as it ends a message.
pub fn unknown<'a>(asked: &[String], known: impl Iterator<Item = &'a str> + Clone) -> Option<String> {
    let name = asked.iter().find(|name| !known.clone().any(|k| k == name.as_str()))?;
    let (hint, all) = (did_you_mean(name, known.clone()), known.collect::<Vec<_>>().join(", "));
    Some(format!("{name:?}{hint}; there are: {all}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_unknown_name_is_said_with_the_known_ones() {
        let say = |asked: &[&str]| {
            let asked: Vec<String> = asked.iter().map(ToString::to_string).collect();
            unknown(&asked, ["pong", "pendulum"].into_iter())
        };
        assert_eq!(say(&["pong", "pendulum"]), None);
        let said = say(&["pong", "pendulm", "x"]).unwrap();
        assert_eq!(said, "\"pendulm\"; did you mean \"pendulum\"?; there are: pong, pendulum");
    }

    #[test]
    fn only_similar_names_are_suggested() {
        let known = ["obs-noise", "act-noise", "dyn-mass"];
        let hint = |name| hint(&nearest(name, known.into_iter()));
        assert_eq!(hint("obs-nose"), "; did you mean \"obs-noise\"?");
        assert_eq!(hint("ACT-NOISE"), "; did you mean \"act-noise\"?");
        assert_eq!(hint("zzz"), "");
    }

    #[test]
    fn swapped_letters_and_parts_of_names_are_understood() {
        let meant = |name, known: &[&'static str]| nearest(name, known.iter().copied());
        assert_eq!(meant("tpo", &["side", "top"]).as_deref(), Some("top"));
        assert_eq!(meant("dyn-mas", &["obs-noise", "dyn-gear", "dyn-mass"]).as_deref(), Some("dyn-mass"));
        assert_eq!(meant("cheetah", &["mjc-half-cheetah", "sap-goal0"]).as_deref(), Some("mjc-half-cheetah"));
        assert_eq!(meant("iforest", &["knn", "isolation-forest"]).as_deref(), Some("isolation-forest"));
        assert_eq!(meant("sap-goal7", &["sap-goal0", "sap-goal1"]).as_deref(), Some("sap-goal0"));
    }
}
