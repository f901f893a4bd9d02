//! The figures of Anomaly-Gym, to be put beside ours.

use anyhow::Result;
use offnominal_files::table;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use std::path::Path;

macro_rules! table {
    ($name:literal) => {
        (
            concat!("anomaly-gym-", $name, ".csv"),
            include_str!(concat!("../../../../results/published/anomaly-gym-", $name, ".csv")),
        )
    };
}

/// Tables 12 and 13: a detector in an environment at a strength.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub(super) struct Ranked {
    pub env: String,
    pub strength: String,
    pub detector: String,
    pub auroc_local: f64,
    pub auroc_global: f64,
}

/// Table 3: PE-DM in a family of environments.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub(super) struct Grouped {
    pub group: String,
    pub anomaly_class: String,
    pub tiny: f64,
    pub strong: f64,
}

/// Table 4: a detector at a threshold.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub(super) struct Timed {
    pub threshold: String,
    pub detector: String,
    pub delay_median: f64,
    pub d5: f64,
    pub d10: f64,
    pub d20: f64,
    pub missing_rate: f64,
    pub early_rate: f64,
}

/// Table 5a: what a policy scores under strong anomalies.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub(super) struct Robust {
    pub env: String,
    pub policy: String,
    pub score: f64,
}

/// Table 5b: a detector with a policy.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub(super) struct Acted {
    pub detector: String,
    pub policy: String,
    pub auroc_local: f64,
}

/// Table 12.
pub(super) fn ranked() -> Result<Vec<Ranked>> {
    read(table!("table12"))
}

/// Table 13: the image detectors.
pub(super) fn shown() -> Result<Vec<Ranked>> {
    read(table!("table13"))
}

/// Table 3.
pub(super) fn grouped() -> Result<Vec<Grouped>> {
    read(table!("table3"))
}

/// Table 4.
pub(super) fn timed() -> Result<Vec<Timed>> {
    read(table!("table4"))
}

/// Table 5a.
pub(super) fn robust() -> Result<Vec<Robust>> {
    read(table!("table5a"))
}

/// Table 5b.
pub(super) fn acted() -> Result<Vec<Acted>> {
    read(table!("table5b"))
}

fn read<T: DeserializeOwned>((name, text): (&str, &str)) -> Result<Vec<T>> {
    table::from_csv(text.as_bytes(), Path::new(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tables_have_their_rows() {
        assert_eq!(ranked().unwrap().len(), 10 * 2 * 7 - 1, "one row is missing in the paper");
        assert_eq!((grouped().unwrap().len(), timed().unwrap().len()), (5 * 3, 3 * 3));
        assert_eq!((robust().unwrap().len(), acted().unwrap().len()), (9, 9));
        assert_eq!(shown().unwrap().len(), 148, "twelve rows are missing in the text of the paper");
        let best =
            ranked().unwrap().into_iter().find(|r| r.env == "urm-reach" && r.detector == "pe-dm").unwrap();
        assert_eq!((&*best.strength, best.auroc_local), ("strong", 0.96));
    }
}
