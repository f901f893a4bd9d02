//! Sensors that were lost in a recording.

use offnominal_monitor::ChannelName;
use serde::Serialize;

/// A sensor, from the step in which it counted as lost to the one in which it was read again.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LostSensor {
    /// Its name.
    pub name: String,
    /// When it was lost, in seconds since the first step of the recording.
    pub secs: f64,
    /// When it was read again; nothing if it was not.
    pub until_secs: Option<f64>,
}

/// Notes which sensors are lost now, where one was lost or came back.
pub fn note<'c>(noted: &mut Vec<LostSensor>, lost: impl Iterator<Item = &'c ChannelName>, secs: f64) {
    let now: Vec<&str> = lost.map(|channel| channel.name.as_str()).collect();
    let is_open = |sensor: &LostSensor| sensor.until_secs.is_none();
    for sensor in noted.iter_mut().filter(|sensor| is_open(sensor) && !now.contains(&sensor.name.as_str())) {
        sensor.until_secs = Some(secs);
    }
    for name in now {
        if !noted.iter().any(|sensor| is_open(sensor) && sensor.name == name) {
            noted.push(LostSensor { name: name.into(), secs, until_secs: None });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sensor_is_lost_until_it_is_read_again() {
        let channel =
            |name: &str| ChannelName { name: name.into(), unit: String::new(), ..ChannelName::default() };
        let (flow, level, mut noted) = (channel("flow"), channel("level"), Vec::new());
        note(&mut noted, [&flow].into_iter(), 1.0);
        note(&mut noted, [&flow, &level].into_iter(), 2.0);
        note(&mut noted, [&level].into_iter(), 3.0);
        let lost = |name: &str, secs, until_secs| LostSensor { name: name.into(), secs, until_secs };
        assert_eq!(noted, [lost("flow", 1.0, Some(3.0)), lost("level", 2.0, None)]);
    }
}
