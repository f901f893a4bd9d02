//! Where the car will drive: parallel to the edges of the road.
//!
//! Both edges and the path are x(z) = b + s z + c z², metres to the right at z metres ahead, with the same slope s and bend
//! c; the path begins at the camera, b = 0. So a car that stays beside its lines needs neither a map nor its steering.
//!
//! Edges are the outermost drivable pixels of each row, in metres on the ground. Slope and bend are those of weighted least
//! squares; a point weighs what a pixel is worth at its distance, and less the further it lies off the fit (Cauchy's
//! weights, three rounds), as where another car hides the edge.

use super::ground::{Ground, Place};
use std::ops::Range;

/// Deviation of an edge that is seen well, m.
const SCATTER_M: f64 = 0.4;
/// Rounds of weighting.
const ROUNDS: usize = 3;
/// Fewest points from which a path is fitted.
const FEWEST: usize = 6;
/// Share of the last frame's path that remains.
const KEPT: f64 = 0.7;

/// The path.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Path {
    slope: f64,
    bend: f64,
}

/// Points of the left and of the right edge.
type Edges = [Vec<Place>; 2];

impl Path {
    /// Metres to the right of the camera at a distance.
    pub fn right(&self, ahead: f64) -> f64 {
        ahead * (self.slope + ahead * self.bend)
    }

    /// The path of the next frame, in whose rows these pixels are drivable.
    pub fn next(self, drivable: &[bool], rows: &Range<usize>, ground: &Ground) -> Path {
        let Some(seen) = fitted(&edges(drivable, rows, ground), ground) else { return self };
        let mix = |old: f64, new: f64| KEPT * old + (1.0 - KEPT) * new;
        Path { slope: mix(self.slope, seen.slope), bend: mix(self.bend, seen.bend) }
    }
}

/// The outermost drivable pixels of each row; what reaches the border of the image shows no edge.
fn edges(drivable: &[bool], rows: &Range<usize>, ground: &Ground) -> Edges {
    let width = drivable.len() / rows.len();
    let mut edges = Edges::default();
    for (row, line) in rows.clone().zip(drivable.chunks_exact(width)) {
        let left = line.iter().position(|&is| is).filter(|&at| at > 0);
        let right = line.iter().rposition(|&is| is).map(|at| at + 1).filter(|&at| at < width);
        for (edge, column) in edges.iter_mut().zip([left, right]) {
            edge.extend(column.map(|at| ground.place([row as f64 + 0.5, at as f64])));
        }
    }
    edges
}

fn fitted(edges: &Edges, ground: &Ground) -> Option<Path> {
    if edges.iter().map(Vec::len).sum::<usize>() < FEWEST {
        return None;
    }
    let value = |&[ahead, _]: &Place| ground.pixels_per_m(ahead).powi(2);
    let mut weights = edges.each_ref().map(|edge| edge.iter().map(value).collect::<Vec<_>>());
    let mut path = None;
    for _ in 0..ROUNDS {
        let fit = least_squares(edges, &weights)?;
        for ((edge, weights), offset) in edges.iter().zip(&mut weights).zip(fit.offsets) {
            for (point, weight) in edge.iter().zip(weights) {
                let off = (point[1] - offset - fit.path.right(point[0])) / SCATTER_M;
                *weight = value(point) / (1.0 + off * off);
            }
        }
        path = Some(fit.path);
    }
    path
}

/// A path, and how far to the right of it each edge lies.
struct Fit {
    path: Path,
    offsets: [f64; 2],
}

/// Weighted least squares. Each edge has its own offset, so slope and bend are those of deviations from its means.
fn least_squares(edges: &Edges, weights: &[Vec<f64>; 2]) -> Option<Fit> {
    let means: Vec<[f64; 3]> = edges.iter().zip(weights).map(|(edge, w)| means(edge, w)).collect();
    let (mut square, mut cross) = ([0.0; 3], [0.0; 2]);
    for ((edge, weights), [z, zz, x]) in edges.iter().zip(weights).zip(&means) {
        for ([ahead, right], w) in edge.iter().zip(weights) {
            let (a, b, y) = (ahead - z, ahead * ahead - zz, right - x);
            square = [square[0] + w * a * a, square[1] + w * a * b, square[2] + w * b * b];
            cross = [cross[0] + w * a * y, cross[1] + w * b * y];
        }
    }
    let [aa, ab, bb] = square;
    let determinant = aa * bb - ab * ab;
    (determinant > 1e-9 * aa * bb).then(|| {
        let slope = (bb * cross[0] - ab * cross[1]) / determinant;
        let bend = (aa * cross[1] - ab * cross[0]) / determinant;
        let offsets = std::array::from_fn(|i| means[i][2] - slope * means[i][0] - bend * means[i][1]);
        Fit { path: Path { slope, bend }, offsets }
    })
}

/// Weighted means of z, z² and x; zeros without points.
fn means(edge: &[Place], weights: &[f64]) -> [f64; 3] {
    let total = weights.iter().sum::<f64>().max(f64::MIN_POSITIVE);
    let mean = |of: fn(&Place) -> f64| edge.iter().zip(weights).map(|(p, w)| w * of(p)).sum::<f64>() / total;
    [mean(|p| p[0]), mean(|p| p[0] * p[0]), mean(|p| p[1])]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Which pixels of the rows show a road between two offsets from a path.
    fn road(path: Path, offsets: [f64; 2], rows: &Range<usize>, ground: &Ground) -> Vec<bool> {
        let pixel = |row: usize, column: usize| {
            let [ahead, right] = ground.place([row as f64 + 0.5, column as f64 + 0.5]);
            (offsets[0]..offsets[1]).contains(&(right - path.right(ahead)))
        };
        rows.clone()
            .flat_map(|row| (0..256).map(move |column| (row, column)))
            .map(|(r, c)| pixel(r, c))
            .collect()
    }

    #[test]
    fn the_path_is_parallel_to_the_edges_even_where_a_car_hides_one() {
        let ground = Ground::new(90.0, 1.5, (256, 256));
        let rows = ground.rows(6.0, 256);
        let rows = rows.start + 4..rows.end;
        let truth = Path { slope: -0.03, bend: 0.002 };
        let mut drivable = road(truth, [-5.0, 9.0], &rows, &ground);
        let find =
            |drivable: &[bool]| (0..20).fold(Path::default(), |path, _| path.next(drivable, &rows, &ground));
        let near = |found: Path| {
            (6..40).all(|z| (found.right(f64::from(z)) - truth.right(f64::from(z))).abs() < 0.5)
        };
        assert!(near(find(&drivable)), "{:?}", find(&drivable));
        // A car in the rows that see 12 to 18 m ahead, over the left edge.
        let columns = drivable.len() / rows.len();
        for line in drivable.chunks_exact_mut(columns).skip(7).take(5) {
            line[..120].fill(false);
        }
        assert!(near(find(&drivable)), "{:?}", find(&drivable));
    }

    #[test]
    fn without_edges_the_path_stays() {
        let ground = Ground::new(90.0, 1.5, (64, 64));
        let path = Path { slope: 0.1, bend: 0.0 };
        assert_eq!(path.next(&[true; 64 * 8], &(34..42), &ground), path);
        assert_eq!(path.next(&[false; 64 * 8], &(34..42), &ground), path);
    }
}
