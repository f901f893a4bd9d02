//! Discs seen from above: what the images of particles and of tracks are made of.

use super::vec2::Vec2;
use offnominal_core::frame::Frame;

/// How a disc is drawn.
pub(super) struct Style {
    pub class: u8,
    pub colour: [u8; 3],
    pub radius_m: f64,
}

/// From metres to pixels: the visible square is centred and fills the shorter side.
pub(super) struct View {
    pixels_per_m: f64,
    centre: Vec2,
    /// Whether pixels that a rim crosses are mixed; else their middle decides.
    has_soft_rims: bool,
}

impl View {
    /// The view of a square of half the given side around a place.
    pub(super) fn new(centre: Vec2, half_range_m: f64, has_soft_rims: bool, frame: &Frame) -> View {
        View {
            pixels_per_m: frame.width.min(frame.height) as f64 / (2.0 * half_range_m),
            centre,
            has_soft_rims,
        }
    }

    /// Draws a disc around a place.
    pub(super) fn disc(&self, at: Vec2, style: &Style, frame: &mut Frame) {
        let way = (at - self.centre) * self.pixels_per_m;
        let (column, row) = (frame.width as f64 / 2.0 + way.x, frame.height as f64 / 2.0 - way.y);
        let radius = style.radius_m * self.pixels_per_m;
        for y in covered(row, radius, frame.height) {
            for x in covered(column, radius, frame.width) {
                let inside = radius - (x as f64 + 0.5 - column).hypot(y as f64 + 0.5 - row);
                let coverage = match self.has_soft_rims {
                    true => (inside + 0.5).clamp(0.0, 1.0),
                    false => f64::from(inside >= 0.0),
                };
                blend(frame, (x, y), style, coverage);
            }
        }
    }
}

/// The pixels of one axis that a disc can reach.
fn covered(centre: f64, radius: f64, size: usize) -> std::ops::Range<usize> {
    // Casts saturate: what lies outside the image gives an empty range.
    ((centre - radius - 1.0).floor() as usize)..((centre + radius + 1.0).ceil() as usize).min(size)
}

/// Paints a pixel that is partly covered; it belongs to the class that covers at least half of it.
fn blend(frame: &mut Frame, (x, y): (usize, usize), style: &Style, coverage: f64) {
    if coverage == 0.0 {
        return;
    }
    if coverage == 1.0 {
        return frame.paint(x, y, style.colour, style.class);
    }
    let at = y * frame.width + x;
    let class = if coverage >= 0.5 { style.class } else { frame.classes[at] };
    let below: [u8; 3] = std::array::from_fn(|i| frame.rgb[3 * at + i]);
    let mix = |i: usize| f64::from(below[i]) * (1.0 - coverage) + f64::from(style.colour[i]) * coverage;
    frame.paint(x, y, std::array::from_fn(|i| mix(i).round() as u8), class);
}
