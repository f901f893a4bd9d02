//! 255 colours for a video, by median cut, and the nearest one to any colour.
//!
//! Reference: Heckbert, Color image quantization for frame buffer display, SIGGRAPH 1982.

use offnominal_core::frame::Frame;
use std::collections::{BTreeMap, HashMap};

type Rgb = [u8; 3];

/// One index of a GIF's table stays free, for pixels that do not change.
const MOST: usize = 255;

/// A few colours that stand for all.
#[derive(Debug, Clone)]
pub struct Palette {
    colours: Vec<Rgb>,
    /// Whether the frames had no more colours than the palette.
    pub is_exact: bool,
    nearest: HashMap<Rgb, u8>,
}

impl Palette {
    /// The palette of some frames: their colours, if those are few enough.
    pub fn of(frames: &[Frame]) -> Palette {
        let mut counts = BTreeMap::<Rgb, u64>::new();
        for pixel in frames.iter().flat_map(|f| f.rgb.as_chunks().0) {
            *counts.entry(*pixel).or_default() += 1;
        }
        let is_exact = counts.len() <= MOST;
        let colours = median_cut(counts.into_iter().collect());
        Palette { colours, is_exact, nearest: HashMap::new() }
    }

    /// Red, green and blue of each entry, in one row.
    pub fn table(&self) -> Vec<u8> {
        self.colours.concat()
    }

    /// The index of the entry that is nearest to a colour.
    pub fn index(&mut self, colour: Rgb) -> u8 {
        *self.nearest.entry(colour).or_insert_with(|| {
            let entries = 0..self.colours.len();
            entries.min_by_key(|&i| distance(self.colours[i], colour)).unwrap_or(0) as u8
        })
    }

    /// Whether an entry is within a distance of a colour, channel by channel.
    pub fn is_within(&self, tolerance: u8, index: u8, colour: Rgb) -> bool {
        let entry = self.colours[usize::from(index)];
        (0..3).all(|i| entry[i].abs_diff(colour[i]) <= tolerance)
    }
}

fn distance(a: Rgb, b: Rgb) -> u32 {
    (0..3).map(|i| u32::from(a[i].abs_diff(b[i])).pow(2)).sum()
}

/// Splits the box with the largest spread of pixels until there are enough boxes, and takes their means.
fn median_cut(counts: Vec<(Rgb, u64)>) -> Vec<Rgb> {
    let mut boxes = vec![counts];
    while boxes.len() < MOST {
        let widest = (0..boxes.len()).max_by_key(|&i| spread(&boxes[i]).0).unwrap_or(0);
        let (worth, channel) = spread(&boxes[widest]);
        if worth == 0 {
            break;
        }
        let upper = split(&mut boxes[widest], channel);
        boxes.push(upper);
    }
    boxes.iter().filter(|b| !b.is_empty()).map(|b| mean(b)).collect()
}

/// What splitting a box is worth (its range, weighed by the root of its pixels), and along which channel.
fn spread(colours: &[(Rgb, u64)]) -> (u64, usize) {
    let range = |channel: usize| {
        let values = colours.iter().map(|(rgb, _)| u64::from(rgb[channel]));
        values.clone().max().unwrap_or(0) - values.min().unwrap_or(0)
    };
    let pixels: u64 = colours.iter().map(|(_, n)| n).sum();
    let (range, channel) = (0..3).map(|c| (range(c), c)).max().unwrap_or((0, 0));
    (range * range * (1 + pixels.isqrt()), channel)
}

/// Leaves the darker half of the pixels in the box and returns the lighter; neither is empty.
fn split(colours: &mut Vec<(Rgb, u64)>, channel: usize) -> Vec<(Rgb, u64)> {
    colours.sort_by_key(|&(rgb, _)| (rgb[channel], rgb));
    let half = colours.iter().map(|(_, n)| n).sum::<u64>() / 2;
    let mut seen = 0;
    let middle = colours.iter().position(|(_, n)| {
        seen += n;
        seen > half
    });
    colours.split_off(middle.unwrap_or(0).clamp(1, colours.len() - 1))
}

fn mean(colours: &[(Rgb, u64)]) -> Rgb {
    let pixels: u64 = colours.iter().map(|(_, n)| n).sum();
    std::array::from_fn(|i| {
        let sum: u64 = colours.iter().map(|(rgb, n)| u64::from(rgb[i]) * n).sum();
        ((sum + pixels / 2) / pixels) as u8
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_colours_are_kept_as_they_are() {
        let mut frame = Frame::new(20, 10);
        for at in 0..200 {
            frame.paint(at % 20, at / 20, [at as u8, 3, 255 - at as u8], 0);
        }
        let mut palette = Palette::of(&[frame.clone()]);
        assert!(palette.is_exact);
        for colour in frame.rgb.as_chunks().0 {
            let index = usize::from(palette.index(*colour));
            assert_eq!(palette.table()[3 * index..3 * index + 3], *colour);
        }
    }

    #[test]
    fn many_colours_are_all_near_an_entry() {
        let mut frame = Frame::new(64, 64);
        for at in 0..4096 {
            frame.paint(at % 64, at / 64, [(at % 64 * 4) as u8, (at / 64 * 4) as u8, 128], 0);
        }
        let mut palette = Palette::of(&[frame.clone()]);
        assert!(!palette.is_exact && palette.table().len() == 3 * MOST);
        for colour in frame.rgb.as_chunks().0 {
            let index = usize::from(palette.index(*colour));
            assert!(distance(palette.colours[index], *colour) < 2 * 12 * 12);
        }
    }

    #[test]
    fn no_frame_gives_no_colours() {
        assert!(Palette::of(&[]).table().is_empty());
    }
}
