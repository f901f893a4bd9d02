//! How alike two images are, whoever looks: structural similarity.
//!
//! SSIM = (2 μx μy + c₁)(2 σxy + c₂) / ((μx² + μy² + c₁)(σx² + σy² + c₂)), of the mean of the three colours, averaged
//! over windows of 8 × 8 pixels every 4 pixels; c₁ = (0.01 · 255)², c₂ = (0.03 · 255)². One for equal images.
//!
//! Reference: Wang et al., IEEE TIP 2004. Deviates: plain square windows instead of bells.

const WINDOW: usize = 8;
const STRIDE: usize = 4;
const C1: f64 = 6.5025;
const C2: f64 = 58.5225;

/// The structural similarity of two images, `[height, width, 3]`.
///
/// # Panics
/// If they have different sizes, or are smaller than a window.
pub fn similarity(one: &[u8], other: &[u8], width: usize) -> f64 {
    assert_eq!(one.len(), other.len(), "images of one size");
    let (one, other, height) = (grey(one), grey(other), one.len() / (3 * width));
    assert!(width >= WINDOW && height >= WINDOW, "images of {WINDOW} x {WINDOW} or more");
    let (mut sum, mut n) = (0.0, 0.0);
    for top in (0..=height - WINDOW).step_by(STRIDE) {
        for left in (0..=width - WINDOW).step_by(STRIDE) {
            let places = (0..WINDOW).flat_map(|r| (0..WINDOW).map(move |c| (top + r) * width + left + c));
            sum += window(places.map(|at| (one[at], other[at])));
            n += 1.0;
        }
    }
    sum / n
}

fn grey(image: &[u8]) -> Vec<f64> {
    image.as_chunks::<3>().0.iter().map(|p| p.iter().map(|&v| f64::from(v)).sum::<f64>() / 3.0).collect()
}

fn window(pairs: impl Iterator<Item = (f64, f64)>) -> f64 {
    let n = (WINDOW * WINDOW) as f64;
    let [x, y, xx, yy, xy] =
        pairs.fold([0.0; 5], |[x, y, xx, yy, xy], (a, b)| [x + a, y + b, xx + a * a, yy + b * b, xy + a * b]);
    let (mx, my) = (x / n, y / n);
    let (vx, vy, vxy) = (xx / n - mx * mx, yy / n - my * my, xy / n - mx * my);
    (2.0 * mx * my + C1) * (2.0 * vxy + C2) / ((mx * mx + my * my + C1) * (vx + vy + C2))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn closed_forms() {
        let ramp: Vec<u8> = (0..16 * 16 * 3).map(|i| (i / 3 % 16 * 10) as u8).collect();
        assert!((similarity(&ramp, &ramp, 16) - 1.0).abs() < 1e-12);
        // Flat images differ in their means alone.
        let (a, b) = (vec![100; 16 * 16 * 3], vec![150; 16 * 16 * 3]);
        let want = (2.0 * 100.0 * 150.0 + C1) / (100.0 * 100.0 + 150.0 * 150.0 + C1);
        assert!((similarity(&a, &b, 16) - want).abs() < 1e-12);
        let negative: Vec<u8> = ramp.iter().map(|p| 150 - p).collect();
        assert!(similarity(&ramp, &negative, 16) < 0.0);
    }
}
