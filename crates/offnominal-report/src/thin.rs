//! Long lines drawn with fewer points, without losing a peak.

use crate::frame::Frame;

/// Columns per pixel, so that a picture that is made four times as wide still shows what happened.
const FINE: f64 = 4.0;

/// Where the finite points of a line lie that goes from left to right: of those in the same narrow column the lowest and the
/// highest, so that no peak is lost.
pub fn thin(frame: &Frame, points: impl Iterator<Item = (f64, f64)>) -> Vec<(f64, f64)> {
    let mut kept = Vec::new();
    // The column at hand, and its lowest and highest point, each with its place.
    let mut open: Option<(f64, Ends)> = None;
    let finite = points.filter(|(x, y)| x.is_finite() && y.is_finite());
    for (at, point) in finite.map(|point| frame.at(point)).enumerate() {
        let column = (FINE * point.0).floor();
        match &mut open {
            Some((same, ends)) if *same == column => ends.add(at, point),
            _ => kept
                .extend(open.replace((column, Ends::new(at, point))).into_iter().flat_map(|o| o.1.points())),
        }
    }
    kept.extend(open.into_iter().flat_map(|(_, ends)| ends.points()));
    kept
}

/// Two points, with their numbers in the line.
struct Ends([(usize, (f64, f64)); 2]);

impl Ends {
    fn new(at: usize, point: (f64, f64)) -> Ends {
        Ends([(at, point); 2])
    }

    fn add(&mut self, at: usize, point: (f64, f64)) {
        let [low, high] = &mut self.0;
        if point.1 < low.1.1 {
            *low = (at, point);
        }
        if point.1 > high.1.1 {
            *high = (at, point);
        }
    }

    /// In the order of the line; one of them where both are the same.
    fn points(mut self) -> impl Iterator<Item = (f64, f64)> {
        self.0.sort_by_key(|end| end.0);
        let [first, last] = self.0;
        [Some(first), (last.0 != first.0).then_some(last)].into_iter().flatten().map(|(_, point)| point)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::axis::Axis;
    use crate::frame::Margins;

    /// A plane of 100 by 10 pixels, in which values are pixels from the left and the bottom.
    fn frame() -> Frame {
        let margins = Margins { left: 0.0, right: 0.0, top: 0.0, bottom: 0.0 };
        Frame { x: Axis::linear(0.0, 100.0), y: Axis::linear(0.0, 10.0), size: (100.0, 10.0), margins }
    }

    #[test]
    fn thinning_keeps_the_peaks_and_drops_what_is_no_number() {
        let value = |i: usize| if i == 432_100 { 9.0 } else { (i % 2) as f64 };
        let thinned = thin(&frame(), (0..1_000_000).map(|i| (i as f64 * 1e-4, value(i))));
        let peaks: Vec<f64> = thinned.iter().filter(|point| point.1 < 5.0).map(|point| point.0).collect();
        assert!(thinned.len() <= 2 * 400 && peaks == [43.21], "{} {peaks:?}", thinned.len());
        assert!(thinned.is_sorted_by_key(|point| point.0));
        assert_eq!(thin(&frame(), [(0.0, 1.0), (1.0, f64::NAN)].into_iter()), [(0.0, 9.0)]);
    }

    #[test]
    fn few_points_stay_as_they_are() {
        let points = (0..100).map(|i| (f64::from(i), f64::from(i % 7)));
        let placed: Vec<(f64, f64)> = points.clone().map(|point| frame().at(point)).collect();
        assert_eq!(thin(&frame(), points), placed);
    }
}
