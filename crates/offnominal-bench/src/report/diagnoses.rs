//! What was said after alarms against what was done: a confusion matrix, how far onsets were off, and which faults were named.

use crate::results::{Diagnosed, Taught};
use offnominal_stats::Level;
use offnominal_stats::proportion::wilson;
use serde::Serialize;

/// The families in the order of rows and columns.
const FAMILIES: [&str; 3] = ["observation", "action", "dynamics"];

/// The matrix of one scope, with its sentences.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Matrix {
    /// All environments, or one.
    pub title: String,
    /// What was done, and how often it was taken for each family.
    pub rows: Vec<Line>,
    /// What the numbers say.
    pub sentence: String,
}

/// What alarms at one family of anomalies were taken for.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Line {
    /// What was done.
    pub family: &'static str,
    /// Alarms.
    pub alarms: u64,
    /// Shares of the families that it was taken for, with whether it is the right one.
    pub shares: Vec<(String, bool)>,
}

/// A matrix over all environments, and one for each if there are several: of the last diagnoses that were taught by faults.
pub fn matrices(diagnoses: &[Diagnosed]) -> Vec<Matrix> {
    let last = diagnoses.iter().map(|d| d.after).max().unwrap_or(0);
    let by_faults = |d: &&Diagnosed| d.taught == Taught::Faults && d.after == last;
    let diagnoses: Vec<Diagnosed> = diagnoses.iter().filter(by_faults).cloned().collect();
    let environments = crate::report::distinct(diagnoses.iter().map(|d| d.env.clone()));
    let of = |title: &str, environment: Option<&str>| {
        let rows: Vec<&Diagnosed> =
            diagnoses.iter().filter(|d| environment.is_none_or(|w| d.env == w)).collect();
        matrix(title, &rows)
    };
    match environments.as_slice() {
        [] => vec![],
        [only] => vec![of(only, None)],
        many => {
            std::iter::once(of("All environments", None)).chain(many.iter().map(|w| of(w, Some(w)))).collect()
        }
    }
}

fn matrix(title: &str, rows: &[&Diagnosed]) -> Matrix {
    let counts = FAMILIES.map(|family| counts(rows, family));
    let lines = FAMILIES.iter().zip(&counts).enumerate().map(|(i, (&family, counts))| {
        let alarms: u64 = counts.iter().sum();
        let share = |(j, &n): (usize, &u64)| (percent(n, alarms), i == j);
        Line { family, alarms, shares: counts.iter().enumerate().map(share).collect() }
    });
    Matrix { title: title.into(), rows: lines.collect(), sentence: sentence(rows, &counts) }
}

/// How often anomalies of a family were taken for each.
fn counts(rows: &[&Diagnosed], family: &str) -> [u64; 3] {
    let mut counts = [0; 3];
    for row in rows.iter().filter(|row| row.anomaly_class == family) {
        let found = [row.as_observation, row.as_action, row.as_dynamics];
        counts.iter_mut().zip(found).for_each(|(count, n)| *count += n);
    }
    counts
}

fn sentence(rows: &[&Diagnosed], counts: &[[u64; 3]; 3]) -> String {
    let alarms: Vec<u64> = counts.iter().map(|row| row.iter().sum()).collect();
    let (right, all) = ((0..3).map(|i| counts[i][i]).sum::<u64>(), alarms.iter().sum::<u64>());
    let Ok(share) = wilson(right as usize, all as usize, Level::P95) else {
        return "There was no alarm after an onset.".into();
    };
    let occurring: Vec<usize> = (0..3).filter(|&i| alarms[i] > 0).collect();
    let recall = |&i: &usize| counts[i][i] as f64 / alarms[i] as f64;
    let balanced = occurring.iter().map(recall).sum::<f64>() / occurring.len() as f64;
    let most = alarms.iter().max().copied().unwrap_or(0);
    let (error, delay) = (typical(rows, |d| d.onset_error), typical(rows, |d| d.alarm_delay));
    format!(
        "Of {all} alarms after the onset, {} name the right family [{}, {}]; the mean over families is {}. By chance it \
         would be {}, and always naming the most frequent one would be right in {}. {} name the anomaly; the compatible set holds \
         it in {}. The estimated onset is {error:.1} steps off in the median, where the alarm itself is {delay:.1} steps late.",
        percent(right, all),
        of_hundred(share.low),
        of_hundred(share.high),
        of_hundred(balanced),
        of_hundred(1.0 / 3.0),
        percent(most, all),
        percent(rows.iter().map(|d| d.named).sum(), all),
        percent(rows.iter().map(|d| d.covered).sum(), all)
    )
}

/// Median over anomalies and strengths, each as often as it had alarms.
fn typical(rows: &[&Diagnosed], of: fn(&Diagnosed) -> f64) -> f64 {
    let mut values: Vec<(f64, u64)> =
        rows.iter().filter(|d| d.alarms > 0).map(|d| (of(d), d.alarms)).collect();
    values.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (half, mut seen) = (values.iter().map(|v| v.1).sum::<u64>().div_ceil(2), 0);
    let middle = values.iter().find(|(_, n)| {
        seen += n;
        seen >= half
    });
    middle.map_or(f64::NAN, |(value, _)| *value)
}

fn percent(n: u64, of: u64) -> String {
    if of == 0 { "–".into() } else { of_hundred(n as f64 / of as f64) }
}

fn of_hundred(share: f64) -> String {
    format!("{:.0} %", 100.0 * share)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(class: &str, counts: [u64; 3], onset_error: f64) -> Diagnosed {
        Diagnosed {
            campaign: "c".into(),
            env: "w".into(),
            policy: "p".into(),
            anomaly_class: class.into(),
            anomaly: "a".into(),
            strength: "s".into(),
            detector: "d".into(),
            taught: Taught::Faults,
            after: 20,
            episodes: 50,
            alarms: counts.iter().sum(),
            as_observation: counts[0],
            as_action: counts[1],
            as_dynamics: counts[2],
            named: counts[0],
            covered: counts[0] + counts[1],
            onset_error,
            alarm_delay: 7.0,
            ..Diagnosed::default()
        }
    }

    #[test]
    fn the_matrix_and_what_it_says() {
        let rows = [
            row("observation", [30, 10, 0], 1.0),
            row("action", [0, 10, 10], 3.0),
            row("action", [0; 3], f64::NAN),
            Diagnosed { taught: Taught::Rules, after: 0, ..row("action", [0, 0, 9], 1.0) },
        ];
        let found = matrices(&rows);
        assert_eq!(found.len(), 1);
        let shares = |i: usize| found[0].rows[i].shares.iter().map(|s| s.0.as_str()).collect::<Vec<_>>();
        assert_eq!(
            (shares(0), shares(1), shares(2)),
            (vec!["75 %", "25 %", "0 %"], vec!["0 %", "50 %", "50 %"], vec!["–"; 3])
        );
        let said = &found[0].sentence;
        assert!(said.starts_with("Of 60 alarms after the onset, 67 % name the right family [54 %, 77 %]; the mean over families is 62 %."), "{said}");
        assert!(
            said.contains("most frequent one would be right in 67 %. 50 % name the anomaly; the compatible set holds it in 83 %.")
                && said.contains("is 1.0 steps off"),
            "{said}"
        );
        assert_eq!(matrices(&[]), []);
        assert_eq!(matrices(&rows[2..3])[0].sentence, "There was no alarm after an onset.");
    }
}
