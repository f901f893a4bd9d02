//! The distribution functions of a channel on both sides: the reference grey and broken, the others in colour.

use super::channel::ChannelDrift;
use offnominal_report::svg::{Stroke, Svg};

const SIDES: [Stroke<'_>; 2] = [
    Stroke { class: "ink", colour: "#3a3d42", width: 1.2, dash: "5 3" },
    Stroke { class: "c0", colour: "#0072b2", width: 1.4, dash: "" },
];

/// The picture as an SVG image of this size.
pub fn picture(channel: &ChannelDrift, (width, height): (f64, f64)) -> String {
    let mut svg = Svg::new(width, height, &channel.name);
    let places = &channel.distributions;
    let (low, high) = match (places.first(), places.last()) {
        (Some(first), Some(last)) if last.0 > first.0 => (first.0, last.0),
        _ => return svg.end(),
    };
    let at = |x: f64, share: f64| {
        (1.0 + (width - 2.0) * (x - low) / (high - low), height - 1.0 - (height - 2.0) * share)
    };
    for (side, stroke) in SIDES.iter().enumerate() {
        let points: Vec<(f64, f64)> = places.iter().map(|(x, shares)| at(*x, shares[side])).collect();
        svg.path(&points, stroke);
    }
    svg.end()
}
