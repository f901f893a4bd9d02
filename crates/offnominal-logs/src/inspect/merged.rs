//! What logs that are alike have in common: the columns of the first one, each as it is in the log in which it changes.

use crate::inspect::column::ColumnReport;
use crate::inspect::survey::LogReport;
use std::collections::{BTreeMap, HashMap};

/// Logs as if they were one.
pub struct Merged {
    /// The first one; a column that is constant in it is that of another log in which it is not.
    pub log: LogReport,
    /// Columns that some logs lack, each with the number of these logs.
    pub lacking: BTreeMap<String, usize>,
}

/// Merges logs.
///
/// # Panics
/// If there is none.
pub fn merged(logs: &[LogReport]) -> Merged {
    let mut log = logs[0].clone();
    let others: Vec<HashMap<String, &ColumnReport>> = logs[1..].iter().map(columns).collect();
    let mut lacking = BTreeMap::new();
    for topic in &mut log.topics {
        let names: Vec<String> = topic.columns.iter().map(|column| topic.full_name(column)).collect();
        for (column, name) in topic.columns.iter_mut().zip(names) {
            let has: Vec<&ColumnReport> =
                others.iter().filter_map(|other| other.get(&name).copied()).collect();
            if has.len() < others.len() {
                lacking.insert(name, others.len() - has.len());
            }
            if let (false, Some(changes)) = (column.is_signal(), has.iter().find(|other| other.is_signal())) {
                *column = (*changes).clone();
            }
        }
    }
    Merged { log, lacking }
}

fn columns(log: &LogReport) -> HashMap<String, &ColumnReport> {
    let named =
        log.topics.iter().flat_map(|topic| topic.columns.iter().map(move |c| (topic.full_name(c), c)));
    named.collect()
}
