//! What makes the promise of a monitor doubtful for recordings: other tasks, lengths or rates than those that set its
//! thresholds.

use crate::mapping::Mapping;
use crate::score::ScoredRecording;
use offnominal_monitor::About;
use std::collections::BTreeSet;

/// The sentences, each once.
pub(super) fn remarks(recordings: &[ScoredRecording], about: &About, mapping: &Mapping) -> Vec<String> {
    let mut said = unknown_tasks(recordings);
    said.extend(longer(recordings, about));
    said.extend(other_rates(recordings, about, mapping));
    said
}

/// Of tasks for which the monitor has no threshold.
fn unknown_tasks(recordings: &[ScoredRecording]) -> Vec<String> {
    let unknown = recordings.iter().filter(|recording| recording.has_unknown_task);
    let tasks: BTreeSet<&str> = unknown.filter_map(|recording| recording.task.as_deref()).collect();
    tasks.into_iter().map(unknown_task).collect()
}

/// Of such a task.
pub(crate) fn unknown_task(task: &str) -> String {
    format!(
        "task {task}: none of the monitor's groups; its recordings have the threshold of all episodes, which promises nothing \
         about them"
    )
}

/// Of recordings that are longer than those that set the threshold.
fn longer(recordings: &[ScoredRecording], about: &About) -> Option<String> {
    let beyond = |recording: &ScoredRecording| about.threshold.outlasted_by(recording.steps as u64);
    let n = recordings.iter().filter(|recording| beyond(recording).is_some()).count();
    let longest = recordings.iter().find_map(beyond)?;
    Some(format!(
        "{n} of {} recordings are longer than any that set the threshold ({longest} steps): the promise holds for the first \
         {longest} steps of each, and false alarms are likelier in the whole. Cut long recordings into windows, or fit with \
         the rule run-length",
        recordings.len()
    ))
}

/// Of recordings whose steps are shorter or longer than those that set the threshold.
fn other_rates(recordings: &[ScoredRecording], about: &About, mapping: &Mapping) -> Option<String> {
    let differs = |dt: &f64| about.is_other_step(*dt);
    let steps = |recording: &ScoredRecording| Some(recording.recorded.dt_secs(mapping)).filter(differs);
    let n = recordings.iter().filter(|recording| steps(recording).is_some()).count();
    let dt = recordings.iter().find_map(steps)?;
    Some(format!(
        "{n} of {} recordings have steps of another length ({dt:.4} s) than those that set the threshold ({:.4} s): nothing is \
         promised about them. `clock.rate_hz` of the mapping brings recordings to one rate",
        recordings.len(),
        about.dt_secs
    ))
}
