//! What comes from lens and sensor geometry: zooming while exposing, local displacements, fewer pixels.

use super::filter::{Border, Separable, Size, Stretch};
use super::{Effect, between};

/// The mean of the image and of its centre enlarged by 1, 1 + step, …
pub(super) fn zoom(severity: f64, size: Size) -> Effect {
    // Step and largest factor, the latter as the package's floating-point ranges end.
    let table = [[0.01, 1.11], [0.01, 1.15], [0.02, 1.2], [0.02, 1.24], [0.03, 1.3]];
    let [step, last] = between(&table, severity);
    let n = ((last - 1.0) / step).round() as usize + 1;
    // To the last bit the step between 1 and 1 + step: a factor on the edge of a pixel decides how wide a layer is.
    let factor = |i: usize| 1.0 + i as f64 * ((1.0 + step) - 1.0);
    let layer = |i| [size.height, size.width].map(|side| enlarged(side, factor(i), side));
    let (layers, mut sum): (Vec<_>, _) = ((0..n).map(layer).collect(), vec![0.0; size.len()]);
    Box::new(move |levels, _| {
        sum.copy_from_slice(levels);
        for [down, across] in &layers {
            stretch(levels, size, down, across, |at, value| sum[at] += value);
        }
        let share = 1.0 / (layers.len() + 1) as f32;
        levels.iter_mut().zip(&sum).for_each(|(x, s)| *x = s * share);
    })
}

/// The middle of a side, enlarged by a factor; the first `keep` points of it.
pub(super) fn enlarged(side: usize, factor: f64, keep: usize) -> Stretch {
    let middle = (side as f64 / factor).ceil() as usize;
    let out = (middle as f64 * factor).round_ties_even() as usize;
    Stretch::new((side - middle) / 2, middle, out, keep)
}

/// Gives every number of a stretched image, with its position in an image of that size, to `put`.
pub(super) fn stretch(
    levels: &[f32],
    size: Size,
    down: &Stretch,
    across: &Stretch,
    mut put: impl FnMut(usize, f32),
) {
    let (stride, planes) = (size.stride(), size.planes);
    let mut at = 0;
    for row in 0..down.len() {
        let (upper, lower, v) = down.tap(row);
        let (upper, lower) = (&levels[upper * stride..][..stride], &levels[lower * stride..][..stride]);
        for column in 0..across.len() {
            let (left, right, u) = across.tap(column);
            for plane in 0..planes {
                let (l, r) = (left * planes + plane, right * planes + plane);
                let (top, bottom) =
                    (upper[l] + u * (upper[r] - upper[l]), lower[l] + u * (lower[r] - lower[l]));
                put(at, top + v * (bottom - top));
                at += 1;
            }
        }
    }
}

/// Every pixel read from a place nearby; the displacements are smoothed uniform noise.
pub(super) fn elastic(severity: f64, size: Size) -> Effect {
    let [alpha] = between(&[[12.5], [16.25], [21.25], [25.0], [30.0]], severity);
    let strength = (alpha * 0.005 * size.height as f64) as f32;
    let sigma = [size.height, size.width].map(|side| 0.01 * side as f64);
    let mut smooth = Separable::bell(sigma, 3.0, Border::Mirror, size.flat());
    let mut shifts = [(); 2].map(|()| vec![0.0; size.pixels()]);
    let mut source = vec![0.0; size.len()];
    Box::new(move |levels, rng| {
        for field in &mut shifts {
            field.iter_mut().for_each(|d| *d = strength * rng.range(-1.0, 1.0) as f32);
            smooth.apply(field);
        }
        source.copy_from_slice(levels);
        for (i, pixel) in levels.chunks_exact_mut(size.planes).enumerate() {
            let row = (i / size.width) as f32 + shifts[0][i];
            let column = (i % size.width) as f32 + shifts[1][i];
            pixel
                .iter_mut()
                .enumerate()
                .for_each(|(plane, x)| *x = sample(&source, size, row, column, plane));
        }
    })
}

/// The source at a place between pixels, mirrored beyond the border.
fn sample(source: &[f32], Size { height, width, planes }: Size, row: f32, column: f32, plane: usize) -> f32 {
    let (top, left) = (row.floor(), column.floor());
    let at = |r: isize, c: isize| {
        let place = Border::Mirror.index(r, height) * width + Border::Mirror.index(c, width);
        source[place * planes + plane]
    };
    let (r, c, u) = (top as isize, left as isize, column - left);
    let line = |r| at(r, c) + u * (at(r, c + 1) - at(r, c));
    line(r) + (row - top) * (line(r + 1) - line(r))
}

/// Means over boxes, each drawn as one large pixel. Means are rounded to whole levels along each axis, as Pillow does.
pub(super) fn pixelate(severity: f64, size: Size) -> Effect {
    let [share] = between(&[[0.6], [0.5], [0.4], [0.3], [0.25]], severity);
    let boxes = |side: usize| Boxes::new(side, ((side as f64 * share) as usize).max(1));
    let (down, across) = (boxes(size.height), boxes(size.width));
    let (planes, columns) = (size.planes, across.spans.len());
    let mut narrow = vec![0.0; size.height * columns * planes];
    let mut small = vec![0.0; down.spans.len() * columns * planes];
    Box::new(move |levels, _| {
        for (row, level) in levels.chunks_exact(size.stride()).enumerate() {
            for (column, &(from, to)) in across.spans.iter().enumerate() {
                for plane in 0..planes {
                    let inside = (from..to).map(|c| level[c * planes + plane]);
                    narrow[(row * columns + column) * planes + plane] = rounded_mean(inside, to - from);
                }
            }
        }
        let stride = columns * planes;
        for (row, &(from, to)) in down.spans.iter().enumerate() {
            for at in 0..stride {
                let inside = (from..to).map(|r| narrow[r * stride + at]);
                small[row * stride + at] = rounded_mean(inside, to - from);
            }
        }
        for (i, pixel) in levels.chunks_exact_mut(planes).enumerate() {
            let (row, column) = (down.owner[i / size.width], across.owner[i % size.width]);
            pixel.copy_from_slice(&small[(row * columns + column) * planes..][..planes]);
        }
    })
}

fn rounded_mean(values: impl Iterator<Item = f32>, n: usize) -> f32 {
    (values.sum::<f32>() / n as f32 + 0.5).floor()
}

/// One axis cut into boxes. Where a pixel's centre lies on an edge, rounding decides: the arithmetic is Pillow's.
struct Boxes {
    /// First and one past the last entry whose centre lies in the box.
    spans: Vec<(usize, usize)>,
    /// The box that is drawn at each entry.
    owner: Vec<usize>,
}

impl Boxes {
    fn new(side: usize, n: usize) -> Boxes {
        let (scale, share) = (side as f64 / n as f64, n as f64 / side as f64);
        let span = |i: usize| {
            let centre = (i as f64 + 0.5) * scale;
            let edges = [centre - 0.5 * scale + 0.5, centre + 0.5 * scale + 0.5].map(|edge| edge as usize);
            let inside = |at: &usize| {
                let off = (*at as f64 - centre + 0.5) * (1.0 / scale);
                (edges[0]..edges[1]).contains(at) && off > -0.5 && off <= 0.5
            };
            let from = (0..side).find(inside).expect("a box is at least one entry wide");
            (from, from + (from..side).take_while(inside).count())
        };
        let place = |at: &mut f64, _| {
            let here = *at;
            *at += share;
            Some((here as usize).min(n - 1))
        };
        let owner = (0..side).scan(0.5 * share, place).collect();
        Boxes { spans: (0..n).map(span).collect(), owner }
    }
}
