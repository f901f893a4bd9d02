//! Images in another size, by area averaging: each new pixel is the mean of what it covers of the old ones.

/// The parts of the old pixels that make up each new one, along one axis.
#[derive(Debug, Clone)]
struct Axis(Vec<Vec<(usize, f32)>>);

impl Axis {
    fn new(from: usize, to: usize) -> Axis {
        let ratio = from as f64 / to as f64;
        let covered = |i: usize| {
            let (low, high) = (i as f64 * ratio, (i + 1) as f64 * ratio);
            let last = (high.ceil() as usize).min(from);
            let share = |at: usize| ((at + 1) as f64).min(high) - (at as f64).max(low);
            (low as usize..last).map(|at| (at, (share(at) / ratio) as f32)).filter(|s| s.1 > 0.0).collect()
        };
        Axis((0..to).map(covered).collect())
    }
}

/// A change of size; allocates nothing after it was made.
#[derive(Debug, Clone)]
pub struct Resize {
    from: (usize, usize),
    to: (usize, usize),
    rows: Axis,
    columns: Axis,
    /// Old rows, new columns.
    between: Vec<f32>,
    out: Vec<f32>,
}

impl Resize {
    /// From height and width to others.
    ///
    /// # Panics
    /// If a side is zero.
    pub fn new(from: (usize, usize), to: (usize, usize)) -> Resize {
        assert!(from.0 * from.1 * to.0 * to.1 > 0, "expected pixels: {from:?} to {to:?}");
        Resize {
            from,
            to,
            rows: Axis::new(from.0, to.0),
            columns: Axis::new(from.1, to.1),
            between: vec![0.0; from.0 * to.1 * 3],
            out: vec![0.0; to.0 * to.1 * 3],
        }
    }

    /// The image `[height, width, 3]` in the new size, numbers from 0 to 255.
    ///
    /// # Panics
    /// If the image has another size.
    pub fn of(&mut self, image: &[u8]) -> &[f32] {
        let (height, width) = self.from;
        assert_eq!(image.len(), height * width * 3, "expected an image of {width} x {height}");
        if self.from == self.to {
            self.out.iter_mut().zip(image).for_each(|(out, &p)| *out = f32::from(p));
            return &self.out;
        }
        let rows = image.chunks_exact(width * 3).zip(self.between.chunks_exact_mut(self.to.1 * 3));
        for (row, between) in rows {
            for (parts, out) in self.columns.0.iter().zip(between.as_chunks_mut::<3>().0) {
                *out = [0.0; 3];
                for &(at, share) in parts {
                    (0..3).for_each(|c| out[c] += share * f32::from(row[3 * at + c]));
                }
            }
        }
        let len = self.to.1 * 3;
        for (parts, out) in self.rows.0.iter().zip(self.out.chunks_exact_mut(len)) {
            out.fill(0.0);
            for &(at, share) in parts {
                let row = &self.between[at * len..(at + 1) * len];
                out.iter_mut().zip(row).for_each(|(out, v)| *out += share * v);
            }
        }
        &self.out
    }

    /// As bytes.
    ///
    /// # Panics
    /// As [`Resize::of`].
    pub fn bytes(&mut self, image: &[u8]) -> Vec<u8> {
        self.of(image).iter().map(|v| v.round().clamp(0.0, 255.0) as u8).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn image(height: usize, width: usize) -> Vec<u8> {
        (0..height * width * 3).map(|i| (i * 37 % 251) as u8).collect()
    }

    #[test]
    fn the_mean_stays_whatever_the_sizes() {
        let mean = |v: &[f32]| v.iter().sum::<f32>() / v.len() as f32;
        let of = image(12, 20);
        let old = of.iter().map(|&p| f32::from(p)).sum::<f32>() / of.len() as f32;
        for to in [(12, 20), (6, 10), (5, 7), (24, 40), (13, 33)] {
            let new = Resize::new((12, 20), to).of(&of).to_vec();
            assert!((mean(&new) - old).abs() < 0.01, "{to:?}");
        }
    }

    #[test]
    fn half_the_size_is_the_mean_of_blocks() {
        let of = image(4, 4);
        let new = Resize::new((4, 4), (2, 2)).of(&of).to_vec();
        let block = |r: usize, c: usize| f32::from(of[(r * 4 + c) * 3 + 1]);
        assert_eq!(new[1], (block(0, 0) + block(0, 1) + block(1, 0) + block(1, 1)) / 4.0);
        assert_eq!(Resize::new((4, 4), (4, 4)).bytes(&of), of);
    }
}
