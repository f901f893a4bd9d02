//! Windows of a few long logs: a threshold needs many recordings, and a log without an end is one.

use crate::inspect::survey::{LogReport, TopicReport};
use crate::inspect::taken::{Role, Taken};
use crate::mapping::{Clock, Episodes, TimeUnit};

/// So many logs are recordings as they are: enough for an alpha of 0.05, and one to learn from.
const ENOUGH: usize = 20;
/// Windows that are aimed at, and the fewest that are worth it: half of them are learned from.
const WINDOWS: (f64, f64) = (60.0, 40.0);
/// Steps of the shortest window: a detector begins anew in each, and a weighted mean takes some tens of steps.
const STEPS: f64 = 100.0;

/// Windows for logs of which each would be one recording, or why there are none; nothing where there are recordings enough.
pub(super) fn windows(
    logs: &[LogReport],
    taken: &[Taken<'_>],
    clock: &Clock,
) -> Option<(Option<Episodes>, String)> {
    let lengths: Vec<Length> = logs.iter().filter_map(|log| Length::of(log, taken, clock)).collect();
    if logs.len() >= ENOUGH || lengths.is_empty() {
        return None;
    }
    let [all, steps] =
        [|l: &Length| l.secs, |l: &Length| l.steps].map(|f| lengths.iter().map(f).sum::<f64>());
    let secs = round((all / WINDOWS.0).max(STEPS * all / steps));
    let n: f64 = lengths.iter().map(|length| (length.secs / secs).floor()).sum();
    let few =
        format!("{} without an end that is known", if logs.len() == 1 { "one log" } else { "few logs" });
    Some(if n < WINDOWS.1 {
        (None, format!("too short for {} windows of {STEPS} steps", WINDOWS.1))
    } else {
        (
            Some(Episodes::Window { secs }),
            format!("guess: {few}, so {n} windows of about {:.0} steps", secs * steps / all),
        )
    })
}

/// How long a log is.
struct Length {
    secs: f64,
    steps: f64,
}

impl Length {
    /// By the clock of the topic that has the first channel; rows without a clock follow one another once a second.
    fn of(log: &LogReport, taken: &[Taken<'_>], clock: &Clock) -> Option<Length> {
        let name = &taken.iter().find(|t| t.is_channel())?.topic.name;
        let topic = log.topics.iter().find(|topic| topic.name == *name).filter(|topic| topic.rows > 1)?;
        let rows = (topic.rows - 1) as f64;
        let secs = match clock.column.is_some() || topic.times.is_some() {
            true => span(topic, taken, clock)?,
            false => rows / clock.rate_hz.unwrap_or(1.0),
        };
        let steps = clock.rate_hz.map_or(rows, |rate| secs * rate);
        (secs > 0.0 && steps > 0.0).then_some(Length { secs, steps })
    }
}

/// Seconds from the first time to the last.
fn span(topic: &TopicReport, taken: &[Taken<'_>], clock: &Clock) -> Option<f64> {
    let length = |(first, last): (f64, f64)| (last - first).abs();
    if let Some(times) = &topic.times {
        return Some(length(times.ends()));
    }
    let name = &taken.iter().find(|t| t.role == Role::Time)?.column.name;
    let column = topic.columns.iter().find(|column| column.name == *name)?;
    let unit = if clock.unit == TimeUnit::Date { 1.0 } else { clock.unit.nanos()? * 1e-9 };
    Some(length(column.steps.as_ref()?.ends()) * unit)
}

/// Two significant digits.
fn round(secs: f64) -> f64 {
    let digits = 10f64.powf(secs.abs().log10().floor() - 1.0);
    format!("{:.6}", (secs / digits).round() * digits).parse().unwrap_or(secs)
}
