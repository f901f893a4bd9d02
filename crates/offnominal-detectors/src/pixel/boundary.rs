//! Scores at the boundaries of predicted classes, which are high everywhere, replaced by those around them.

/// Replaces the scores within `width` pixels of a boundary, from the outside inward: each becomes the mean of its 3 × 3
/// neighbours that are no boundary (any longer).
pub(super) fn suppress(scores: &mut [f32], prediction: &[u8], columns: usize, width: usize) {
    for reach in (0..width).rev() {
        let is_boundary = near_boundary(prediction, columns, reach);
        let before = scores.to_vec();
        for at in (0..scores.len()).filter(|&at| is_boundary[at]) {
            let (mut sum, mut n) = (0.0, 0.0);
            for next in around(at, columns, scores.len()).filter(|&next| !is_boundary[next]) {
                sum += before[next];
                n += 1.0;
            }
            if n > 0.0 {
                scores[at] = sum / n;
            }
        }
    }
}

/// Whether a pixel is within so many pixels of one whose neighbour is of another class.
fn near_boundary(prediction: &[u8], columns: usize, reach: usize) -> Vec<bool> {
    let n = prediction.len();
    let edge = |at: usize| around(at, columns, n).any(|next| prediction[next] != prediction[at]);
    let mut near: Vec<bool> = (0..n).map(edge).collect();
    for _ in 0..reach {
        let before = near.clone();
        near.iter_mut()
            .enumerate()
            .for_each(|(at, near)| *near |= around(at, columns, n).any(|next| before[next]));
    }
    near
}

/// A pixel and its neighbours.
fn around(at: usize, columns: usize, n: usize) -> impl Iterator<Item = usize> {
    let (row, column, rows) = (at / columns, at % columns, n / columns);
    let (top, low) = (row.saturating_sub(1), (row + 2).min(rows));
    let (left, right) = (column.saturating_sub(1), (column + 2).min(columns));
    (top..low).flat_map(move |r| (left..right).map(move |c| r * columns + c))
}

/// A 7 × 7 Gaussian of deviation 1 whose taps lie `dilation` pixels apart; edges repeat.
pub(super) fn smooth(scores: &mut [f32], columns: usize, dilation: usize) {
    if dilation == 0 {
        return;
    }
    let rows = scores.len() / columns;
    let taps: Vec<f32> = (-3..=3).map(|i: i32| (-0.5 * (i * i) as f32).exp()).collect();
    let total: f32 = taps.iter().sum();
    let shifted =
        |at: usize, tap: usize, size: usize| (at + tap * dilation).saturating_sub(3 * dilation).min(size - 1);
    let before = scores.to_vec();
    let mut across = vec![0.0; scores.len()];
    for (at, sum) in across.iter_mut().enumerate() {
        let (row, column) = (at / columns, at % columns);
        *sum = (0..7).map(|t| taps[t] * before[row * columns + shifted(column, t, columns)]).sum::<f32>()
            / total;
    }
    for (at, score) in scores.iter_mut().enumerate() {
        let (row, column) = (at / columns, at % columns);
        *score =
            (0..7).map(|t| taps[t] * across[shifted(row, t, rows) * columns + column]).sum::<f32>() / total;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ridge_along_a_boundary_is_filled_from_both_sides() {
        let columns = 12;
        let prediction: Vec<u8> = (0..60).map(|i| u8::from(i % columns >= 6)).collect();
        let ridge = |i: usize| if (5..=6).contains(&(i % columns)) { 9.0 } else { 1.0 };
        let mut scores: Vec<f32> = (0..60).map(ridge).collect();
        suppress(&mut scores, &prediction, columns, 4);
        assert!(scores.iter().all(|&s| s == 1.0), "{scores:?}");
    }

    #[test]
    fn without_a_boundary_nothing_changes_and_smoothing_keeps_flat_images() {
        let mut scores: Vec<f32> = (0..60).map(|i| i as f32).collect();
        suppress(&mut scores, &[3; 60], 12, 4);
        assert!(scores.iter().enumerate().all(|(i, &s)| s == i as f32));
        let mut flat = vec![2.5; 60];
        smooth(&mut flat, 12, 6);
        assert!(flat.iter().all(|s| (s - 2.5).abs() < 1e-5));
    }
}
