//! The page: every detector of every submission, best first, suite by suite.

use super::Submission;
use crate::cells::{RANKED, ranked};
use crate::results;
use crate::suite::{ALL, Suite};
use anyhow::Result;
use offnominal_core::estimate::Estimate;
use offnominal_report::markdown::{Align, table};

const HEAD: &str = "# Leaderboard\n\n\
    Written by `offnominal leaderboard check --page FILE` from the folders in `leaderboard/submissions/`; do not edit.\n\n\
    Each submission is a folder of results of a suite with the digests of its files. \
    It is on this page only if all of its files have their digests, every table and its provenance are as the suite writes \
    them, every detector has the same rows, and the baseline `clock` has a matched AUROC of exactly one half.\n\
    Numbers are means over anomalies and strengths of the suite's main policy with 95 % intervals; alarms are at the conformal \
    threshold for 5 % of episodes. The control is nominal episodes judged as if an anomaly began in them, and should be one half.\n";

const SUBMIT: &str = "\n## Submit\n\n\
    ```sh no-run: takes hours\n\
    offnominal bench --suite vector --out runs/vector           # with your detectors added to the catalogue\n\
    offnominal leaderboard add runs/vector --suite vector --name my-detector --by \"Who\" --date 2026-01-31 \\\n\
    \x20   --about \"What is new in it\" --code \"Where the code is\"\n\
    offnominal leaderboard check --page docs/leaderboard.md\n\
    ```\n\n\
    A program of your own adds detectors to the suite's, as [the guide for contributors](../CONTRIBUTING.md) shows. \
    Results of fewer environments are ranked below those of more.\n";

/// A detector of a submission.
struct Line<'s> {
    detector: &'s str,
    submission: &'s str,
    environments: usize,
    numbers: [Option<Estimate>; 5],
}

/// The page of all submissions as Markdown.
///
/// # Errors
/// If a campaign of a suite is wrong.
pub fn page(submissions: &[Submission]) -> Result<String> {
    let mut text = HEAD.to_string();
    for suite in ALL {
        let own: Vec<&Submission> = submissions.iter().filter(|s| s.about.suite == suite.id).collect();
        if !own.is_empty() {
            text += &section(suite, &own)?;
        }
    }
    Ok(text + SUBMIT)
}

fn section(suite: &Suite, submissions: &[&Submission]) -> Result<String> {
    let of = suite.environments()?.len();
    let mut lines: Vec<Line<'_>> = submissions.iter().flat_map(|s| lines(s)).collect();
    let auroc = |line: &Line<'_>| line.numbers[0].as_ref().map_or(f64::NEG_INFINITY, |e| e.value);
    lines.sort_by(|a, b| b.environments.cmp(&a.environments).then(auroc(b).total_cmp(&auroc(a))));
    let mut head = vec!["", "detector", "submission", "environments"];
    head.extend(RANKED);
    let rows: Vec<Vec<String>> = lines.iter().enumerate().map(|(i, line)| line.cells(i + 1, of)).collect();
    let about: Vec<Vec<String>> = submissions.iter().map(|s| about(s)).collect();
    Ok(format!(
        "\n## Suite `{}`\n\n{}\n{}",
        suite.id,
        table(Align::Left, &head, &rows),
        table(Align::Left, &["submission", "by", "date", "version", "what is in it", "code"], &about)
    ))
}

/// The detectors of a submission, each over all of its environments, with the main policy of each.
fn lines<'s>(submission: &'s Submission) -> Vec<Line<'s>> {
    let mut rows: Vec<results::Row> = Vec::new();
    let mut detectors: Vec<&str> = Vec::new();
    for (environment, own) in &submission.environments {
        let main = own.first().map(|row| &row.policy);
        rows.extend(own.iter().filter(|row| Some(&row.policy) == main).cloned().map(results::Row::from));
        for detector in
            environment.detectors.iter().filter(|d| !detectors.contains(&&***d)).collect::<Vec<_>>()
        {
            detectors.push(detector);
        }
    }
    let line = |detector: &'s str| Line {
        detector,
        submission: &submission.name,
        environments: submission
            .environments
            .iter()
            .filter(|(e, _)| e.detectors.iter().any(|d| d == detector))
            .count(),
        numbers: ranked(&rows, detector),
    };
    detectors.into_iter().map(line).collect()
}

impl Line<'_> {
    fn cells(&self, rank: usize, of: usize) -> Vec<String> {
        let (detector, environments) = (self.detector, self.environments);
        let mut cells = vec![rank.to_string(), format!("`{detector}`"), self.submission.to_string()];
        cells.push(format!("{environments} of {of}"));
        cells.extend(self.numbers.iter().map(|number| match number {
            Some(e) => format!("{:.3} [{:.3}, {:.3}]", e.value, e.low, e.high),
            None => "–".into(),
        }));
        cells
    }
}

fn about(submission: &Submission) -> Vec<String> {
    let about = &submission.about;
    let mut versions: Vec<&str> = submission.environments.iter().map(|(e, _)| &*e.made.engine).collect();
    versions.dedup();
    let fields = [&submission.name, &about.by, &about.date, &versions.join(", "), &about.about, &about.code];
    fields.map(String::clone).into()
}
