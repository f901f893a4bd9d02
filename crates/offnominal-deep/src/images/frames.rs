//! Images as numbers: made smaller by means over areas, and put on the scale that a network works in.

use offnominal_core::prelude::*;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// How images are looked at.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Look {
    /// Rows and columns that images are resized to; as they are if there is none.
    pub side: Option<usize>,
    /// What the numbers mean.
    pub scale: Scale,
}

/// What the numbers of an image mean.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Scale {
    /// The difference from the mean image, in deviations: what never changes need not be learned.
    Centred,
    /// From −1 to 1.
    Symmetric,
    /// From 0 to 1.
    Unit,
}

/// Means over areas, along one axis: for each new pixel the old ones that it covers, and how much of each.
#[derive(Debug, Clone)]
struct Cover(Vec<Vec<(usize, f32)>>);

impl Cover {
    fn new(from: usize, to: usize) -> Cover {
        let size = from as f64 / to as f64;
        let of = |i: usize| {
            let (start, end) = (i as f64 * size, (i + 1) as f64 * size);
            let share = |j: usize| ((end.min(j as f64 + 1.0) - start.max(j as f64)) / size) as f32;
            let last = (end.ceil() as usize).min(from);
            (start as usize..last).map(|j| (j, share(j))).filter(|(_, share)| *share > 1e-6).collect()
        };
        Cover((0..to).map(of).collect())
    }
}

/// Makes images of one size from those of another.
#[derive(Debug, Clone)]
pub struct Shrink {
    columns_before: usize,
    rows: Cover,
    columns: Cover,
    is_needed: bool,
}

impl Shrink {
    /// From rows and columns to others.
    pub fn new(from: [usize; 2], to: [usize; 2]) -> Shrink {
        let (rows, columns) = (Cover::new(from[0], to[0]), Cover::new(from[1], to[1]));
        Shrink { columns_before: from[1], rows, columns, is_needed: from != to }
    }

    /// An image `[rows, columns, 3]` in the new size.
    pub fn apply<'a>(&self, rgb: &'a [u8]) -> Cow<'a, [u8]> {
        if !self.is_needed {
            return Cow::Borrowed(rgb);
        }
        let mut out = Vec::with_capacity(self.rows.0.len() * self.columns.0.len() * 3);
        let mut line = vec![0.0_f32; self.columns_before * 3];
        for row in &self.rows.0 {
            line.fill(0.0);
            for &(j, share) in row {
                let old = &rgb[j * line.len()..(j + 1) * line.len()];
                line.iter_mut().zip(old).for_each(|(sum, &v)| *sum += share * f32::from(v));
            }
            for column in &self.columns.0 {
                for colour in 0..3 {
                    let mean: f32 = column.iter().map(|&(j, share)| share * line[3 * j + colour]).sum();
                    out.push((mean + 0.5) as u8);
                }
            }
        }
        Cow::Owned(out)
    }

    /// The images of a video in the new size, one after another.
    pub fn video<'a>(&self, video: &'a Video) -> Cow<'a, [u8]> {
        if !self.is_needed {
            return Cow::Borrowed(&video.frames);
        }
        Cow::Owned((0..=video.len()).flat_map(|t| self.apply(video.frame(t)).into_owned()).collect())
    }

    /// An image of the new size in the old one: every old pixel takes the new one that it lies in.
    pub fn undo(&self, small: &[u8], size: [usize; 2], out: &mut Vec<u8>) {
        let [rows, columns] = [self.rows.0.len(), self.columns.0.len()];
        out.clear();
        for row in 0..size[0] {
            for column in 0..size[1] {
                let at = (row * rows / size[0]) * columns + column * columns / size[1];
                out.extend_from_slice(&small[3 * at..3 * at + 3]);
            }
        }
    }
}

/// Between bytes and a network's numbers: x = (v / 255 − mean) / unit.
#[derive(Debug, Clone, PartialEq)]
pub struct Scaling {
    /// What is taken away, `[3, rows, columns]`.
    pub mean: Vec<f32>,
    /// What one is, in parts of white.
    pub unit: f32,
}

impl Scaling {
    /// As the videos ask for; each is a row of images `[rows, columns, 3]` with so many numbers.
    pub fn new(scale: Scale, videos: &[Cow<'_, [u8]>], len: usize) -> Scaling {
        match scale {
            Scale::Unit => Scaling { mean: vec![0.0; len], unit: 1.0 },
            Scale::Symmetric => Scaling { mean: vec![0.5; len], unit: 0.5 },
            Scale::Centred => Scaling::centred(videos, len),
        }
    }

    fn centred(videos: &[Cow<'_, [u8]>], len: usize) -> Scaling {
        let (mut sum, mut squares, mut n) = (vec![0_u64; len], 0_u64, 0_u64);
        for frame in videos.iter().flat_map(|video| video.chunks_exact(len)) {
            n += 1;
            for (sum, &v) in sum.iter_mut().zip(frame) {
                *sum += u64::from(v);
                squares += u64::from(v) * u64::from(v);
            }
        }
        let n = n.max(1) as f64;
        let mean: Vec<f64> = sum.iter().map(|&s| s as f64 / n).collect();
        let power: f64 = mean.iter().map(|m| m * m).sum::<f64>() / len as f64;
        let variance = (squares as f64 / n / len as f64 - power).max(0.0);
        // A video in which nothing moves has no deviation; half a step of a byte keeps the numbers finite.
        let unit = (variance.sqrt().max(0.5) / 255.0) as f32;
        Scaling { mean: planes(len).map(|i| (mean[i] / 255.0) as f32).collect(), unit }
    }

    /// Adds the numbers of an image `[rows, columns, 3]`, as `[3, rows, columns]`.
    pub fn put(&self, rgb: &[u8], out: &mut Vec<f32>) {
        let numbers = planes(rgb.len()).map(|i| f32::from(rgb[i]) / 255.0);
        out.extend(numbers.zip(&self.mean).map(|(v, mean)| (v - mean) / self.unit));
    }

    /// The image `[rows, columns, 3]` of numbers `[3, rows, columns]`.
    pub fn image(&self, numbers: &[f32]) -> Vec<u8> {
        let n = numbers.len() / 3;
        let byte =
            |i: usize| ((numbers[i] * self.unit + self.mean[i]) * 255.0).round().clamp(0.0, 255.0) as u8;
        (0..n).flat_map(|pixel| [byte(pixel), byte(n + pixel), byte(2 * n + pixel)]).collect()
    }
}

/// Where the numbers of an image `[pixels, 3]` are, colour by colour.
fn planes(len: usize) -> impl Iterator<Item = usize> {
    (0..3).flat_map(move |colour| (colour..len).step_by(3))
}

/// Puts actions in units of their deviation; one that never changes says nothing.
#[derive(Debug, Clone, PartialEq)]
pub struct Commands {
    /// Of each.
    pub mean: Vec<f32>,
    /// One over the deviation of each, or zero.
    pub gain: Vec<f32>,
}

/// As far from its mean as an action can be, in deviations: what is farther would swamp the image.
const FARTHEST: f32 = 10.0;

impl Commands {
    /// Of these videos.
    pub fn new(videos: &[Video]) -> Commands {
        let width = videos[0].act_width;
        let (mut mean, mut gain) = (Vec::new(), Vec::new());
        for channel in 0..width {
            let all = || videos.iter().flat_map(|f| f.actions.iter().skip(channel).step_by(width));
            let n = all().count().max(1) as f64;
            let m = all().map(|&a| f64::from(a)).sum::<f64>() / n;
            let deviation = (all().map(|&a| (f64::from(a) - m).powi(2)).sum::<f64>() / n).sqrt();
            mean.push(m as f32);
            gain.push(if deviation > 1e-6 { (1.0 / deviation) as f32 } else { 0.0 });
        }
        Commands { mean, gain }
    }

    /// Adds the numbers of an action.
    pub fn put(&self, action: &[f32], out: &mut Vec<f32>) {
        let scaled = action.iter().zip(&self.mean).zip(&self.gain).map(|((a, mean), gain)| (a - mean) * gain);
        out.extend(scaled.map(|a| a.clamp(-FARTHEST, FARTHEST)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn areas_are_means_in_either_direction() {
        let grey = |v: &[u8]| v.iter().flat_map(|&v| [v; 3]).collect::<Vec<u8>>();
        let half = Shrink::new([2, 4], [1, 2]).apply(&grey(&[10, 20, 0, 0, 30, 40, 0, 100])).into_owned();
        assert_eq!(half, grey(&[25, 25]));
        // Of three pixels on two, each covers one and a half.
        let two_thirds = Shrink::new([1, 3], [1, 2]).apply(&grey(&[0, 90, 30])).into_owned();
        assert_eq!(two_thirds, grey(&[30, 50]));
        let twice = Shrink::new([1, 2], [2, 4]).apply(&grey(&[0, 90])).into_owned();
        assert_eq!(twice, grey(&[0, 0, 90, 90, 0, 0, 90, 90]));
        let mut back = Vec::new();
        Shrink::new([2, 4], [1, 2]).undo(&half, [2, 4], &mut back);
        assert_eq!(back, grey(&[25; 8]));
    }

    #[test]
    fn numbers_come_back_as_the_image() {
        let rgb: Vec<u8> = (0..2 * 2 * 3 * 5).map(|i| (i * 41 % 256) as u8).collect();
        let video = [Cow::Borrowed(&rgb[..])];
        for scale in [Scale::Centred, Scale::Symmetric, Scale::Unit] {
            let scaling = Scaling::new(scale, &video, 12);
            let mut numbers = Vec::new();
            scaling.put(&rgb[12..24], &mut numbers);
            assert_eq!(scaling.image(&numbers), rgb[12..24]);
        }
        let scaling = Scaling::new(Scale::Centred, &video, 12);
        let mut all = Vec::new();
        rgb.chunks(12).for_each(|frame| scaling.put(frame, &mut all));
        let power = all.iter().map(|x| x * x).sum::<f32>() / all.len() as f32;
        assert!((power - 1.0).abs() < 1e-4 && all.iter().sum::<f32>().abs() < 1e-3, "{power}");
    }

    #[test]
    fn commands_that_never_change_say_nothing() {
        let video = Video::new((1, 1), vec![0; 9], vec![1.0, 5.0, 3.0, 5.0], 2);
        let mut out = Vec::new();
        Commands::new(&[video]).put(&[3.0, 7.0], &mut out);
        assert_eq!(out, [1.0, 0.0]);
    }
}
