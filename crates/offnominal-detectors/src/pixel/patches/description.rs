//! What is around a pixel, as numbers.

/// Numbers that describe a pixel.
pub const INPUTS: usize = 3 + 2 + 3 * 6 + 4 * 3;

/// Half the sides of the boxes around a pixel, as shares of the image's height.
const SCALES: [f64; 3] = [0.012, 0.04, 0.12];
/// How far away the regions lie, and half their sides, as shares of the height.
const REGIONS: [f64; 2] = [0.2, 0.08];

/// Sums of the colours, and of their squares, over all pixels above and to the left of each.
struct Areas {
    width: usize,
    height: usize,
    /// `[height + 1, width + 1, 6]`.
    sums: Vec<f64>,
}

impl Areas {
    fn of(rgb: &[u8], width: usize) -> Areas {
        let (height, row) = (rgb.len() / 3 / width, 6 * (width + 1));
        let mut sums = vec![0.0; (height + 1) * row];
        for (y, line) in rgb.chunks_exact(3 * width).enumerate() {
            let mut so_far = [0.0; 6];
            for (x, pixel) in line.as_chunks::<3>().0.iter().enumerate() {
                let at = (y + 1) * row + 6 * (x + 1);
                for i in 0..3 {
                    let value = f64::from(pixel[i]) / 255.0;
                    so_far[i] += value;
                    so_far[i + 3] += value * value;
                }
                (0..6).for_each(|i| sums[at + i] = sums[at - row + i] + so_far[i]);
            }
        }
        Areas { width, height, sums }
    }

    /// Means of the colours and their deviations in a box about a place, as far as it lies in the image.
    fn moments(&self, x: i64, y: i64, half: i64) -> [f32; 6] {
        let clip = |v: i64, size: usize| v.clamp(0, size as i64) as usize;
        // A box beyond an edge shrinks to the pixels at that edge.
        let (x, y) = (x.clamp(0, self.width as i64 - 1), y.clamp(0, self.height as i64 - 1));
        let (left, right) = (clip(x - half, self.width), clip(x + half + 1, self.width));
        let (top, low) = (clip(y - half, self.height), clip(y + half + 1, self.height));
        let at = |y: usize, x: usize, i: usize| self.sums[6 * (y * (self.width + 1) + x) + i];
        let n = ((right - left) * (low - top)) as f64;
        let mean =
            |i: usize| (at(low, right, i) - at(top, right, i) - at(low, left, i) + at(top, left, i)) / n;
        std::array::from_fn(
            |i| if i < 3 { mean(i) } else { (mean(i) - mean(i - 3).powi(2)).max(0.0).sqrt() } as f32,
        )
    }
}

/// An image that pixels can be described in.
pub struct Described<'a> {
    rgb: &'a [u8],
    areas: Areas,
}

impl Described<'_> {
    /// Of an image, `[height, width, 3]`.
    pub fn new(rgb: &[u8], width: usize) -> Described<'_> {
        Described { rgb, areas: Areas::of(rgb, width) }
    }

    /// Writes the description of a pixel.
    pub fn write(&self, pixel: usize, out: &mut [f32]) {
        let (width, height) = (self.areas.width, self.areas.height);
        let (x, y) = (pixel % width, pixel / width);
        let far = |share: f64| ((share * height as f64).round() as i64).max(1);
        let mut numbers = Vec::with_capacity(INPUTS);
        numbers.extend(self.rgb[3 * pixel..3 * pixel + 3].iter().map(|&c| f32::from(c) / 255.0));
        numbers.extend([x as f32 / width as f32 - 0.5, y as f32 / height as f32 - 0.5]);
        let (x, y) = (x as i64, y as i64);
        SCALES.iter().for_each(|&scale| numbers.extend(self.areas.moments(x, y, far(scale))));
        let [away, half] = REGIONS.map(far);
        for (dx, dy) in [(0, -away), (0, away), (-away, 0), (away, 0)] {
            numbers.extend(&self.areas.moments(x + dx, y + dy, half)[..3]);
        }
        out.copy_from_slice(&numbers);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_of_a_box_are_those_of_its_pixels() {
        let rgb: Vec<u8> = (0..5 * 4 * 3).map(|i| (i * 4) as u8).collect();
        let areas = Areas::of(&rgb, 5);
        let values: Vec<f64> = [1, 2, 3, 6, 7, 8].iter().map(|p| f64::from(rgb[3 * p]) / 255.0).collect();
        let mean = values.iter().sum::<f64>() / 6.0;
        let deviation = (values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / 6.0).sqrt();
        // The box about (2, 0) reaches above the image.
        let found = areas.moments(2, 0, 1);
        assert!((f64::from(found[0]) - mean).abs() < 1e-6 && (f64::from(found[3]) - deviation).abs() < 1e-6);
    }
}
