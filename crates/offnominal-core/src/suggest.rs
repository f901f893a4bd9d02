//! "Did you mean …?": the nearest right name for a wrong one.

/// The most similar of the known names, if one is similar enough to be meant.
pub fn nearest<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Option<String> {
    let name = name.to_lowercase();
    known
        .map(|k| (strsim::jaro_winkler(&name, k), k))
        .filter(|&(similarity, _)| similarity > 0.7)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, k)| k.to_string())
}

/// The suggestion for a name, as it ends a message; nothing where no known name is similar.
pub fn did_you_mean<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> String {
    hint(&nearest(name, known))
}

/// The suggestion as it ends a message; nothing where there is none.
pub fn hint(nearest: &Option<String>) -> String {
    nearest.as_ref().map_or(String::new(), |n| format!("; did you mean {n:?}?"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_similar_names_are_suggested() {
        let known = ["obs-noise", "act-noise", "dyn-mass"];
        let hint = |name| hint(&nearest(name, known.into_iter()));
        assert_eq!(hint("obs-nose"), "; did you mean \"obs-noise\"?");
        assert_eq!(hint("ACT-NOISE"), "; did you mean \"act-noise\"?");
        assert_eq!(hint("zzz"), "");
    }
}
