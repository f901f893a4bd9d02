//! How a threshold is to be set, as a request says it.

use crate::cli;
use crate::per_time::{FalseAlarms, Span, known};
use anyhow::{Context as _, Result, ensure};
use clap::Args;
use offnominal_core::suggest::did_you_mean;
use offnominal_stats::{Promise, RUN_LENGTH, Rate, Rule, RunLength};
use std::num::NonZeroU32;

/// A rule by its name, with what it is asked to promise.
#[derive(Debug, Clone, PartialEq, Args)]
pub struct Threshold {
    /// Threshold rule: 3sigma, q95, max, conformal, band, cusum, martingale, run-length
    #[arg(long, default_value = "conformal")]
    pub rule: String,
    /// Accepted share of nominal episodes with an alarm
    #[arg(long, default_value_t = ALPHA, value_name = "SHARE", value_parser = cli::share, allow_negative_numbers = true)]
    pub alpha: f64,
    /// False alarms per time, instead of a share or a run length: 0.5/hour, 2/day
    #[arg(long, value_name = "RATE", conflicts_with_all = ["alpha", "run_length"])]
    pub false_alarms: Option<FalseAlarms>,
    /// Guarantee that share with this confidence, instead of on average
    #[arg(long, value_name = "SHARE", allow_negative_numbers = true)]
    pub confidence: Option<f64>,
    /// Rule run-length: mean steps or time (30m, 10h, 7d) between false alarms
    #[arg(long, value_name = "LENGTH")]
    pub run_length: Option<Span>,
    /// Rule run-length: steps per block [default: five correlation lengths]
    #[arg(long, value_name = "STEPS")]
    pub block: Option<u32>,
    /// Monitors that share the false-alarm budget (Bonferroni)
    #[arg(long, default_value = "1", value_name = "N")]
    pub monitors: NonZeroU32,
}

/// The accepted share of nominal episodes with an alarm, if a request does not say it.
pub const ALPHA: f64 = 0.05;

impl Default for Threshold {
    fn default() -> Threshold {
        cli::defaults()
    }
}

impl Threshold {
    /// The rule, for steps of so many seconds; without them nothing can be promised per time.
    ///
    /// # Errors
    /// If there is none of that name, a number is out of range, or something is asked of a rule that does not promise it.
    pub fn rule(&self, dt_secs: Option<f64>) -> Result<Rule> {
        for (key, share) in [("alpha", Some(self.alpha)), ("confidence", self.confidence)] {
            let found = share.unwrap_or(0.5);
            ensure!(found > 0.0 && found < 1.0, "{key}: expected a number between 0 and 1, found {found}");
        }
        if self.rule == RUN_LENGTH.id {
            return self.of_stream(dt_secs);
        }
        let rule = match self.false_alarms {
            Some(rate) => self.of_rate(rate, dt_secs)?,
            None => self.of_episodes()?,
        };
        ensure!(
            self.confidence.is_none() || rule.promise().is_some(),
            "confidence: expected a rule with a promise (conformal, band, cusum, martingale or run-length), found {}",
            self.rule
        );
        ensure!(
            self.monitors.get() == 1 || rule.promise().is_some() || self.false_alarms.is_some(),
            "monitors: expected a rule with a promise that they can share, found {}",
            self.rule
        );
        for (key, found) in [
            ("run_length", self.run_length.map(|x| x.to_string())),
            ("block", self.block.map(|x| x.to_string())),
        ] {
            ensure!(
                found.is_none(),
                "{key}: expected it with the rule run-length, found it with {}",
                self.rule
            );
        }
        Ok(rule)
    }

    /// Whether a time is asked for, which steps must be known to take.
    pub fn is_timed(&self) -> bool {
        self.false_alarms.is_some() || matches!(self.run_length, Some(Span::Secs(_)))
    }

    fn of_stream(&self, dt_secs: Option<f64>) -> Result<Rule> {
        let span = self.run_length.or(self.false_alarms.map(FalseAlarms::apart)).context(
            "run_length: expected a number of steps or a time, such as 100000 or 10h, for the rule run-length, or false_alarms, \
             such as 2/day; found neither",
        )?;
        ensure!(
            self.run_length.is_none() || self.false_alarms.is_none(),
            "false_alarms: expected it or run_length, found both"
        );
        ensure!(self.block != Some(0), "block: expected a number of steps above 0, found 0");
        // So do their false alarms in any time.
        let steps = span.steps(dt_secs)? * f64::from(self.monitors.get());
        ensure!(steps >= 1.0, "run_length: expected one step or more, found {steps}");
        let block = self.block.map(|block| block as usize);
        Ok(Rule::RunLength(RunLength { steps, block, confidence: self.confidence }))
    }

    fn of_rate(&self, rate: FalseAlarms, dt_secs: Option<f64>) -> Result<Rule> {
        ensure!(
            self.rule == CONFORMAL,
            "false_alarms: expected the rule {CONFORMAL}, for episodes, or {}, for a stream, found {}; other rules take alpha",
            RUN_LENGTH.id,
            self.rule
        );
        ensure!(
            self.confidence.is_none(),
            "false_alarms: expected no confidence with the rule {CONFORMAL}, as nobody knows the mean length of episodes for \
             sure; alpha can have one, and so can the rule {}",
            RUN_LENGTH.id
        );
        let per_hour = rate.per_hour() / f64::from(self.monitors.get());
        Ok(Rule::Rate(Rate { per_hour, dt_secs: known(dt_secs)? }))
    }

    fn of_episodes(&self) -> Result<Rule> {
        // Shares of several monitors add up, whatever they watch.
        let alpha = self.alpha / f64::from(self.monitors.get());
        let rules = Rule::all(Promise { alpha, confidence: self.confidence });
        rules.into_iter().find(|rule| rule.id() == self.rule).with_context(|| {
            let ids: Vec<&str> = rules.iter().map(Rule::id).chain([RUN_LENGTH.id]).collect();
            let hint = did_you_mean(&self.rule, ids.iter().copied());
            format!("rule: expected one of {}, found {:?}{hint}", ids.join(", "), self.rule)
        })
    }
}

/// The rule that can promise a rate of alarms over episodes.
const CONFORMAL: &str = "conformal";

/// What a rule was asked to promise, for errors.
pub fn asked(rule: Rule) -> String {
    if let Rule::Rate(Rate { per_hour, .. }) = rule {
        return format!(" with {per_hour} false alarms an hour");
    }
    let Some(Promise { alpha, confidence }) = rule.promise() else { return String::new() };
    let confidence =
        confidence.map_or(String::new(), |confidence| format!(" and a confidence of {confidence}"));
    format!(" with an alpha of {alpha}{confidence}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn choice(rule: &str, alpha: f64) -> Threshold {
        Threshold { rule: rule.into(), alpha, ..Threshold::default() }
    }

    #[test]
    fn wrong_rules_and_shares_are_named() {
        let refused = |choice: Threshold| choice.rule(Some(0.1)).unwrap_err().to_string();
        let error = refused(choice("confromal", 0.1));
        assert!(error.contains("did you mean \"conformal\"?") && error.contains("run-length"), "{error}");
        assert_eq!(refused(choice("max", 0.0)), "alpha: expected a number between 0 and 1, found 0");
        let none = refused(choice("run-length", 0.1));
        assert!(none.starts_with("run_length: expected a number of steps or a time"), "{none}");
        let elsewhere = Threshold { run_length: Some(Span::Steps(9.0)), ..choice("max", 0.1) };
        assert_eq!(refused(elsewhere), "run_length: expected it with the rule run-length, found it with max");
        let sure = Threshold { confidence: Some(0.9), ..choice("max", 0.1) };
        assert!(refused(sure).starts_with("confidence: expected a rule with a promise"));
    }

    #[test]
    fn monitors_share_a_promise_that_adds_up() {
        let monitors = NonZeroU32::new(5).unwrap();
        let shared = |rule| Threshold { monitors, run_length: None, ..choice(rule, 0.1) };
        assert_eq!(shared("conformal").rule(Some(1.0)).unwrap().promise(), Some(Promise::on_average(0.02)));
        let run_length = Some(Span::Steps(700.0));
        let stream = Threshold { run_length, ..shared("run-length") }.rule(Some(1.0)).unwrap();
        assert!(matches!(stream, Rule::RunLength(RunLength { steps: 3500.0, .. })));
        assert!(
            shared("q95").rule(Some(1.0)).unwrap_err().to_string().starts_with("monitors: expected a rule")
        );
    }

    #[test]
    fn a_rate_is_a_run_length_of_streams_and_a_share_of_episodes() {
        let asked = |rule: &str, rate: &str| Threshold {
            false_alarms: Some(rate.parse().unwrap()),
            monitors: NonZeroU32::new(2).unwrap(),
            ..choice(rule, ALPHA)
        };
        // Two monitors share twelve alarms a day, so each has one in four hours.
        let stream = asked("run-length", "12/day").rule(Some(0.5)).unwrap();
        assert!(matches!(stream, Rule::RunLength(RunLength { steps: 28_800.0, .. })), "{stream:?}");
        let episodes = asked("conformal", "12/day").rule(Some(0.5)).unwrap();
        assert_eq!(episodes, Rule::Rate(Rate { per_hour: 0.25, dt_secs: 0.5 }));
        let refused = |threshold: &Threshold, dt| threshold.rule(dt).unwrap_err().to_string();
        for rule in ["run-length", "conformal"] {
            let unknown = refused(&asked(rule, "12/day"), None);
            assert!(unknown.starts_with("expected to know how many seconds a step takes"), "{unknown}");
        }
        let other = refused(&asked("band", "1/hour"), Some(0.5));
        assert!(other.starts_with("false_alarms: expected the rule conformal, for episodes,"), "{other}");
        let sure = Threshold { confidence: Some(0.9), ..asked("conformal", "1/hour") };
        assert!(refused(&sure, Some(0.5)).starts_with("false_alarms: expected no confidence"));
        let both = Threshold { run_length: Some(Span::Steps(9.0)), ..asked("run-length", "1/hour") };
        assert!(refused(&both, Some(0.5)).contains("found both"));
    }

    #[test]
    fn a_run_length_is_steps_or_a_time() {
        let steps = |text: &str| {
            let run_length = Some(text.parse().unwrap());
            match (Threshold { run_length, ..choice("run-length", 0.1) }).rule(Some(0.5)).unwrap() {
                Rule::RunLength(run_length) => run_length.steps,
                other => panic!("{other:?}"),
            }
        };
        assert_eq!(["700", "90s", "1.5h"].map(steps), [700.0, 180.0, 10_800.0]);
        for wrong in ["", "h", "-3", "3 h", "1e99d9", "0"] {
            let error = wrong.parse::<Span>().unwrap_err();
            assert!(error.ends_with(&format!("found {wrong:?}")), "{error}");
        }
        let read = |json| cli::request::<Threshold>(&json).map(|threshold| threshold.run_length);
        let [steps, secs] =
            [json!({ "run_length": 70 }), json!({ "run_length": "2m" })].map(|json| read(json).unwrap());
        assert_eq!((steps, secs), (Some(Span::Steps(70.0)), Some(Span::Secs(120.0))));
        assert!(read(json!({ "run_length": -1 })).is_err());
    }
}
