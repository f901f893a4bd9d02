//! `list`: what there is, as a table or as JSON.

use super::command::{Answer, Call, asked};
use anyhow::{Result, ensure};
use clap::{ArgMatches, Args};
use offnominal_core::Entry;
use offnominal_core::anomaly_spec::DYNAMICS;
use offnominal_core::env::Env;
use offnominal_engine::{catalogues, policies};
use offnominal_stats::metric;
use offnominal_work::cli::word_of;
use offnominal_worlds::anomaly::{self, Class, Listed};
use serde_json::{Value, json};
use strum::{EnumString, IntoStaticStr, VariantArray};

/// Arguments of `list`.
#[derive(Debug, Args)]
pub struct List {
    /// What to list
    #[arg(value_parser = word_of::<What>())]
    what: What,
    /// Anomalies of this environment, with dyn-PARAMETER for each parameter
    #[arg(long)]
    env: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, EnumString, VariantArray, IntoStaticStr)]
#[strum(serialize_all = "kebab-case")]
enum What {
    Envs,
    Anomalies,
    Detectors,
    ImageDetectors,
    Policies,
    Algorithms,
    Metrics,
    PixelMethods,
}

/// The list.
pub fn run(matches: &ArgMatches, call: &Call) -> Result<Answer> {
    let List { what, env } = asked(matches)?;
    let items = what.items(env.as_deref())?;
    match call.json {
        true => call.value(&Value::from_iter(items.iter().map(Item::json))),
        false => Ok(Answer::text(table(&items))),
    }
}

impl What {
    fn items(self, env: Option<&str>) -> Result<Vec<Item>> {
        ensure!(
            env.is_none() || self == What::Anomalies,
            "--env: expected it with `list anomalies`, found it with `list {}`",
            <&str>::from(self)
        );
        Ok(match self {
            What::Envs => entries(catalogues::environments().entries()),
            What::Anomalies => match env {
                Some(id) => anomalies_of(catalogues::environment(id, None)?.as_ref()),
                None => anomaly::ALL.iter().map(of_anomaly).chain(added()).collect(),
            },
            What::Detectors => entries(catalogues::detectors().entries()),
            What::ImageDetectors => entries(offnominal_engine::catalogues::image_detectors().entries()),
            What::Policies => {
                policies::list()?.into_iter().map(|(id, summary)| Item::new(id, summary)).collect()
            }
            What::Algorithms => offnominal_agents::ALL.iter().map(of_algorithm).collect(),
            What::PixelMethods => entries(offnominal_detectors::pixel::METHODS),
            What::Metrics => metric::all().map(of_metric).collect(),
        })
    }
}

/// One line of a list.
#[derive(Debug, Clone, PartialEq)]
struct Item {
    id: String,
    summary: String,
    /// Heading under which it stands; empty if there are none.
    group: &'static str,
    /// What JSON says beyond id and summary.
    more: serde_json::Map<String, Value>,
}

impl Item {
    fn new(id: impl Into<String>, summary: impl Into<String>) -> Item {
        Item { id: id.into(), summary: summary.into(), group: "", more: serde_json::Map::new() }
    }

    fn with(mut self, key: &str, value: impl Into<Value>) -> Item {
        self.more.insert(key.into(), value.into());
        self
    }

    fn json(&self) -> Value {
        let mut all = serde_json::Map::new();
        all.insert("id".into(), self.id.as_str().into());
        all.insert("summary".into(), self.summary.as_str().into());
        all.extend(self.more.clone());
        Value::Object(all)
    }
}

fn entries<T: ?Sized>(all: &[Entry<T>]) -> Vec<Item> {
    all.iter().map(|e| Item::new(e.id, e.summary)).collect()
}

fn of_algorithm(algorithm: &offnominal_agents::Algorithm) -> Item {
    let commands = algorithm.actions.to_string();
    Item::new(algorithm.id, algorithm.summary).with("options", algorithm.options).with("commands", commands)
}

fn of_metric(metric: &offnominal_stats::Metric) -> Item {
    let better = if metric.rises() { "higher" } else { "lower" };
    Item::new(metric.id, metric.summary).with("better", better).with("needs_threshold", metric.thresholded)
}

fn of_anomaly(listed: &Listed) -> Item {
    let (entry, kind) = (&listed.entry, &listed.kind);
    let is_dynamics = kind.class == Class::Dynamics;
    let id = if is_dynamics { format!("{DYNAMICS}<parameter>") } else { entry.id.into() };
    let neutral = if is_dynamics { Value::Null } else { kind.neutral.into() };
    let mut item = Item::new(id, entry.summary)
        .with("class", json!(kind.class))
        .with("equation", kind.equation)
        .with("magnitude", kind.magnitude)
        .with("neutral", neutral)
        .with("imitates", kind.imitates)
        .with("shows", kind.shows);
    item.group = heading(kind.class);
    item
}

fn heading(class: Class) -> &'static str {
    match class {
        Class::Observation => "observation",
        Class::Action => "action",
        Class::Dynamics => "dynamics",
        Class::Camera => "camera",
    }
}

/// The anomalies of one environment: `dyn-<parameter>` becomes one line per parameter.
fn anomalies_of(env: &dyn Env) -> Vec<Item> {
    let (dynamics, signals): (Vec<_>, Vec<_>) =
        anomaly::applicable(env.spec()).partition(|a| a.kind.class == Class::Dynamics);
    let mut items: Vec<Item> = signals.into_iter().map(of_anomaly).collect();
    for p in &env.spec().parameters {
        items.extend(dynamics.iter().map(|a| Item {
            id: format!("{DYNAMICS}{}", p.name),
            summary: format!("{} [{}; nominal {}, {} to {}]", p.meaning, p.unit, p.nominal, p.low, p.high),
            ..of_anomaly(a).with("neutral", p.nominal).with("unit", p.unit.as_str())
        }));
    }
    items.extend(added());
    items
}

/// The anomalies that a program around this library adds.
fn added() -> impl Iterator<Item = Item> {
    let is_added = |e: &&Entry<_>| !offnominal_worlds::ANOMALIES.iter().any(|built_in| built_in.id == e.id);
    let all = catalogues::anomalies();
    let items: Vec<Item> =
        all.entries().iter().filter(is_added).map(|e| Item::new(e.id, e.summary)).collect();
    items.into_iter()
}

/// Ids and summaries in two columns, with a heading before each group.
fn table(items: &[Item]) -> String {
    let width = items.iter().map(|i| i.id.chars().count()).max().unwrap_or(0);
    let mut text = String::new();
    let mut group = "";
    for item in items {
        if item.group != group {
            text += &format!("{}{}\n", if group.is_empty() { "" } else { "\n" }, item.group);
            group = item.group;
        }
        let indent = if group.is_empty() { "" } else { "  " };
        text += &format!("{indent}{:width$}  {}\n", item.id, item.summary);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ids(what: What, env: Option<&str>) -> Vec<String> {
        what.items(env).unwrap().into_iter().map(|i| i.id).collect()
    }

    #[test]
    fn columns_are_aligned_and_groups_have_headings() {
        let grouped = |id: &str, group| Item { group, ..Item::new(id, "does so") };
        assert_eq!(table(&[Item::new("a", "x"), Item::new("long", "y")]), "a     x\nlong  y\n");
        let found = table(&[grouped("a", "action"), grouped("bc", "dynamics")]);
        assert_eq!(found, "action\n  a   does so\n\ndynamics\n  bc  does so\n");
    }

    #[test]
    fn every_list_has_what_its_catalogue_has() {
        assert_eq!(ids(What::Envs, None).len(), offnominal_worlds::ENVS.len());
        let anomalies = ids(What::Anomalies, None);
        assert!(["dyn-<parameter>", "cam-noise"].iter().all(|id| anomalies.contains(&id.to_string())));
        assert!(ids(What::Detectors, None).contains(&"clock".to_string()));
        assert!(ids(What::Policies, None).contains(&"random".to_string()));
        assert_eq!(ids(What::Algorithms, None), ["tqc", "sac", "td3", "ddpg", "dqn"]);
        assert!(ids(What::Metrics, None).contains(&"auroc_matched".to_string()));
        let error = What::Envs.items(Some("sap-goal1")).unwrap_err().to_string();
        assert!(error.contains("expected it with `list anomalies`, found it with `list envs`"), "{error}");
    }

    #[test]
    fn an_environment_names_its_dynamics_anomalies() {
        let found = ids(What::Anomalies, Some("sap-goal1"));
        let own = ["dyn-mass", "dyn-force", "dyn-moving-objects", "dyn-damping", "dyn-friction"];
        assert_eq!(found[found.len() - own.len()..], own);
        let env = catalogues::environment("sap-goal1", None).unwrap();
        let (mut listed, mut named) = (found.clone(), catalogues::anomaly_ids(env.spec()));
        listed.sort();
        named.sort();
        assert_eq!(listed, named, "what is listed is what an error names");
        assert_eq!(found.iter().filter(|id| id.starts_with("dyn-")).count(), 5);
        let error = What::Anomalies.items(Some("sap-goal7")).unwrap_err();
        assert!(error.to_string().contains("did you mean \"sap-goal"), "{error}");
    }

    #[test]
    fn json_has_an_id_and_a_summary_in_each_object() {
        for item in What::VARIANTS.iter().flat_map(|what| what.items(None).unwrap()) {
            let value = item.json();
            assert!(value["id"].is_string() && !value["summary"].as_str().unwrap().is_empty(), "{value}");
        }
    }
}
