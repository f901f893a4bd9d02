//! The course of a column in a few numbers: the lowest and highest of each stretch of rows.

/// Stretches, at most twice as many while reading.
const STRETCHES: usize = 160;

/// The lowest and highest number of each stretch.
#[derive(Debug, Clone, PartialEq)]
pub struct Picture {
    stretches: Vec<(f64, f64)>,
    rows_per_stretch: u64,
    rows_in_last: u64,
}

impl Default for Picture {
    fn default() -> Picture {
        Picture { stretches: Vec::new(), rows_per_stretch: 1, rows_in_last: 1 }
    }
}

impl Picture {
    /// One more number.
    pub fn add(&mut self, x: f64) {
        match self.stretches.last_mut() {
            Some((low, high)) if self.rows_in_last < self.rows_per_stretch => {
                (*low, *high) = (low.min(x), high.max(x));
                self.rows_in_last += 1;
            }
            _ => {
                if self.stretches.len() == 2 * STRETCHES {
                    self.halve();
                }
                self.stretches.push((x, x));
                self.rows_in_last = 1;
            }
        }
    }

    fn halve(&mut self) {
        let join = |pair: &[(f64, f64)]| {
            pair.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), p| (l.min(p.0), h.max(p.1)))
        };
        self.stretches = self.stretches.chunks(2).map(join).collect();
        self.rows_per_stretch *= 2;
    }

    /// The picture as an SVG image of this size, without a frame.
    pub fn svg(&self, (width, height): (f64, f64), name: &str) -> String {
        use offnominal_report::svg::{Stroke, Svg};
        let mut svg = Svg::new(width, height, name);
        let (low, high) = self
            .stretches
            .iter()
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), p| (l.min(p.0), h.max(p.1)));
        let span = if high > low { high - low } else { 1.0 };
        let n = self.stretches.len().max(2) as f64 - 1.0;
        let at = |i: usize, x: f64| {
            (1.0 + (width - 2.0) * i as f64 / n, height - 1.0 - (height - 2.0) * (x - low) / span)
        };
        let points: Vec<(f64, f64)> =
            self.stretches.iter().enumerate().flat_map(|(i, &(l, h))| [at(i, l), at(i, h)]).collect();
        let stroke = Stroke { class: "c0", colour: "#0072b2", width: 1.0, dash: "" };
        if !points.is_empty() {
            svg.path(&points, &stroke);
        }
        svg.end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_course_keeps_its_peaks_in_few_stretches() {
        let mut picture = Picture::default();
        (0..100_000).for_each(|i| picture.add(if i == 77_777 { 9.0 } else { 0.0 }));
        assert!(picture.stretches.len() <= 2 * STRETCHES);
        assert_eq!(picture.stretches.iter().filter(|s| s.1 == 9.0).count(), 1);
    }
}
