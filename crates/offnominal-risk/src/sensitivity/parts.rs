//! The parts of an initial condition.

/// Some numbers of an initial condition, or the random numbers of an episode.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    /// Its name.
    pub name: String,
    /// Which numbers.
    pub numbers: Vec<usize>,
    /// Whether it is the random numbers of environment and policy.
    pub is_randomness: bool,
}

/// The name of the random numbers.
pub const RANDOMNESS: &str = "random numbers";

/// The parts of initial conditions with these names, and the random numbers. Numbers whose names differ in their last
/// digits only, such as those of a track, are one part, unless each shall be one.
pub fn of(names: &[String], each: bool) -> Vec<Part> {
    let mut parts: Vec<Part> = Vec::new();
    for (i, name) in names.iter().enumerate() {
        let stem = if each { name.as_str() } else { stem(name) };
        match parts.iter_mut().find(|part| part.name == stem) {
            Some(part) => part.numbers.push(i),
            None => parts.push(Part { name: stem.into(), numbers: vec![i], is_randomness: false }),
        }
    }
    parts.push(Part { name: RANDOMNESS.into(), numbers: vec![], is_randomness: true });
    parts
}

/// A name without the number at its end.
fn stem(name: &str) -> &str {
    let stem = name.trim_end_matches(|c: char| c.is_ascii_digit()).trim_end_matches(['_', '-', '.', ' ']);
    if stem.is_empty() { name } else { stem }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_one_name_are_one_part() {
        let names = ["angle_1", "angle_2", "speed", "x10", "7"].map(String::from);
        let found: Vec<(String, Vec<usize>)> =
            of(&names, false).into_iter().map(|part| (part.name, part.numbers)).collect();
        let part = |name: &str, numbers: &[usize]| (name.to_string(), numbers.to_vec());
        let expected = [
            part("angle", &[0, 1]),
            part("speed", &[2]),
            part("x", &[3]),
            part("7", &[4]),
            part(RANDOMNESS, &[]),
        ];
        assert_eq!(found, expected);
        assert_eq!(of(&names, true).len(), 6);
    }
}
