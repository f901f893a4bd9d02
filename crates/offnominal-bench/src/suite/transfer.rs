//! The page of the suite `transfer`: what a monitor is worth that was fitted on one policy and watches another.

use crate::report::aggregate::{self, Point};
use crate::results::Coverage;
use crate::suite::page::coverage::{share_within, within};
use crate::suite::page::pick::Pick;
use crate::suite::page::{Column, Found, commands, estimate, lacking, table_of};
use crate::suite::{Row, Suite};
use anyhow::Result;
use std::path::Path;

/// The policies, each of which is watched and is fitted on.
const POLICIES: [&str; 3] = ["tqc", "sac", "td3"];
/// The detectors that are fitted on other policies.
const DETECTORS: [&str; 3] = ["knn", "mlp-dm", "residual-views"];
const MATCHED: &str = "auroc_matched";
const RULE: &str = "conformal";

/// A detector that was fitted on one policy and watches another.
#[derive(Debug, Clone, Copy)]
struct Pair {
    detector: &'static str,
    fitted_on: &'static str,
    watches: &'static str,
}

/// How a monitor goes on when the policy is exchanged.
#[derive(Debug, Clone, Copy)]
enum Way {
    /// Fit and threshold stay those of the policy that was there before.
    AsItWas,
    /// The fit stays, the threshold is of the policy that is watched.
    Recalibrated,
    /// Fit and threshold are of the policy that is watched.
    Anew,
}

impl Pair {
    /// Every detector with every two policies.
    fn all() -> impl Iterator<Item = Pair> {
        let pairs = POLICIES.into_iter().flat_map(|fitted_on| POLICIES.map(|watches| (fitted_on, watches)));
        let pairs = pairs.filter(|(fitted_on, watches)| fitted_on != watches);
        pairs.flat_map(|(fitted_on, watches)| DETECTORS.map(|detector| Pair { detector, fitted_on, watches }))
    }

    /// The name in results.
    fn name(&self, way: Way) -> String {
        let Pair { detector, fitted_on, .. } = self;
        match way {
            Way::AsItWas => format!("{detector}({fitted_on})"),
            Way::Recalibrated => format!("{detector}({fitted_on}) recalibrated"),
            Way::Anew => detector.to_string(),
        }
    }

    /// What was counted in fresh nominal episodes; in each environment that is there.
    fn counted<'a>(&self, found: &'a Found, way: Way) -> Vec<&'a Coverage> {
        let name = self.name(way);
        let is_it = |c: &&Coverage| (&*c.policy, &*c.detector, &*c.threshold) == (self.watches, &*name, RULE);
        found.environments.iter().flat_map(|w| &w.coverage).filter(is_it).collect()
    }

    fn who(&self) -> String {
        format!("`{}` fitted on {} watches {}", self.detector, upper(self.fitted_on), upper(self.watches))
    }
}

fn upper(policy: &str) -> String {
    policy.to_uppercase()
}

/// The page as Markdown.
///
/// # Errors
/// If no environment of the suite is in the folder, or a file there is damaged.
pub(super) fn page(suite: &Suite, out: &Path) -> Result<String> {
    let found = Found::load(suite, out)?;
    Ok([head(suite, &found), promise(&found), detection(&found), alarms(&found)].join("\n"))
}

fn head(suite: &Suite, found: &Found) -> String {
    format!(
        "# Monitors of exchanged policies\n\n\
         Written by `offnominal bench --suite {} --page FILE` from the tables of the environments; do not edit.\n\n\
         A monitor is fitted on nominal episodes of one policy, and another policy is put in its place. Three ways to go on: \
         *as it was*, with the threshold of the policy that it was fitted on; *recalibrated*, with a threshold from nominal \
         episodes of the policy that it watches now; *fitted anew* on that policy.{}\n\
         Numbers in brackets are 95 % intervals. Thresholds are conformal, for 5 % of episodes. Anomalies have the magnitudes \
         that were calibrated for TQC.\n\n```sh no-run: takes half an hour\n{}\n```\n",
        suite.id,
        lacking(found),
        commands(found)
    )
}

/// Does the promise hold, on average over environments and pairs of policies?
fn promise(found: &Found) -> String {
    let cells = |d: &str, way: Way| -> Vec<&Coverage> {
        Pair::all().filter(|pair| pair.detector == d).flat_map(|pair| pair.counted(found, way)).collect()
    };
    let mean = |d: &str, way: Way| estimate(aggregate::mean(&shares(&cells(d, way)), (0.0, 1.0)));
    let beyond = |d: &str, way: Way| {
        let cells = cells(d, way);
        format!("{} of {}", cells.iter().filter(|c| c.alarms > c.most).count(), cells.len())
    };
    let columns: [Column<'_, &str>; 6] = [
        ("detector", &|d| format!("`{d}`")),
        ("as it was", &|d| mean(d, Way::AsItWas)),
        ("beyond its promise", &|d| beyond(d, Way::AsItWas)),
        ("recalibrated", &|d| mean(d, Way::Recalibrated)),
        ("beyond its promise", &|d| beyond(d, Way::Recalibrated)),
        ("fitted anew", &|d| mean(d, Way::Anew)),
    ];
    format!(
        "## Does the promise hold?\n\nShare of fresh nominal episodes of the watched policy with an alarm; means over environments \
         and pairs of policies. Beyond its promise is a calibration with more alarms than the .975 quantile of what a rule gets \
         that keeps it: 2.5 % of them by chance.\n\n{}",
        table_of(&DETECTORS, &columns)
    )
}

/// The share of alarms of each count, with its exact interval.
fn shares(cells: &[&Coverage]) -> Vec<Point> {
    let point = |(cluster, c): (usize, &&Coverage)| {
        let found = share_within(&[c])?;
        Some(Point { value: found.value, low: found.low, high: found.high, cluster })
    };
    cells.iter().enumerate().filter_map(point).collect()
}

/// What is found, pair by pair.
fn detection(found: &Found) -> String {
    let own = |pair: &Pair, way: Way| {
        let name = pair.name(way);
        let is_it = |row: &Row| row.detector == name;
        Pick::anomalies(&found.rows, pair.watches, &[MATCHED, "d20"]).only(is_it)
    };
    let d20 = |pair: &Pair, way: Way| estimate(own(pair, way).mean("d20", RULE));
    let columns: [Column<'_, Pair>; 6] = [
        ("", &Pair::who),
        ("AUROC matched", &|p| estimate(own(p, Way::AsItWas).mean(MATCHED, ""))),
        ("fitted anew", &|p| estimate(own(p, Way::Anew).mean(MATCHED, ""))),
        ("found in 20 steps, as it was", &|p| d20(p, Way::AsItWas)),
        ("recalibrated", &|p| d20(p, Way::Recalibrated)),
        ("fitted anew", &|p| d20(p, Way::Anew)),
    ];
    format!(
        "## Does detection hold?\n\nMeans over environments, anomalies and strengths. A threshold that is too low finds more \
         and raises more false alarms; the AUROC does not depend on it.\n\n{}",
        table_of(&Pair::all().collect::<Vec<_>>(), &columns)
    )
}

/// False alarms in every environment.
fn alarms(found: &Found) -> String {
    let places: Vec<(&str, Pair)> =
        found.environments.iter().flat_map(|w| Pair::all().map(|pair| (&*w.env, pair))).collect();
    let share = |(env, pair): &(&str, Pair), way: Way| {
        let mut cells = pair.counted(found, way);
        cells.retain(|c| c.env == *env);
        within(&cells)
    };
    let columns: [Column<'_, (&str, Pair)>; 5] = [
        ("environment", &|(env, _)| env.to_string()),
        ("", &|(_, pair)| pair.who()),
        ("as it was", &|place| share(place, Way::AsItWas)),
        ("recalibrated", &|place| share(place, Way::Recalibrated)),
        ("fitted anew", &|place| share(place, Way::Anew)),
    ];
    format!(
        "## False alarms\n\nShare of fresh nominal episodes of the watched policy with an alarm.\n\n{}",
        table_of(&places, &columns)
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn the_campaign_has_every_pair_in_every_way_and_nothing_else() {
        let (campaign, _) = Suite::find("transfer").unwrap().campaigns(None).unwrap().remove(0);
        assert_eq!(campaign.policies, POLICIES);
        for detector in &campaign.detectors {
            let fitted_on = detector.fitted_on.as_deref();
            let is_in = |pair: &Pair, way| {
                let (is_other, is_set) = (!matches!(way, Way::Anew), matches!(way, Way::Recalibrated));
                pair.name(way) == detector.name()
                    && pair.detector == detector.choice.id
                    && fitted_on == is_other.then_some(pair.fitted_on)
                    && detector.recalibrated == is_set
            };
            let is_baseline = ["clock", "random"].contains(&detector.name());
            let ways = [Way::AsItWas, Way::Recalibrated, Way::Anew];
            let known = Pair::all().any(|pair| ways.iter().any(|&way| is_in(&pair, way)));
            assert!(known || is_baseline, "{}", detector.name());
        }
        let named: BTreeSet<_> = campaign.detectors.iter().map(|d| d.name()).collect();
        assert_eq!(named.len(), 2 + DETECTORS.len() * (1 + 2 * POLICIES.len()));
    }
}
