//! Words that stand where a number or a truth value is expected.

/// What loggers, spreadsheets and historians write where nothing was read.
const MISSING: [&str; 41] = [
    "",
    "na",
    "n/a",
    "#n/a",
    "#na",
    "n.a.",
    "nan",
    "+nan",
    "-nan",
    "nat",
    "null",
    "none",
    "nil",
    "-",
    "--",
    "---",
    "?",
    "??",
    "???",
    ".",
    "*",
    "**",
    "***",
    "1.#qnan",
    "-1.#ind",
    "#div/0!",
    "#value!",
    "#ref!",
    "#num!",
    "#name?",
    "#null!",
    "err",
    "error",
    "#error",
    "invalid",
    "missing",
    "undefined",
    "no data",
    "nodata",
    "bad",
    "bad input",
];

/// What labels say where nothing was wrong.
const NOMINAL: [&str; 35] = [
    "",
    "0",
    "false",
    "f",
    "no",
    "n",
    "none",
    "null",
    "nan",
    "na",
    "-",
    "normal",
    "nominal",
    "ok",
    "okay",
    "good",
    "healthy",
    "benign",
    "pass",
    "passed",
    "off",
    "clean",
    "inactive",
    "negative",
    "no fault",
    "no_fault",
    "nofault",
    "no-fault",
    "fault-free",
    "faultfree",
    "non-faulty",
    "no anomaly",
    "no_anomaly",
    "b''",
    "absent",
];

/// Whether a word in a channel says that no number was read.
pub fn means_missing(word: &str) -> bool {
    is_in(&MISSING, word)
}

/// Whether a label of this word says that nothing was wrong.
pub fn is_nominal(word: &str) -> bool {
    is_in(&NOMINAL, word)
}

fn is_in(words: &[&str], word: &str) -> bool {
    let word = word.trim();
    words.iter().any(|known| known.eq_ignore_ascii_case(word))
}

/// Whether a column with so many numbers and words that mean nothing known is one of numbers: up to a tenth may be words.
pub fn are_numbers(numbers: u64, words: u64) -> bool {
    words.saturating_mul(10) <= numbers.saturating_add(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_known_in_any_case_and_a_tenth_of_others_is_borne() {
        assert!(["#N/A", "NaT", "--", "ERR", " Bad Input "].iter().all(|word| means_missing(word)));
        assert!(!means_missing("open") && is_nominal("Normal") && !is_nominal("leak"));
        assert!(are_numbers(9, 1) && !are_numbers(8, 1) && are_numbers(0, 0));
    }
}
