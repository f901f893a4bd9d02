//! The result tables as Python reads them.

use crate::{python, python_has};
use offnominal_bench::results::Row;
use offnominal_files::table;

/// Prints what differs between the two tables, and a few facts.
const READ: &str = r#"
import sys, json, math, pandas as pd
csv = pd.read_csv(sys.argv[1], keep_default_na=False, na_values=["NaN"], float_precision="round_trip")
parquet = pd.read_parquet(sys.argv[2])
assert list(csv.columns) == list(parquet.columns), (csv.columns, parquet.columns)
for column in csv.columns:
    a, b = list(csv[column]), list(parquet[column])
    same = [x == y or (isinstance(x, float) and math.isnan(x) and math.isnan(y)) for x, y in zip(a, b)]
    assert all(same) and len(a) == len(b), (column, a, b)
print(json.dumps([len(parquet), str(parquet["seed"].dtype), str(parquet["value"].dtype), int(parquet["seed"][0]), parquet["campaign"][0]]))
"#;

fn row(value: f64, threshold: &str) -> Row {
    Row {
        campaign: "naïve, \"quoted\"".into(),
        env: "sap-goal1".into(),
        modality: "vector".into(),
        policy: "tqc".into(),
        anomaly_class: "none".into(),
        anomaly: "none".into(),
        strength: "none".into(),
        magnitude: 0.0,
        detector: "knn".into(),
        seed: u64::MAX,
        episodes: 50,
        metric: "delay_median".into(),
        threshold: threshold.into(),
        value,
        low: f64::NAN,
        high: f64::INFINITY,
    }
}

#[test]
fn pandas_reads_the_same_from_csv_and_parquet() {
    if !python_has("pandas, pyarrow") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let (csv, parquet) = (folder.path().join("r.csv"), folder.path().join("r.parquet"));
    let rows = [row(1.0 / 3.0, ""), row(f64::NAN, "q95"), row(f64::INFINITY, "max"), row(5e-324, "")];
    std::fs::write(&csv, table::to_csv(&rows).unwrap()).unwrap();
    std::fs::write(&parquet, table::to_parquet(&rows).unwrap()).unwrap();
    let said: serde_json::Value = serde_json::from_str(&python(READ, &[&csv, &parquet], &[])).unwrap();
    let want = serde_json::json!([4, "uint64", "float64", u64::MAX, "naïve, \"quoted\""]);
    assert_eq!(said, want);
}
