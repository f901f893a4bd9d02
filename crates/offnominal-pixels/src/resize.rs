//! Images and labels brought to another size, with the middles of pixels where they belong.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// The size of an image.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Size {
    /// Pixels per row.
    pub width: usize,
    /// Rows.
    pub height: usize,
}

impl Size {
    /// Number of pixels.
    pub fn pixels(self) -> usize {
        self.width * self.height
    }

    /// The size of the same shape whose longer side has at most so many pixels.
    pub fn at_most(self, longest: usize) -> Size {
        let longer = self.width.max(self.height);
        let side = |n: usize| if longer <= longest { n } else { (n * longest / longer).max(1) };
        Size { width: side(self.width), height: side(self.height) }
    }
}

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} × {}", self.width, self.height)
    }
}

impl FromStr for Size {
    type Err = String;

    /// Reads `WIDTHxHEIGHT`.
    fn from_str(text: &str) -> Result<Size, String> {
        let size = text.split_once('x').and_then(|(w, h)| Some((w.parse().ok()?, h.parse().ok()?)));
        match size {
            Some((width @ 1..=20_000, height @ 1..=20_000)) => Ok(Size { width, height }),
            _ => Err(format!("expected WIDTHxHEIGHT, each 1 to 20000 pixels, found {text:?}")),
        }
    }
}

/// The pixel in whose middle that of another grid lies.
fn below(at: usize, to: usize, from: usize) -> usize {
    (2 * at + 1) * from / (2 * to)
}

/// The values of the nearest pixels, as labels need it.
pub fn nearest<T: Copy>(values: &[T], from: Size, to: Size) -> Vec<T> {
    let rows = (0..to.height).map(|row| below(row, to.height, from.height) * from.width);
    rows.flat_map(|row| (0..to.width).map(move |c| values[row + below(c, to.width, from.width)])).collect()
}

/// Colours `[height, width, 3]`, bilinearly; where an image shrinks, each new pixel weighs all old ones below it.
pub fn bilinear(rgb: &[u8], from: Size, to: Size) -> Vec<u8> {
    let (across, down) = (taps(from.width, to.width), taps(from.height, to.height));
    let line = |row: usize| -> Vec<[f32; 3]> {
        let colours = rgb[3 * row * from.width..3 * (row + 1) * from.width].as_chunks::<3>().0;
        across.iter().map(|taps| weighted(taps, |at| colours[at].map(f32::from))).collect()
    };
    let lines: Vec<Vec<[f32; 3]>> = (0..from.height).map(line).collect();
    let pixel = |row: &[(usize, f32)], c: usize| weighted(row, |at| lines[at][c]).map(|x| x.round() as u8);
    down.iter().flat_map(|row| (0..to.width).flat_map(move |c| pixel(row, c))).collect()
}

fn weighted(taps: &[(usize, f32)], value: impl Fn(usize) -> [f32; 3]) -> [f32; 3] {
    taps.iter().fold([0.0; 3], |sum, &(at, weight)| {
        let value = value(at);
        std::array::from_fn(|i| sum[i] + weight * value[i])
    })
}

/// For each new place the old ones that it reads, with weights that add up to one: a triangle as wide as the larger of
/// the two distances between places.
fn taps(from: usize, to: usize) -> Vec<Vec<(usize, f32)>> {
    let scale = from as f32 / to as f32;
    let reach = scale.max(1.0);
    let of = |at: usize| {
        let middle = (at as f32 + 0.5) * scale - 0.5;
        let first = (middle - reach).ceil().max(0.0) as usize;
        let last = ((middle + reach).floor().max(0.0) as usize).min(from - 1);
        let weight = |i: usize| (1.0 - (i as f32 - middle).abs() / reach).max(0.0);
        let sum: f32 = (first..=last).map(weight).sum();
        (first..=last).map(|i| (i, weight(i) / sum)).collect()
    };
    (0..to).map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_sizes_keep_their_shape() {
        let at_most = |width, height| {
            let size = Size { width, height }.at_most(192);
            (size.width, size.height)
        };
        assert_eq!((at_most(2048, 1024), at_most(64, 128)), ((192, 96), (64, 128)));
        assert_eq!(at_most(1, 10_000), (1, 192));
    }

    fn size(width: usize, height: usize) -> Size {
        Size { width, height }
    }

    #[test]
    fn a_size_is_read_and_written() {
        assert_eq!("2048x1024".parse(), Ok(size(2048, 1024)));
        for wrong in ["2048", "0x4", "4x", "4×4", "30000x2"] {
            assert!(wrong.parse::<Size>().unwrap_err().contains("expected WIDTHxHEIGHT"), "{wrong}");
        }
    }

    #[test]
    fn labels_keep_their_values() {
        assert_eq!(nearest(&[1, 2, 3, 4], size(2, 2), size(4, 2)), [1, 1, 2, 2, 3, 3, 4, 4]);
        assert_eq!(nearest(&[1, 2, 3, 4, 5, 6], size(6, 1), size(2, 1)), [2, 5]);
    }

    #[test]
    fn a_slope_stays_a_slope_and_a_mean_a_mean() {
        let grey = |values: &[u8]| values.iter().flat_map(|&v| [v; 3]).collect::<Vec<u8>>();
        let found = bilinear(&grey(&[0, 100, 200, 100]), size(4, 1), size(8, 1));
        assert_eq!(found, grey(&[0, 25, 75, 125, 175, 175, 125, 100]));
        // Two become one: the outer neighbours weigh a third of the inner ones.
        let found = bilinear(&grey(&[40, 80, 120, 160]), size(4, 1), size(2, 1));
        assert_eq!(found, grey(&[69, 131]));
        assert_eq!(bilinear(&grey(&[7; 12]), size(4, 3), size(9, 2)), grey(&[7; 18]));
    }
}
