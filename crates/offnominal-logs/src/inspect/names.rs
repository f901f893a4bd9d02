//! What the names of columns say: a time and its unit, a label, an episode, a command.

use crate::mapping::TimeUnit;
pub use offnominal_topics::units::of_time as unit;

/// Names of times, without their unit, in lower case and without what is no letter.
const TIMES: [&str; 40] = [
    "time",
    "timestamp",
    "t",
    "ts",
    "stamp",
    "datetime",
    "date",
    "dateandtime",
    "datetimeutc",
    "secs",
    "seconds",
    "sec",
    "millis",
    "micros",
    "nanos",
    "elapsed",
    "elapsedtime",
    "timeelapsed",
    "logtime",
    "simtime",
    "systime",
    "systemtime",
    "unixtime",
    "unix",
    "epoch",
    "epochtime",
    "utc",
    "utctime",
    "timeutc",
    "localtime",
    "recordtime",
    "sampletime",
    "timeboot",
    "timesinceboot",
    "timesincestart",
    "relativetime",
    "uptime",
    "zeit",
    "datum",
    "realtimetimestamp",
];

/// Whether a name is that of a time, and its unit if the name has one.
pub fn time(name: &str) -> Option<Option<TimeUnit>> {
    let lower = name.to_lowercase();
    let mut words: Vec<&str> =
        lower.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
    let last = words.last().and_then(|word| unit(word));
    let is_alone = words.len() == 1;
    if words.len() > 1 && last.is_some() {
        words.pop();
    }
    let joined = words.concat();
    if TIMES.contains(&joined.as_str()) {
        // `rostopic echo -p` writes nanoseconds.
        let of_ros = lower.starts_with("%time").then_some(TimeUnit::Nanos);
        return Some(last.or(of_ros).or_else(|| unit(&joined)));
    }
    let written_together = ["ms", "us", "ns"].iter().find_map(|end| {
        let stem = joined.strip_suffix(end).filter(|stem| stem.starts_with("time"))?;
        TIMES.contains(&stem).then(|| unit(end))
    });
    written_together.or_else(|| (is_alone && last.is_some() && joined.len() > 3).then_some(last))
}

/// Parts of names of what is known only after a step: to observe it would be to look ahead.
pub fn looks_ahead(name: &str) -> bool {
    let lower = name.to_lowercase();
    let parts = lower.split(['/', ':']);
    parts.into_iter().any(|part| part == "next" || part.starts_with("next_") || part.starts_with("next."))
}

/// The name of a data set or field without the number of the entry: `states` of `data:states[3]`.
pub fn stem(name: &str) -> String {
    let lower = name.to_lowercase();
    let own = lower.rsplit(':').next().unwrap_or_default();
    own.split('[').next().unwrap_or_default().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clocks_are_known_by_name_and_unit() {
        for (name, unit) in [
            ("time", None),
            ("time_ms", Some(TimeUnit::Millis)),
            ("timestamp_us", Some(TimeUnit::Micros)),
            ("TimeUS", Some(TimeUnit::Micros)),
            ("%time", Some(TimeUnit::Nanos)),
            ("t_s", Some(TimeUnit::Seconds)),
            ("Elapsed Time (ms)", Some(TimeUnit::Millis)),
            ("time_boot_ms", Some(TimeUnit::Millis)),
            ("seconds", Some(TimeUnit::Seconds)),
            ("hours", Some(TimeUnit::Hours)),
        ] {
            assert_eq!(time(name), Some(unit), "{name}");
        }
        for name in ["temperature", "times", "flow_s", "s", "h", "speed_ms", "lifetime_left"] {
            assert_eq!(time(name), None, "{name}");
        }
        assert!(
            looks_ahead("next_observations[0]")
                && looks_ahead("data:next_obs/x")
                && looks_ahead("next.state")
        );
        assert!(!looks_ahead("nextion"));
    }
}
