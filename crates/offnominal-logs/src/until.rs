//! Learning from what lies before: the first labelled row, a date, or a time since the start of a log.

use crate::episodes::Recorded;
use crate::mapping::{Episodes, Mapping};
use anyhow::{Result, ensure};
use offnominal_topics::clock::nanos;
use offnominal_topics::dates;
use offnominal_work::per_time::Span;
use std::fmt;
use std::path::Path;
use std::str::FromStr;

/// In nanoseconds.
const TEN_YEARS: i64 = 10 * 365 * 86_400 * 1_000_000_000;

/// Where in each log that ends which is learned from.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Until {
    /// At the first labelled row.
    Label,
    /// So long after the start of the log.
    After(f64),
    /// At a date, in nanoseconds since 1970.
    Date(i64),
}

impl FromStr for Until {
    type Err = String;

    fn from_str(text: &str) -> Result<Until, String> {
        if text == "label" {
            return Ok(Until::Label);
        }
        if let Some((form, date)) = dates::clear(text, 0)
            && dates::forms()[form].format.is_some()
        {
            return Ok(Until::Date(date));
        }
        match text.parse() {
            Ok(Span::Secs(secs)) if secs > 0.0 => Ok(Until::After(secs)),
            _ => Err(format!(
                "expected `label`, a date such as 2024-05-01T12:00 or a time since the start such as 30m, 10h or 7d, found {text:?}"
            )),
        }
    }
}

impl fmt::Display for Until {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Until::Label => write!(out, "the first labelled row"),
            Until::After(secs) => write!(out, "{secs} s after the start of each log"),
            Until::Date(nanos) => write!(out, "{:.3} s since 1970 (UTC)", *nanos as f64 / 1e9),
        }
    }
}

impl Until {
    /// What lies before, of recordings of one mapping; a recording without a step before it is left out, and so is a window that
    /// it cuts.
    ///
    /// # Errors
    /// If nothing lies before it, or there are no labels where they are asked for.
    pub fn before(self, all: &[Recorded], mapping: &Mapping) -> Result<Vec<Recorded>> {
        ensure!(
            self != Until::Label || all.iter().any(|one| one.labels.is_some()),
            "until: expected logs with the column that the mapping names as `label`, or --events, found none"
        );
        // A clock that counts from the start of the machine has passed no ten years.
        let has_dates = all.iter().all(|one| one.start_nanos > TEN_YEARS);
        ensure!(
            !matches!(self, Until::Date(_)) || has_dates,
            "until: expected a time since the start, such as 10h, as the clock of a log holds no dates, found {self}"
        );
        let clock = &mapping.clock;
        let is_timed = clock.column.is_some() || clock.rate_hz.is_some();
        let counts_rows = !is_timed && all.iter().any(|one| one.dt_secs(mapping) == 1.0);
        ensure!(
            !matches!(self, Until::After(_)) || !counts_rows,
            "until: expected logs with a clock, as a time is asked for; their rows have none (`clock` of the mapping: `column` \
             or `rate_hz`)"
        );
        let part = |one: &Recorded| one.before(self.nanos(all, &one.log), mapping);
        let found: Vec<Recorded> = all.iter().filter_map(part).collect();
        ensure!(
            !found.is_empty(),
            "until: expected recordings with at least one step before {self}, found none"
        );
        Ok(found)
    }

    /// The first moment of a log that is not learned from.
    fn nanos(self, all: &[Recorded], log: &Path) -> i64 {
        let parts = all.iter().filter(|one| one.log == log);
        match self {
            Until::Label => parts.filter_map(Recorded::labelled_nanos).min().unwrap_or(i64::MAX),
            Until::After(secs) => {
                let start = parts.map(|one| one.start_nanos).min().unwrap_or(0);
                start.saturating_add(nanos(secs))
            }
            Until::Date(date) => date,
        }
    }
}

impl Recorded {
    /// The moment of the first observation that a label says is anomalous.
    fn labelled_nanos(&self) -> Option<i64> {
        let step = self.labels.as_ref()?.iter().position(|&label| label)?;
        Some(self.start_nanos + nanos(self.secs[step + 1]))
    }

    /// The part before a moment, if it has a step.
    fn before(&self, end: i64, mapping: &Mapping) -> Option<Recorded> {
        let n = self.secs.partition_point(|&secs| self.start_nanos + nanos(secs) < end);
        if n == self.secs.len() {
            return Some(self.clone());
        }
        let (observed, commanded) = (mapping.observation.len(), mapping.command.len());
        let steps = n.checked_sub(1).filter(|&steps| steps > 0)?;
        Some(Recorded {
            is_part: self.is_part || matches!(mapping.episodes, Episodes::Window { .. }),
            secs: self.secs[..n].to_vec(),
            observations: self.observations[..n * observed].to_vec(),
            commands: self.commands[..steps * commanded].to_vec(),
            ages_secs: self.ages_secs[..n * observed].to_vec(),
            labels: self.labels.as_ref().map(|labels| labels[..steps].to_vec()),
            kinds: vec![],
            ..self.clone()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Eleven rows, one a second; labels hold of steps.
    fn recorded(start_secs: i64, labels: [bool; 10]) -> Recorded {
        Recorded {
            log: "a.csv".into(),
            number: 1,
            is_alone: true,
            is_part: false,
            start_nanos: start_secs * 1_000_000_000,
            secs: (0..11).map(f64::from).collect(),
            observations: (0..11).map(f64::from).collect(),
            commands: Vec::new(),
            ages_secs: vec![0.0; 11],
            labels: Some(labels.to_vec()),
            kinds: vec![],
            success: None,
            task: None,
        }
    }

    fn mapping(episodes: Episodes) -> Mapping {
        let level = Mapping::parse(
            "version = 1\nobservation = [{ column = \"level\" }]\ncommand = []\n[clock]\nrate_hz = 1\n",
        )
        .unwrap();
        Mapping { episodes, ..level }
    }

    #[test]
    fn what_lies_before_the_first_label_a_time_or_a_date_is_kept() {
        let start = 1_700_000_000;
        let all = [recorded(start, [false, false, false, true, true, false, false, false, false, false])];
        let steps = |until: &str| {
            let found = until.parse::<Until>().unwrap().before(&all, &mapping(Episodes::File)).unwrap();
            (found[0].secs.len(), found[0].labels.as_ref().map(Vec::len), found[0].not_nominal())
        };
        // The label of the fourth step is that of the fifth row.
        assert_eq!(steps("label"), (4, Some(3), None));
        assert_eq!(steps("5s").0, 5);
        assert_eq!(steps("2023-11-14T22:13:26").0, 6);
        assert_eq!(steps("1d").0, 11);
    }

    #[test]
    fn later_recordings_of_the_log_are_left_out_and_so_is_a_window_that_is_cut() {
        let label = |at: usize| std::array::from_fn(|i| i == at);
        let all = [recorded(0, [false; 10]), recorded(10, label(4)), recorded(20, [false; 10])];
        let found = Until::Label.before(&all, &mapping(Episodes::Window { secs: 10.0 })).unwrap();
        assert_eq!(
            found.iter().map(|one| (one.secs.len(), one.is_part)).collect::<Vec<_>>(),
            [(11, false), (5, true)]
        );
    }

    #[test]
    fn what_cannot_be_meant_is_refused() {
        for wrong in ["labels", "10", "0s", "10:30", "03/04/2020"] {
            let found = wrong.parse::<Until>().unwrap_err();
            assert!(found.contains("a date such as") && found.contains(wrong), "{found}");
        }
        let refused = |until: Until, one: Recorded| {
            let mut mapping = mapping(Episodes::File);
            mapping.clock.rate_hz = None;
            until.before(&[one], &mapping).unwrap_err().to_string()
        };
        let unlabelled = Recorded { labels: None, ..recorded(0, [false; 10]) };
        assert!(refused(Until::Label, unlabelled).contains("`label`"));
        assert!(refused(Until::Date(1), recorded(0, [false; 10])).contains("holds no dates"));
        assert!(refused(Until::After(5.0), recorded(0, [false; 10])).contains("logs with a clock"));
        assert!(refused(Until::Label, recorded(0, [true; 10])).contains("at least one step before"));
    }
}
