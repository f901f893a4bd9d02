//! Tables of text, and the numbers that go into them.

use crate::ood_rl::environment::ENVIRONMENTS;
use crate::ood_rl::{Judged, MAIN, METHODS, Method};
use offnominal_report::markdown::{self, Align};

/// One line per environment and method, as a table.
pub fn summary(rows: &[Judged]) -> String {
    let mut table = Table::new(&[
        "environment, method",
        "trials",
        "variants failed",
        "AUROC where it fails",
        "of all variants",
        "at equal times, where it fails",
        "null controls",
    ]);
    for env in ENVIRONMENTS {
        for method in METHODS {
            let own = || of(rows, env, method, MAIN).filter(|r| r.anomaly != "none");
            let n = by_trial(own(), |r| r.auroc).len();
            if n == 0 {
                continue;
            }
            let failed = own().filter(|r| r.is_published() && r.fails).count() as f64 / n as f64;
            let real = own().filter(|r| r.is_published()).count() / n;
            table.line(vec![
                format!("{env}, {}", method.title()),
                n.to_string(),
                format!("{failed:.1} of {real}"),
                spread(&by_trial(own().filter(|r| r.is_published() && r.fails), |r| r.auroc)),
                spread(&by_trial(own().filter(|r| r.is_published()), |r| r.auroc)),
                spread(&by_trial(own().filter(|r| r.is_published() && r.fails), |r| r.auroc_matched)),
                spread(&by_trial(own().filter(|r| r.null), |r| r.auroc)),
            ]);
        }
    }
    table.markdown()
}

/// A table with a header.
pub(super) struct Table {
    head: Vec<String>,
    lines: Vec<Vec<String>>,
}

impl Table {
    pub fn new(head: &[&str]) -> Table {
        Table { head: head.iter().map(|h| h.to_string()).collect(), lines: vec![] }
    }

    /// Adds a line.
    pub fn line(&mut self, line: Vec<String>) {
        self.lines.push(line);
    }

    /// As Markdown; all columns but the first to the right.
    pub fn markdown(&self) -> String {
        markdown::table(Align::Numbers, &self.head, &self.lines)
    }
}

/// Mean and sample standard deviation (n − 1); the latter is 0 for a single value, and nothing is nothing.
pub(super) fn mean_sd(values: &[f64]) -> Option<(f64, f64)> {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let squares: f64 = values.iter().map(|v| (v - mean).powi(2)).sum();
    (!values.is_empty()).then(|| (mean, (squares / (n - 1.0).max(1.0)).sqrt()))
}

/// Three decimals without the zero before them; a dash where there is nothing.
pub(super) fn share(value: Option<f64>) -> String {
    value.map_or("–".into(), |v| format!("{v:.3}").replacen("0.", ".", 1))
}

/// Mean ± deviation.
pub(super) fn spread(values: &[f64]) -> String {
    match mean_sd(values) {
        None => "–".into(),
        Some((mean, _)) if values.len() == 1 => share(Some(mean)),
        Some((mean, sd)) => format!("{} ± {}", share(Some(mean)), share(Some(sd))),
    }
}

/// The rows of an environment and a method, in one measure.
pub(super) fn of<'a>(
    rows: &'a [Judged],
    env: &'a str,
    method: Method,
    measure: &'a str,
) -> impl Iterator<Item = &'a Judged> {
    rows.iter().filter(move |r| r.env == env && r.method == method && r.measure == measure)
}

/// Mean over the rows of each trial of a number, one per trial.
pub(super) fn by_trial<'a>(
    rows: impl Iterator<Item = &'a Judged>,
    number: impl Fn(&Judged) -> Option<f64>,
) -> Vec<f64> {
    let mut trials: std::collections::BTreeMap<u32, Vec<f64>> = Default::default();
    rows.for_each(|row| trials.entry(row.trial).or_default().extend(number(row)));
    trials.values().filter_map(|values| mean_sd(values)).map(|(mean, _)| mean).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_as_they_are_printed() {
        assert_eq!(spread(&[0.5, 0.7]), ".600 ± .141");
        assert_eq!((spread(&[0.5]), spread(&[])), (".500".into(), "–".into()));
        assert_eq!(share(Some(1.0)), "1.000");
    }

    #[test]
    fn a_table_is_markdown() {
        let mut table = Table::new(&["a", "b"]);
        table.line(vec!["x".into(), "1".into()]);
        assert_eq!(table.markdown(), "| a | b |\n| --- | ---: |\n| x | 1 |\n");
    }
}
