//! Colours that readers with any colour vision can tell apart, on white and on dark paper.
//!
//! Lines take the palette of Okabe and Ito (2008), without its yellow, which vanishes on white. The style sheet
//! holds the lighter shades for dark pages under the same numbers; the values here are what a chart shows when it
//! stands alone.

/// Colours of the detectors, by number.
const LINES: [&str; 7] = ["#0072b2", "#d55e00", "#009e73", "#b5528b", "#c98500", "#3d9fd8", "#4d4d4d"];

/// Dashes that tell detectors apart when the colours come round again.
const DASHES: [&str; 4] = ["", "7 3", "2 3", "9 3 2 3"];

/// Baselines are grey, and told apart by their dashes.
const BASELINE: &str = "#8a8a8a";

/// What a line is drawn with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pen {
    /// Its name in the style sheet, which knows the shade for dark pages.
    pub class: String,
    /// Its colour where there is no style sheet.
    pub colour: &'static str,
    /// Lengths of dashes and gaps; empty for a full line.
    pub dash: &'static str,
}

impl Pen {
    /// The pen of a detector; those of the first 28 differ.
    pub fn detector(number: usize) -> Pen {
        let colour = number % LINES.len();
        Pen {
            class: format!("c{colour}"),
            colour: LINES[colour],
            dash: DASHES[(number / LINES.len()) % DASHES.len()],
        }
    }

    /// The pen of a baseline.
    pub fn baseline(number: usize) -> Pen {
        Pen { class: "cb".into(), colour: BASELINE, dash: DASHES[1 + number % 2] }
    }
}

/// A colour of the heat map: −1 is worse than knowing nothing (orange), 0 neutral, 1 as good as can be (blue).
pub fn diverging(position: f64) -> String {
    const NEUTRAL: [f64; 3] = [246.0, 246.0, 243.0];
    const GOOD: [f64; 3] = [74.0, 154.0, 209.0];
    const BAD: [f64; 3] = [228.0, 132.0, 66.0];
    let end = if position < 0.0 { BAD } else { GOOD };
    let share = position.abs().min(1.0);
    let [r, g, b] = std::array::from_fn(|i| (NEUTRAL[i] + share * (end[i] - NEUTRAL[i])).round() as u8);
    format!("#{r:02x}{g:02x}{b:02x}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_scale_is_centred() {
        assert_eq!(diverging(0.0), "#f6f6f3");
        assert_eq!((diverging(1.0), diverging(5.0)), ("#4a9ad1".into(), "#4a9ad1".into()));
        assert_eq!(diverging(-1.0), "#e48442");
    }

    #[test]
    fn no_two_of_many_detectors_have_the_same_pen() {
        let pens: Vec<Pen> = (0..LINES.len() * DASHES.len()).map(Pen::detector).collect();
        assert!(pens.len() >= 16, "{}", pens.len());
        for (i, pen) in pens.iter().enumerate() {
            let same = pens[..i].iter().find(|p| p.colour == pen.colour && p.dash == pen.dash);
            assert_eq!(same, None, "detector {i}");
        }
    }

    #[test]
    fn lines_of_the_same_colour_differ_in_their_dashes() {
        let (a, b) = (Pen::detector(0), Pen::detector(LINES.len()));
        assert_eq!(a.colour, b.colour);
        assert_ne!(a.dash, b.dash);
    }
}
