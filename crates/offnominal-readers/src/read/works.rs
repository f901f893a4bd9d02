//! Readers of monitors, campaigns and results.

use super::{digits, mended};
use offnominal_audit::evidence::bundle::Bundle;
use offnominal_bench::campaign::{Campaign, Plan};
use offnominal_bench::metrics_file;
use offnominal_bench::results::Results;
use offnominal_core::spec::EnvSpec;
use offnominal_engine::context::Context;
use offnominal_engine::{catalogues, noise};
use offnominal_hosts::foreign;
use offnominal_live::stream::Stream;
use offnominal_monitor::{FileError, Monitor, decode};
use std::cell::RefCell;
use std::sync::LazyLock;

fn opened(bytes: &[u8]) -> Result<Monitor, FileError> {
    let (about, archive) = decode(bytes)?;
    Monitor::new(about, &archive, &offnominal_detectors::catalogue(), None)
}

/// A monitor, which then judges a few steps; a digest that is the only thing that is wrong is mended.
pub fn monitor_file(bytes: &[u8]) -> bool {
    let read = |bytes: &[u8]| {
        opened(bytes).map_err(|why| match why {
            FileError::Edited { expected, found } => Some((digits(&expected), digits(&found))),
            _ => None,
        })
    };
    let Some(mut monitor) = mended(bytes, read) else { return false };
    let (obs, act) = (monitor.about().obs_width(), monitor.about().act_width());
    for x in [0.0, f32::NAN, 1.0, 1e20, -1.0] {
        let verdict = monitor.step(&vec![x; obs], &vec![x; act]).expect("the right widths");
        assert!(verdict.is_none_or(|verdict| verdict.score.is_finite()), "a score is not finite");
    }
    true
}

/// A table of nominal noise, for an environment that needs nothing from outside.
pub fn noise(bytes: &[u8]) -> bool {
    static SPEC: LazyLock<EnvSpec> = LazyLock::new(|| {
        catalogues::environment("sap-goal1", None).expect("it needs no file").spec().clone()
    });
    let Ok(text) = std::str::from_utf8(bytes) else { return false };
    let Ok(found) = noise::parse(text).and_then(|table| table.resolve(&SPEC)) else { return false };
    assert!(found.check(&SPEC).is_ok(), "accepted noise does not fit");
    true
}

/// What a user says of a hosted environment.
pub fn manifest(bytes: &[u8]) -> bool {
    foreign::manifest(bytes)
}

/// Steps of a robot, line by line.
pub fn monitor_lines(bytes: &[u8]) -> bool {
    thread_local! {
        static STREAM: RefCell<Option<Stream>> = const { RefCell::new(None) };
    }
    const FILE: &[u8] = include_bytes!("../../../../fuzz/corpus/monitor_file/knn");
    STREAM.with_borrow_mut(|stream| {
        let stream = stream.get_or_insert_with(|| Stream::new(opened(FILE).expect("a sound monitor")));
        bytes.split(|&b| b == b'\n').fold(true, |all, line| stream.read(line, |_| {}).is_ok() & all)
    })
}

/// A campaign, with its plan.
pub fn campaign(bytes: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(bytes) else { return false };
    // An environment of others would start its process.
    let Some(campaign) = Campaign::parse(text).ok().filter(|c| c.envs.iter().all(|e| e.starts_with("sap-")))
    else {
        return false;
    };
    Plan::new(campaign, text).is_ok_and(|plan| plan.seeds().count() > 0)
}

/// Scores with labels.
pub fn metrics_csv(bytes: &[u8]) -> bool {
    let (file, threshold) = ("scores.csv".into(), Some(0.5));
    let request = metrics_file::Request { file, threshold, replicates: 2, level: 0.95 };
    request.judge("scores.csv", bytes, &Context::silent(1, 1)).is_ok()
}

/// The results of a campaign.
pub fn results(bytes: &[u8]) -> bool {
    serde_json::from_slice::<Results>(bytes).is_ok()
}

/// Results with their inputs, and whether they are what the manifest says.
pub fn evidence(bytes: &[u8]) -> bool {
    let Ok(bundle) = Bundle::from_bytes(bytes) else { return false };
    let _ = (bundle.changes(), bundle.signer());
    true
}
