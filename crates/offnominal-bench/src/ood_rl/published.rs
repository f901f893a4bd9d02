//! The publication's numbers: Tables 6 to 19, trial by trial. Its Tables 3 to 5 are their maxima.

use crate::ood_rl::Method;
use offnominal_files::table;
use serde::Deserialize;
use std::path::Path;

/// One AUROC of the publication.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub(super) struct Published {
    /// The table.
    pub table: u32,
    /// The environment.
    pub env: String,
    /// How the policy disagrees with itself.
    pub method: Method,
    /// What is different.
    pub anomaly: String,
    /// Its value; of images, the severity.
    pub magnitude: f64,
    /// Which of the trials.
    pub trial: u32,
    /// The number.
    pub auroc: f64,
}

/// All of them, table by table.
pub(super) fn all() -> Vec<Published> {
    let bytes = include_bytes!("../../../../results/published/ood-rl.csv");
    table::from_csv(bytes, Path::new("ood-rl.csv")).expect("the file that travels with the program is sound")
}

/// The columns of the tables: numbers of one variant, each with the table it is in.
pub(super) fn columns() -> Vec<Vec<Published>> {
    let all = all();
    all.chunk_by(|a, b| a.table == b.table && a.anomaly == b.anomaly && a.magnitude == b.magnitude)
        .map(<[Published]>::to_vec)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ood_rl::table::mean_sd;

    #[test]
    fn means_and_deviations_are_those_that_were_published() {
        let columns = columns();
        assert_eq!((columns.len(), columns.iter().map(Vec::len).sum::<usize>()), (39, 195));
        let check = |table: u32, magnitude: f64, want: (f64, f64)| {
            let found = columns.iter().find(|c| c[0].table == table && c[0].magnitude == magnitude).unwrap();
            let (mean, sd) = mean_sd(&found.iter().map(|p| p.auroc).collect::<Vec<_>>()).unwrap();
            assert!((mean - want.0).abs() < 0.0011 && (sd - want.1).abs() < 0.0011, "{table}: {mean} {sd}");
        };
        check(6, 2.5, (0.712, 0.049));
        check(7, 78.4, (0.824, 0.112));
        check(8, 2.0, (0.883, 0.064));
        check(9, 50.0, (0.661, 0.060));
        check(11, 0.05, (0.573, 0.021));
        check(18, 3.0, (0.897, 0.011));
        check(19, 4.0, (0.634, 0.0));
    }

    #[test]
    fn every_published_variant_is_one_of_the_suite() {
        let variants = offnominal_worlds::ood_rl::variants();
        for p in all() {
            let is_it = |v: &&offnominal_worlds::ood_rl::Variant| {
                let magnitude = v.anomaly_spec.params["magnitude"].as_f64().unwrap();
                v.env == p.env
                    && v.anomaly_spec.anomaly == p.anomaly
                    && (magnitude - p.magnitude).abs() < 1e-9
            };
            assert_eq!(variants.iter().filter(is_it).count(), 1, "{p:?}");
        }
    }
}
