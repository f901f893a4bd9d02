//! Times of a log as they are said and drawn: as dates where its clock counts from 1970, else in seconds of its clock.

use offnominal_report::axis::Axis;
use offnominal_report::dates;
use offnominal_report::frame::Frame;
use offnominal_report::svg::Svg;
use offnominal_topics::clock::nanos;

/// No machine runs for 20 years without a start, so a clock that says more counts from 1970.
const OLDEST: i64 = 20 * 31_536_000_000_000_000;

pub(super) fn is_date(time: i64) -> bool {
    time > OLDEST
}

/// A time of the clock of a log.
pub(super) fn said(time: i64) -> String {
    if is_date(time) { dates::full(time) } else { format!("{:.2} s", secs(time)) }
}

/// How long something lasts.
pub(super) fn lasting(secs: f64) -> String {
    match secs {
        secs if secs < 120.0 => format!("{secs:.2} s"),
        secs if secs < 7200.0 => format!("{:.1} min", secs / 60.0),
        secs if secs < 172_800.0 => format!("{:.1} h", secs / 3600.0),
        secs => format!("{:.1} d", secs / 86_400.0),
    }
}

pub(super) fn secs(time: i64) -> f64 {
    time as f64 * 1e-9
}

/// Labels the horizontal axis of a frame, whose values are seconds since a time, with times of the clock of the log.
pub(super) fn label(svg: &mut Svg, frame: &Frame, start: i64, n: usize) {
    let Axis { low, high, .. } = frame.x;
    let [from, until] = [low, high].map(|at| start + nanos(at));
    if !is_date(start) {
        let ticks = Axis::linear(secs(from), secs(until)).ticks(n);
        let decimals = decimals(&ticks);
        let at: Vec<f64> = ticks.iter().map(|tick| tick - secs(start)).collect();
        frame.columns(svg, &at, |at| format!("{:.decimals$}", at + secs(start)));
        return frame.name_x(svg, "seconds");
    }
    for (time, label) in dates::ticks(from, until, n) {
        frame.columns(svg, &[secs(time - start)], |_| label.clone());
    }
    let [first, last] = [from, until].map(dates::full);
    let days = [&first[..10], &last[..10]];
    let days = if days[0] == days[1] { days[0].into() } else { days.join(" to ") };
    frame.name_x(svg, &format!("{days}, UTC"));
}

/// Digits behind the point that tell ticks apart.
pub(super) fn decimals(ticks: &[f64]) -> usize {
    let step = ticks.get(1).map_or(1.0, |second| second - ticks[0]);
    (-step.log10().floor()).clamp(0.0, 9.0) as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use offnominal_report::frame::Margins;

    #[test]
    fn an_axis_has_the_times_of_the_log() {
        let labelled = |start| {
            let margins = Margins { left: 0.0, right: 0.0, top: 0.0, bottom: 0.0 };
            let (x, y) = (Axis::linear(0.0, 100.0), Axis::linear(0.0, 1.0));
            let frame = Frame { x, y, size: (100.0, 10.0), margins };
            let mut svg = frame.begin("");
            label(&mut svg, &frame, start, 4);
            svg.end()
        };
        let boot = labelled(123_450_500_000_000);
        assert!(
            boot.contains("x=\"49.5\"") && boot.contains(">123500<") && boot.contains("seconds"),
            "{boot}"
        );
        let dated = labelled(1_583_748_840_000_000_000);
        assert!(dated.contains("x=\"60\"") && dated.contains(">10:15:00<"), "{dated}");
        assert!(dated.contains("2020-03-09, UTC"), "{dated}");
    }
}
