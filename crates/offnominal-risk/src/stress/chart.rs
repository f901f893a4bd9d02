//! Disturbances over the steps of an episode as a picture.

use super::report::{Failure, Report};
use offnominal_report::axis::Axis;
use offnominal_report::colour::Pen;
use offnominal_report::plot::{Line, Plot};

/// The most numbers that are drawn: those that are disturbed most.
const MOST_LINES: usize = 5;

/// Draws what is disturbed most, number by number.
pub fn draw(report: &Report, failure: &Failure) -> String {
    let lines: Vec<Line> =
        strongest(failure).into_iter().enumerate().map(|(k, i)| line(report, failure, k, i)).collect();
    let values = lines.iter().flat_map(|line| line.values.iter().copied());
    let plot = Plot {
        title: "Disturbances in standard deviations of their noise".into(),
        what: "step".into(),
        axis: Axis::around(values, &[-1.0, 1.0]),
        lines,
        levels: vec![],
        onset: None,
        mark: None,
        size: (720.0, 260.0),
    };
    plot.alone()
}

/// The numbers with the largest sums of squares, the largest first.
fn strongest(failure: &Failure) -> Vec<usize> {
    let n = failure.disturbances.first().map_or(0, Vec::len);
    let power = |i: usize| failure.disturbances.iter().map(|row| row[i] * row[i]).sum::<f64>();
    let mut order: Vec<(f64, usize)> = (0..n).map(|i| (power(i), i)).filter(|p| p.0 > 0.0).collect();
    order.sort_by(|a, b| b.0.total_cmp(&a.0));
    order.into_iter().take(MOST_LINES).map(|(_, i)| i).collect()
}

fn line(report: &Report, failure: &Failure, k: usize, i: usize) -> Line {
    Line {
        name: report.step_numbers[i].clone(),
        note: String::new(),
        pen: Pen::detector(k),
        width: 1.6,
        values: failure.disturbances.iter().map(|row| row[i]).collect(),
        band: vec![],
    }
}
