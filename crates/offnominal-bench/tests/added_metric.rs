//! A metric from outside stands in the tables and on the page, and touches no file of this program.

use offnominal_bench::campaign::{Campaign, Plan};
use offnominal_bench::cells::Bench;
use offnominal_bench::run;
use offnominal_core::estimate::Estimate;
use offnominal_engine::context::Context;
use offnominal_files::store::Store;
use offnominal_files::table;
use offnominal_stats::metric::{self, Added, Columns, Metric, Unit};
use offnominal_stats::{Bootstrap, ScoredEpisode, StatsError};

const CAMPAIGN: &str = r#"
name = "added"
seed = 3
envs = ["sap-goal0"]
policies = ["random"]
detectors = ["clock"]
anomalies = [{ id = "obs-offset", magnitude = 0.5 }]
false_alarms = 0.2
replicates = 10
video = false
episodes = { train = 4, validation = 4, test = 4 }
"#;

/// The share of anomalous episodes whose last score is above the threshold.
fn last_alarm(
    episodes: &[ScoredEpisode],
    threshold: Option<f64>,
    _: &Bootstrap,
) -> Result<Estimate, StatsError> {
    let threshold = threshold.unwrap_or(f64::INFINITY);
    let above = episodes.iter().filter(|e| e.scores.last().is_some_and(|&score| score > threshold)).count();
    let (value, n) = (above as f64 / episodes.len() as f64, episodes.len());
    Ok(Estimate { value, low: 0.0, high: 1.0, level: 0.95, n, method: "share".into() })
}

const LAST_ALARM: Metric = Metric {
    id: "last_alarm",
    label: "Alarm at the end",
    summary: "share of anomalous episodes with an alarm in their last step",
    definition: "Share of anomalous episodes with an alarm in their last step.",
    unit: Unit::Share,
    neutral: 0.0,
    best: 1.0,
    thresholded: true,
    columns: Columns { summary: 0, alarms: 10, heat: 0 },
};

#[test]
fn a_metric_from_outside_has_its_rows_and_its_column() {
    metric::add(vec![Added { metric: LAST_ALARM, value: last_alarm }]);
    let folder = tempfile::tempdir().unwrap();
    let plan = Plan::new(Campaign::parse(CAMPAIGN).unwrap(), CAMPAIGN).unwrap();
    let bench = Bench::new(plan, Store::new(folder.path())).unwrap();
    run::complete(&bench, CAMPAIGN, "test", folder.path(), &Context::silent(0, 2)).unwrap();
    let rows: Vec<offnominal_bench::results::Row> =
        table::read(&folder.path().join("results.parquet")).unwrap();
    let own: Vec<_> = rows.iter().filter(|row| row.metric == LAST_ALARM.id).collect();
    assert_eq!(own.len(), 2 * offnominal_stats::RULES.len(), "the anomaly and the control at every rule");
    assert!(own.iter().any(|row| row.value.is_finite()));
    let page = std::fs::read_to_string(folder.path().join("report.html")).unwrap();
    assert!(page.contains(LAST_ALARM.label) && page.contains(LAST_ALARM.definition));
}
