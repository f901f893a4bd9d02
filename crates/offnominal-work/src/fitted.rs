//! What a command says of the monitor that it has fitted.

use anyhow::{Result, ensure};
use offnominal_core::estimate::Estimate;
use offnominal_core::partial::Missing;
use offnominal_monitor::{About, Calibrated, Drift, Group, Groups, PooledGroup};
use offnominal_stats::Promise;
use serde::Serialize;
use std::fmt::{self, Display, Formatter};
use std::path::PathBuf;

/// A monitor's file.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FittedMonitor {
    /// The file.
    pub file: PathBuf,
    /// Its size.
    pub bytes: usize,
    /// What the monitor says of itself.
    pub monitor: About,
    /// Episodes that were left out, each with the reason.
    pub left_out: Vec<String>,
    /// What makes the promise or the use of the threshold doubtful.
    pub warnings: Vec<String>,
}

/// Of episodes with their names those of which nothing says that something was wrong, and the others with the reason.
///
/// # Errors
/// If there is none.
pub fn nominal<T>(
    all: impl IntoIterator<Item = (String, T)>,
    why_not: impl Fn(&T) -> Option<&'static str>,
) -> Result<(Vec<T>, Vec<String>)> {
    let (mut nominal, mut left_out) = (Vec::new(), Vec::new());
    for (name, one) in all {
        match why_not(&one) {
            None => nominal.push(one),
            Some(why) => left_out.push(format!("{name}: {why}")),
        }
    }
    let first = || left_out.first().map_or(String::new(), |first| format!("; the first: {first}"));
    ensure!(!nominal.is_empty(), "expected nominal episodes, found none{}", first());
    Ok((nominal, left_out))
}

/// Names in a line, at most.
const NAMED: usize = 5;

impl Display for FittedMonitor {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        let FittedMonitor { file, bytes, monitor: about, left_out, .. } = self;
        let (id, env, n) = (&about.detector.id, &about.environment.id, about.train_episodes);
        writeln!(out, "{}: {id} for {env}, learned from {n} episodes; {bytes} bytes", file.display())?;
        if !left_out.is_empty() {
            let (n, more) = (left_out.len(), if left_out.len() > NAMED { ", …" } else { "" });
            let named = left_out[..n.min(NAMED)].join(", ");
            writeln!(out, "{n} episodes were left out: {named}{more}")?;
        }
        write!(out, "{}", Alarm(about))?;
        self.warnings.iter().try_for_each(|warning| write!(out, "\nwarning: {warning}"))
    }
}

/// When a monitor raises an alarm, what it promises, and what it does about missing values, in lines.
pub struct Alarm<'a>(pub &'a About);

impl Display for Alarm<'_> {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        let Alarm(about) = self;
        let set = &about.threshold;
        let (statistic, value, rule, n) = (&set.statistic, set.value, &set.rule, set.episodes);
        writeln!(out, "alarm: {statistic} above {value:.4}, set by {rule} on {n} episodes")?;
        writeln!(out, "{}", promised(about))?;
        set.drift.iter().try_for_each(|drift| writeln!(out, "{}", followed(drift)))?;
        about.groups.iter().try_for_each(|groups| tell_groups(groups, out))?;
        write!(out, "{}", missing(about))
    }
}

/// How a threshold has followed drift, in words.
fn followed(drift: &Drift) -> String {
    let Drift { confirmed, fitted, is_limited, .. } = drift;
    let limited = if *is_limited {
        "; it would be higher but for the tolerance, so what has drifted is more than that: fit again, or repair"
    } else {
        ""
    };
    format!(
        "recalibrated: it was {fitted:.4} when fitted, and has followed {confirmed} confirmed episodes{limited}"
    )
}

/// The thresholds of groups, and what is promised of them.
fn tell_groups(groups: &Groups, out: &mut Formatter<'_>) -> fmt::Result {
    for Group { name, threshold: set } in &groups.own {
        let (value, n) = (set.value, set.episodes);
        writeln!(
            out,
            "group {name}: above {value:.4}, set on its {n} episodes; the promise holds within the group"
        )?;
        set.drift.iter().try_for_each(|drift| writeln!(out, "group {name}: {}", followed(drift)))?;
    }
    for PooledGroup { name, episodes } in &groups.pooled {
        let set = match &groups.pool {
            Some(set) => {
                format!("above {:.4}, set on the {} episodes of all such groups", set.value, set.episodes)
            }
            None => "the threshold of all episodes".into(),
        };
        writeln!(
            out,
            "group {name}: too few episodes ({episodes}) for a threshold of its own; {set}, over which the promise holds"
        )?;
    }
    Ok(())
}

/// What becomes of values that are not read, in words.
pub fn missing(about: &About) -> String {
    let (id, steps) = (&about.detector.id, about.lost_after);
    let how = match about.missing {
        Missing::LeftOut => format!("{id} leaves them out of the score"),
        Missing::Predicted => {
            format!("{id} cannot leave them out, and takes what it predicts in their place")
        }
        Missing::Held => format!("{id} repeats the last value that was read"),
    };
    format!("missing values: {how}; a sensor counts as lost after {steps} steps without a value")
}

/// What a threshold promises, in words: which promise is meant, and what is expected.
fn promised(about: &About) -> String {
    let set = &about.threshold;
    if let Some(run_length) = set.run_length {
        let per_hour =
            set.promised_per_hour.map(|rate| format!("; at most {} false alarms an hour", digits(rate)));
        return format!("{run_length}{}{}", per_hour.unwrap_or_default(), hourly(set));
    }
    let promise = set.alpha.map(|alpha| Promise { alpha, confidence: set.confidence });
    let promise = match (set.promised_per_hour, promise) {
        (Some(rate), _) => format!(
            "false alarms: at most {} an hour of nominal operation, one counted per episode, on average over calibration \
             sets; ",
            digits(rate)
        ),
        (None, Some(promise)) => format!("false alarms: {promise}; "),
        (None, None) => String::new(),
    };
    match &set.false_alarms {
        Some(share) => {
            let [value, low, high] = [share.value, share.low, share.high].map(|x| digits(100.0 * x));
            format!(
                "{promise}with these {} calibration episodes about {value} % (95 % interval {low} to {high} %){}",
                set.episodes,
                hourly(set)
            )
        }
        None => "the rule promises nothing about false alarms".into(),
    }
}

/// Three digits, as rates may be of any size.
fn digits(x: f64) -> f64 {
    format!("{x:.2e}").parse().unwrap_or(x)
}

/// Alarms an hour on a line of their own.
fn hourly(set: &Calibrated) -> String {
    let says = |Estimate { value, low, high, .. }: &Estimate| {
        let [value, low, high] = [*value, *low, *high].map(digits);
        let counted = if set.run_length.is_none() { ", one counted per nominal episode" } else { "" };
        format!("\nexpected alarms an hour {value} [{low}, {high}]{counted}")
    };
    set.per_hour.as_ref().map(says).unwrap_or_default()
}
