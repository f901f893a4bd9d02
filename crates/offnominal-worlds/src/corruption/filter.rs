//! Linear filters on frames of grey levels: bells, streaks, and resampling by tables.

/// The size of a frame, `[height, width, planes]`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Size {
    pub(super) height: usize,
    pub(super) width: usize,
    pub(super) planes: usize,
}

impl Size {
    /// Numbers of a frame.
    pub(super) fn len(&self) -> usize {
        self.height * self.width * self.planes
    }

    /// Pixels of a frame.
    pub(super) fn pixels(&self) -> usize {
        self.height * self.width
    }

    /// The same frame with one plane.
    pub(super) fn flat(self) -> Size {
        Size { planes: 1, ..self }
    }

    /// Numbers of a row.
    pub(super) fn stride(&self) -> usize {
        self.width * self.planes
    }
}

/// What is beyond the border.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Border {
    /// The last pixel again: d d | d c b.
    Nearest,
    /// The image mirrored with its last pixel: c d | d c b.
    Mirror,
    /// The image mirrored about its last pixel: b c | d c b.
    Reflect,
}

impl Border {
    /// The index within `0..n` that stands for any other.
    pub(super) fn index(self, i: isize, n: usize) -> usize {
        let n = n as isize;
        let inside = match self {
            Border::Nearest => i.clamp(0, n - 1),
            Border::Mirror => {
                let i = i.rem_euclid(2 * n);
                i.min(2 * n - 1 - i)
            }
            Border::Reflect if n == 1 => 0,
            Border::Reflect => {
                let i = i.rem_euclid(2 * n - 2);
                i.min(2 * n - 2 - i)
            }
        };
        inside as usize
    }
}

/// Weighted sums along one axis: which entries, and how much of each. Every output has the same number of terms.
#[derive(Debug, Clone)]
struct Table {
    terms: usize,
    from: Vec<usize>,
    weight: Vec<f32>,
}

impl Table {
    /// A symmetric kernel slid along `n` entries.
    fn sliding(kernel: &[f64], n: usize, border: Border) -> Table {
        let reach = (kernel.len() / 2) as isize;
        let shifts = || -reach..=reach;
        let from = (0..n as isize).flat_map(|i| shifts().map(move |k| border.index(i + k, n))).collect();
        let weight = (0..n).flat_map(|_| kernel.iter().map(|&w| w as f32)).collect();
        Table { terms: kernel.len(), from, weight }
    }
}

/// A separable filter: rows, then columns.
#[derive(Debug, Clone)]
pub(super) struct Separable {
    size: Size,
    down: Table,
    across: Table,
    half: Vec<f32>,
}

impl Separable {
    /// A bell with one standard deviation per axis (rows, columns), cut off after so many of them.
    pub(super) fn bell(sigma: [f64; 2], truncate: f64, border: Border, size: Size) -> Separable {
        let table =
            |sigma: f64, n| Table::sliding(&bell(sigma, (truncate * sigma + 0.5) as usize), n, border);
        let (down, across) = (table(sigma[0], size.height), table(sigma[1], size.width));
        Separable { size, down, across, half: vec![0.0; size.len()] }
    }

    /// Filters in place.
    pub(super) fn apply(&mut self, levels: &mut [f32]) {
        let stride = self.size.stride();
        for (row, out) in self.half.chunks_exact_mut(stride).enumerate() {
            out.fill(0.0);
            let terms = row * self.down.terms..(row + 1) * self.down.terms;
            for (&from, &w) in self.down.from[terms.clone()].iter().zip(&self.down.weight[terms]) {
                let source = &levels[from * stride..][..stride];
                out.iter_mut().zip(source).for_each(|(o, s)| *o += w * s);
            }
        }
        self.across(levels);
    }

    fn across(&self, levels: &mut [f32]) {
        let (stride, planes) = (self.size.stride(), self.size.planes);
        for (source, out) in self.half.chunks_exact(stride).zip(levels.chunks_exact_mut(stride)) {
            for (column, pixel) in out.chunks_exact_mut(planes).enumerate() {
                let terms = column * self.across.terms..(column + 1) * self.across.terms;
                pixel.fill(0.0);
                for (&from, &w) in self.across.from[terms.clone()].iter().zip(&self.across.weight[terms]) {
                    pixel.iter_mut().zip(&source[from * planes..]).for_each(|(p, s)| *p += w * s);
                }
            }
        }
    }
}

/// A bell over −reach, …, reach, of sum 1.
pub(super) fn bell(sigma: f64, reach: usize) -> Vec<f64> {
    let reach = reach as isize;
    let raw: Vec<f64> = (-reach..=reach).map(|k| (-0.5 * (k as f64 / sigma).powi(2)).exp()).collect();
    let sum: f64 = raw.iter().sum();
    raw.iter().map(|w| w / sum).collect()
}

/// A streak: half a bell from each pixel in one direction, the border repeated.
#[derive(Debug, Clone)]
pub(super) struct Streak {
    size: Size,
    kernel: Vec<f32>,
    sum: Vec<f32>,
}

impl Streak {
    /// A streak of 2 `radius` + 1 weights of a half bell.
    pub(super) fn new(radius: usize, sigma: f64, size: Size) -> Streak {
        let raw: Vec<f64> = (0..=2 * radius).map(|i| (-0.5 * (i as f64 / sigma).powi(2)).exp()).collect();
        let sum: f64 = raw.iter().sum();
        Streak { size, kernel: raw.iter().map(|w| (w / sum) as f32).collect(), sum: vec![0.0; size.len()] }
    }

    /// Blurs in place along an angle in degrees. Where the streak would leave the image altogether it ends, and the
    /// image darkens, as in the package.
    pub(super) fn apply(&mut self, levels: &mut [f32], degrees: f64) {
        let (sin, cos) = degrees.to_radians().sin_cos();
        self.sum.fill(0.0);
        for i in 0..self.kernel.len() {
            let back = |part: f64| -((i as f64 * part - 0.5).ceil() as isize);
            let (down, across) = (back(sin), back(cos));
            if down.unsigned_abs() >= self.size.height || across.unsigned_abs() >= self.size.width {
                break;
            }
            self.add(levels, self.kernel[i], down, across);
        }
        levels.copy_from_slice(&self.sum);
    }

    /// Adds the image moved down and across.
    fn add(&mut self, levels: &[f32], weight: f32, down: isize, across: isize) {
        let Size { height, width, planes } = self.size;
        let stride = self.size.stride();
        for (row, out) in self.sum.chunks_exact_mut(stride).enumerate() {
            let from = Border::Nearest.index(row as isize - down, height);
            let source = &levels[from * stride..][..stride];
            let moved = (across.unsigned_abs() * planes).min(stride);
            let (first, last) = (&source[..planes], &source[(width - 1) * planes..]);
            let (near, far) = out.split_at_mut(if across > 0 { moved } else { stride - moved });
            let blend =
                |out: &mut [f32], s: &[f32]| out.iter_mut().zip(s).for_each(|(o, s)| *o += weight * s);
            if across > 0 {
                near.chunks_exact_mut(planes).for_each(|pixel| blend(pixel, first));
                blend(far, source);
            } else {
                blend(near, &source[moved..]);
                far.chunks_exact_mut(planes).for_each(|pixel| blend(pixel, last));
            }
        }
    }
}

/// Straight-line interpolation along one axis: `n_out` points spread evenly over `n_in` entries, ends on ends.
#[derive(Debug, Clone)]
pub(super) struct Stretch {
    /// First entry of each output, and the share of the next one.
    taps: Vec<(usize, f32)>,
    last: usize,
}

impl Stretch {
    /// The first `keep` of `n_out` points over entries `first`, …, `first` + `n_in` − 1.
    pub(super) fn new(first: usize, n_in: usize, n_out: usize, keep: usize) -> Stretch {
        let step = if n_out > 1 { (n_in - 1) as f64 / (n_out - 1) as f64 } else { 0.0 };
        let tap = |i: usize| {
            let at = i as f64 * step;
            (first + at as usize, at.fract() as f32)
        };
        Stretch { taps: (0..keep.min(n_out)).map(tap).collect(), last: first + n_in - 1 }
    }

    /// Number of outputs.
    pub(super) fn len(&self) -> usize {
        self.taps.len()
    }

    /// Two entries and the share of the second, for output `i`.
    pub(super) fn tap(&self, i: usize) -> (usize, usize, f32) {
        let (from, share) = self.taps[i];
        (from, (from + 1).min(self.last), share)
    }
}
