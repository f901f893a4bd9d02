//! Where the colours of an image are: mass, middle and extent of each of a few kinds of colour.
//!
//! The colours of nominal images are grouped into K kinds; a pixel of colour c belongs to kind k by the share
//! w_k(c) ∝ exp(−‖c − c_k‖² / 2τ²). With m_k = Σ w_k, an image becomes m_k / N, the mean place of the kind, and the
//! deviations of its places, 5 numbers for each k. Things that are drawn in colours of their own are followed to
//! parts of a pixel, without having been named.
//!
//! Reference: in the spirit of the spatial features of Finn et al., ICRA 2016, with colours in the place of learned
//! filters.

use offnominal_core::Rng;

/// Kinds of colour.
const KINDS: usize = 8;
/// Numbers for each kind.
const NUMBERS: usize = 5;
/// τ, in levels of 256.
const SOFTNESS: f32 = 24.0;
/// Levels of a colour that are told apart, as a power of two.
const BITS: u32 = 5;
/// Mass, in pixels, that pulls the place of a kind to the middle of the image: none is undefined.
const PULL: f32 = 2.0;
/// Pixels on a side that are looked at.
const SIDE: usize = 128;
/// Rounds of the grouping.
const ROUNDS: usize = 12;

/// The shares of each colour.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Moments {
    /// `[2^(3 · BITS), KINDS]`.
    shares: Vec<[f32; KINDS]>,
}

fn index(pixel: [u8; 3]) -> usize {
    pixel.iter().fold(0, |at, &p| at << BITS | usize::from(p >> (8 - BITS)))
}

/// The middle of the colours with that index.
fn colour(index: usize) -> [f32; 3] {
    let mask = (1 << BITS) - 1;
    let step = f32::from(1_u8 << (8 - BITS));
    [2, 1, 0].map(|c| ((index >> (c * BITS) & mask) as f32 + 0.5) * step)
}

fn distance(a: [f32; 3], b: [f32; 3]) -> f32 {
    (0..3).map(|c| (a[c] - b[c]).powi(2)).sum()
}

impl Moments {
    /// Groups the colours of images; rare ones count more than their share, for things are smaller than the ground.
    pub fn fit<'a>(images: impl Iterator<Item = &'a [u8]>, rng: &mut Rng) -> Moments {
        let mut counts = vec![0_u64; 1 << (3 * BITS)];
        for image in images {
            image.as_chunks::<3>().0.iter().for_each(|&p| counts[index(p)] += 1);
        }
        let seen: Vec<([f32; 3], f32)> = counts
            .iter()
            .enumerate()
            .filter(|(_, n)| **n > 0)
            .map(|(i, &n)| (colour(i), (n as f32).sqrt()))
            .collect();
        let kinds = grouped(&seen, rng);
        let shares = (0..counts.len()).map(|i| {
            let mut shares = kinds.map(|kind| -distance(colour(i), kind) / (2.0 * SOFTNESS * SOFTNESS));
            let most = shares.iter().copied().fold(f32::NEG_INFINITY, f32::max);
            shares.iter_mut().for_each(|s| *s = (*s - most).exp());
            let sum: f32 = shares.iter().sum();
            shares.map(|s| s / sum)
        });
        Moments { shares: shares.collect() }
    }

    /// The numbers of an image `[height, width, 3]`.
    pub fn of(&self, image: &[u8], width: usize) -> Vec<f32> {
        let stride = (width / SIDE).max(1);
        let height = image.len() / (3 * width);
        let mut sums = [[0.0_f32; 5]; KINDS];
        for row in (0..height).step_by(stride) {
            let y = 2.0 * row as f32 / height as f32 - 1.0;
            // Sums of a row first: thousands of small numbers on one large sum would lose digits.
            let mut line = [[0.0_f32; 3]; KINDS];
            for column in (0..width).step_by(stride) {
                let at = 3 * (row * width + column);
                let x = 2.0 * column as f32 / width as f32 - 1.0;
                let shares = &self.shares[index([image[at], image[at + 1], image[at + 2]])];
                for (sums, share) in line.iter_mut().zip(shares) {
                    let along = share * x;
                    *sums = [sums[0] + share, sums[1] + along, sums[2] + along * x];
                }
            }
            for (sums, [mass, along, square]) in sums.iter_mut().zip(line) {
                let more = [mass, along, mass * y, square, mass * y * y];
                (0..5).for_each(|i| sums[i] += more[i]);
            }
        }
        let n = (height.div_ceil(stride) * width.div_ceil(stride)) as f32;
        sums.iter().flat_map(|sums| numbers(*sums, n)).collect()
    }
}

/// Mass, place and extent of a kind from its sums.
fn numbers([mass, x, y, xx, yy]: [f32; 5], n: f32) -> [f32; NUMBERS] {
    let (weight, middle) = (mass + PULL, [x, y].map(|v| v / (mass + PULL)));
    let extent = |square: f32, m: f32| (square / weight - m * m).max(0.0).sqrt();
    [mass / n, middle[0], middle[1], extent(xx, middle[0]), extent(yy, middle[1])]
}

/// Lloyd's grouping of weighted colours, begun with colours far from one another.
fn grouped(seen: &[([f32; 3], f32)], rng: &mut Rng) -> [[f32; 3]; KINDS] {
    let mut kinds = vec![seen[rng.below(seen.len())].0];
    while kinds.len() < KINDS {
        let gap = |c: &([f32; 3], f32)| {
            let near = kinds.iter().map(|&k| distance(c.0, k)).fold(f32::INFINITY, f32::min);
            near * c.1
        };
        let far = seen.iter().max_by(|a, b| gap(a).total_cmp(&gap(b)));
        kinds.push(far.map_or([0.0; 3], |c| c.0));
    }
    for _ in 0..ROUNDS {
        let mut sums = vec![([0.0_f32; 3], 0.0_f32); KINDS];
        for &(colour, weight) in seen {
            let nearest =
                (0..KINDS).min_by(|&a, &b| distance(colour, kinds[a]).total_cmp(&distance(colour, kinds[b])));
            let (sum, total) = &mut sums[nearest.unwrap_or(0)];
            (0..3).for_each(|c| sum[c] += weight * colour[c]);
            *total += weight;
        }
        for (kind, (sum, total)) in kinds.iter_mut().zip(sums) {
            if total > 0.0 {
                *kind = sum.map(|s| s / total);
            }
        }
    }
    std::array::from_fn(|k| kinds[k])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn image(x: f32, y: f32, side: usize) -> Vec<u8> {
        let inside = |i: usize| {
            let at = |v: usize| 2.0 * v as f32 / side as f32 - 1.0;
            (at(i % side) - x).hypot(at(i / side) - y) < 0.15
        };
        (0..side * side).flat_map(|i| if inside(i) { [220, 60, 50] } else { [250, 250, 250] }).collect()
    }

    #[test]
    fn a_disc_is_followed_to_parts_of_a_pixel() {
        let videos: Vec<Vec<u8>> = (0..9).map(|i| image(-0.4 + 0.1 * i as f32, 0.2, 64)).collect();
        let moments = Moments::fit(videos.iter().map(Vec::as_slice), &mut Rng::new(1));
        let found = |x: f32, y: f32| moments.of(&image(x, y, 64), 64);
        let (one, other) = (found(0.0, 0.0), found(0.3, -0.2));
        assert_eq!(one.len(), KINDS * NUMBERS);
        let disc = (0..KINDS).find(|k| (0.005..0.1).contains(&one[k * NUMBERS])).unwrap() * NUMBERS;
        assert!((other[disc + 1] - one[disc + 1] - 0.3).abs() < 0.02, "{one:?} {other:?}");
        assert!((other[disc + 2] - one[disc + 2] + 0.2).abs() < 0.02);
        assert!((one[disc + 3] - 0.075).abs() < 0.02, "half the radius");
    }

    #[test]
    fn larger_images_say_the_same() {
        let moments = Moments::fit([image(0.0, 0.0, 128)].iter().map(Vec::as_slice), &mut Rng::new(1));
        let (small, large) = (moments.of(&image(0.2, 0.1, 128), 128), moments.of(&image(0.2, 0.1, 256), 256));
        assert!(small.iter().zip(&large).all(|(a, b)| (a - b).abs() < 0.02), "{small:?} {large:?}");
    }
}
