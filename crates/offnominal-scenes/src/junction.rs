//! A side street that crosses the road, or ends there: on the left, on the right, or on both sides.

use crate::things::{between, chance, pick};
use offnominal_core::Rng;

/// A junction.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Junction {
    /// First and last z of the side street.
    pub span: [f32; 2],
    /// Whether it goes on to the left and to the right.
    pub sides: [bool; 2],
    /// Whether pedestrians have a marked crossing.
    zebra: bool,
}

/// Before a junction the road is marked as far as this, in metres.
const APPROACH_M: f32 = 6.0;

impl Junction {
    /// Draws a junction.
    pub fn draw(rng: &mut Rng) -> Junction {
        let start = between(rng, 12.0, 34.0);
        let sides = pick(rng, &[[true, true], [true, true], [true, false], [false, true]]);
        Junction { span: [start, start + between(rng, 6.5, 10.0)], sides, zebra: chance(rng, 0.5) }
    }

    /// Whether there is a side street on the side of a place that is so far to the right of the road's middle.
    #[inline]
    pub fn opens(&self, lateral: f32) -> bool {
        self.sides[usize::from(lateral > 0.0)]
    }

    /// How far a place is beyond the kerb of the side street; below 0 on it.
    #[inline]
    pub fn beyond(&self, z: f32) -> f32 {
        (self.span[0] - z).max(z - self.span[1])
    }

    /// The middle of the side street.
    pub fn middle(&self) -> f32 {
        0.5 * (self.span[0] + self.span[1])
    }

    /// The share of paint at a place in or near the junction; none where the road is marked as elsewhere.
    pub fn marking(&self, lateral: f32, z: f32, half_road: f32) -> Option<f32> {
        let (before, outside) = (self.beyond(z), lateral.abs() - half_road);
        if before < 0.0 {
            return Some(if outside > 0.0 { self.aside(lateral, z, outside) } else { 0.0 });
        }
        if outside > 0.0 || before > APPROACH_M {
            return None;
        }
        let stripes = lateral.rem_euclid(1.0) < 0.5 && (1.2..4.0).contains(&before);
        // Traffic keeps right: it stops in front of the junction in the right half, behind it in the left half.
        let stops = (4.7..5.1).contains(&before) && (lateral > 0.0) == (z < self.span[0]);
        Some(f32::from((self.zebra && stripes) || stops))
    }

    /// On the side street: a stop line and, farther out, dashes along the middle.
    fn aside(&self, lateral: f32, z: f32, outside: f32) -> f32 {
        let middle = z - self.middle();
        // Seen from the side street, right is toward the camera on the left of the road, and away from it on the right.
        let stops = (3.0..3.4).contains(&outside) && (middle * lateral) > 0.0;
        let dash = outside > 4.0 && middle.abs() < 0.07 && outside.rem_euclid(4.0) < 2.0;
        f32::from(stops || dash)
    }
}

/// Radius of a street corner.
const CORNER_M: f32 = 2.5;

/// Whether a place so far beyond both kerbs of a corner is still road, as the corner is round.
#[inline]
pub fn is_rounded(beyond: f32, aside: f32) -> bool {
    let (a, b) = (CORNER_M - beyond, CORNER_M - aside);
    a > 0.0 && b > 0.0 && a * a + b * b > CORNER_M * CORNER_M
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn corners_are_round() {
        assert!(is_rounded(0.1, 0.1) && !is_rounded(1.0, 1.0) && !is_rounded(2.6, 0.1));
    }

    #[test]
    fn the_inside_of_a_junction_is_bare_and_its_approach_is_marked() {
        let junction = Junction { span: [20.0, 28.0], sides: [true, false], zebra: true };
        assert!(junction.opens(-1.0) && !junction.opens(1.0));
        assert_eq!(junction.marking(1.2, 24.0, 4.0), Some(0.0));
        assert_eq!(junction.marking(1.2, 18.0, 4.0), Some(1.0));
        assert_eq!(
            (junction.marking(1.7, 15.1, 4.0), junction.marking(-1.3, 15.1, 4.0)),
            (Some(1.0), Some(0.0))
        );
        assert_eq!(junction.marking(1.2, 10.0, 4.0), None);
        assert_eq!(junction.beyond(24.0), -4.0);
    }
}
