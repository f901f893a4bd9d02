//! What was said at alarms and after them, against what was done.

use crate::equivalents::{ACTUATORS, EQUIVALENTS};
use crate::report::aggregate::{Point, mean, median};
use crate::results::{Diagnosed, Taught};
use crate::suite::page::{Column, Found, POLICY, estimate, table_of};
use offnominal_core::estimate::Estimate;
use offnominal_stats::Level;
use offnominal_stats::proportion::wilson;
use std::fmt::Write as _;

/// Steps after an alarm at which the last diagnosis is made.
const LATE: u64 = 20;

pub(super) fn section(found: &Found) -> String {
    let all = found.environments.iter().flat_map(|w| &w.diagnoses).filter(|d| d.policy == POLICY);
    let all = Lines(all.collect());
    let Some(first) = all.0.first() else { return String::new() };
    format!(
        "## Diagnosis\n\nWhat is said at the first alarm of `{}`, if it comes after the onset, and 5 and 20 steps later: means \
         over environments, anomalies, strengths and repetitions with alarms. Taught by rules, a diagnosis knows nominal \
         episodes only and what faults of any system do to them; taught by faults, it has seen faults of the same \
         anomalies in the same environment, at other strengths, onsets and seeds.\n\n{}\n{}\n{}{}",
        first.detector,
        families(&all),
        names(&all),
        parameters(&all),
        pairs()
    )
}

/// Some of the rows.
struct Lines<'a>(Vec<&'a Diagnosed>);

impl<'a> Lines<'a> {
    fn only(&self, keeps: impl Fn(&Diagnosed) -> bool) -> Lines<'a> {
        Lines(self.0.iter().copied().filter(|d| keeps(d)).collect())
    }

    fn at(&self, taught: Taught, after: u64) -> Lines<'a> {
        self.only(|d| d.taught == taught && d.after == after)
    }

    fn alarms(&self) -> u64 {
        self.0.iter().map(|d| d.alarms).sum()
    }

    /// The mean share of alarms of which something was said.
    fn share(&self, of: fn(&Diagnosed) -> u64) -> String {
        let points = self.points(|d| of(d) as f64 / d.alarms as f64);
        estimate(mean(&points, (0.0, 1.0)))
    }

    /// The share of all alarms together of which something was said.
    fn pooled(&self, of: fn(&Diagnosed) -> u64) -> String {
        let n: u64 = self.0.iter().map(|d| of(d)).sum();
        estimate(wilson(n as usize, self.alarms() as usize, Level::P95).ok())
    }

    /// The median of a number over anomalies and strengths, made readable.
    fn typical(&self, of: fn(&Diagnosed) -> f64, decimals: usize) -> String {
        let show = |e: Estimate| format!("{:.decimals$}", e.value);
        median(&self.points(of)).map_or("–".into(), show)
    }

    /// A number of each row with alarms; the rows of an anomaly of an environment belong together.
    fn points(&self, of: impl Fn(&Diagnosed) -> f64) -> Vec<Point> {
        let alarmed: Vec<&Diagnosed> = self.0.iter().copied().filter(|d| d.alarms > 0).collect();
        let name = |d: &Diagnosed| (d.env.clone(), d.anomaly.clone());
        let names: Vec<(String, String)> = alarmed.iter().map(|d| name(d)).collect();
        let cluster = |i: usize| names.iter().position(|other| *other == names[i]).unwrap_or(i);
        let point = |(i, d): (usize, &&Diagnosed)| Point {
            value: of(d),
            low: f64::NAN,
            high: f64::NAN,
            cluster: cluster(i),
        };
        alarmed.iter().enumerate().map(point).collect()
    }
}

const CLASSES: [&str; 3] = ["observation", "action", "dynamics"];

/// Which family, by what it was taught, at each time.
fn families(all: &Lines<'_>) -> String {
    let own = |class: &str, taught, after| all.at(taught, after).only(|d| d.anomaly_class == *class);
    let right = |class: &str, taught, after| own(class, taught, after).share(|d| d.right_family);
    let columns: [Column<'_, &str>; 8] = [
        ("what was done", &|class| class.to_string()),
        ("alarms", &|class| own(class, Taught::Rules, 0).alarms().to_string()),
        ("right family by rules, at the alarm", &|class| right(class, Taught::Rules, 0)),
        ("20 steps later", &|class| right(class, Taught::Rules, LATE)),
        ("by faults, at the alarm", &|class| right(class, Taught::Faults, 0)),
        ("5 steps later", &|class| right(class, Taught::Faults, 5)),
        ("20 steps later", &|class| right(class, Taught::Faults, LATE)),
        ("onset off by, steps", &|class| own(class, Taught::Rules, 0).typical(|d| d.onset_error, 0)),
    ];
    table_of(&CLASSES, &columns)
}

/// Which anomaly, in which direction and how strong.
fn names(all: &Lines<'_>) -> String {
    let own = |class: &str, after| all.at(Taught::Faults, after).only(|d| d.anomaly_class == *class);
    let late = |class: &str| own(class, LATE);
    let columns: [Column<'_, &str>; 8] = [
        ("what was done", &|class| class.to_string()),
        ("named at the alarm", &|class| own(class, 0).share(|d| d.named)),
        ("20 steps later", &|class| late(class).share(|d| d.named)),
        ("with its direction", &|class| late(class).share(|d| d.right_direction)),
        ("distance from neutral off by, factor", &|class| {
            late(class).typical(|d| d.magnitude_error.exp(), 2)
        }),
        ("in the compatible set", &|class| late(class).share(|d| d.covered)),
        ("hypotheses in it", &|class| late(class).typical(|d| d.set_size, 1)),
        ("none in it", &|class| late(class).share(|d| d.abstained)),
    ];
    format!(
        "The anomaly that is most probable, of all that were taught. The compatible set is to hold the true one in 90 % of \
         diagnoses at least; if it is empty, the diagnosis says that it is another fault.\n\n{}",
        table_of(&CLASSES, &columns)
    )
}

/// Parameters of the dynamics one by one, and what is said of one that was not taught.
fn parameters(all: &Lines<'_>) -> String {
    let late = all.at(Taught::Faults, LATE).only(|d| d.anomaly_class == "dynamics" && d.alarms > 0);
    let mut names: Vec<(&str, &str)> = late.0.iter().map(|d| (&*d.env, &*d.anomaly)).collect();
    names.sort_unstable();
    names.dedup();
    let own = |(env, anomaly): (&str, &str), taught, after| {
        all.at(taught, after).only(|d| d.env == env && d.anomaly == anomaly)
    };
    let known = |name: &(&str, &str), of: fn(&Diagnosed) -> u64| own(*name, Taught::Faults, LATE).pooled(of);
    let unknown =
        |name: &(&str, &str), of: fn(&Diagnosed) -> u64| own(*name, Taught::OtherFaults, LATE).pooled(of);
    let columns: [Column<'_, (&str, &str)>; 8] = [
        ("environment", &|(env, _)| env.to_string()),
        ("parameter", &|(_, anomaly)| format!("`{anomaly}`")),
        ("alarms", &|name| own(*name, Taught::Faults, LATE).alarms().to_string()),
        ("family", &|name| known(name, |d| d.right_family)),
        ("named", &|name| known(name, |d| d.named)),
        ("in the set", &|name| known(name, |d| d.covered)),
        ("not taught: family", &|name| unknown(name, |d| d.right_family)),
        ("not taught: none in the set", &|name| unknown(name, |d| d.abstained)),
    ];
    format!(
        "Parameters of the dynamics, 20 steps after the alarm, shares of all alarms together; in the last columns the diagnosis \
         was taught all anomalies but this one.\n\n{}",
        table_of(&names, &columns)
    )
}

/// What cannot be told apart.
fn pairs() -> String {
    let mut text = String::from(
        "\nNothing in an episode tells these apart, so either name, and either family, is right:\n\n",
    );
    for pair in EQUIVALENTS {
        writeln!(text, "- `{}*`: `{}` and `{}`: {}.", pair.envs, pair.dynamics, pair.action, pair.why)
            .expect("a string takes all");
    }
    text += "\nParameters of actuators, of which the family may be either one, but the name may not:\n\n";
    for (envs, dynamics) in ACTUATORS {
        writeln!(text, "- `{envs}`: `{dynamics}`.").expect("a string takes all");
    }
    text
}
