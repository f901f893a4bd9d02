//! A contact sheet: frames in rows and columns, each below its name.

mod glyphs;

use crate::image_file::small_colours;
use anyhow::Result;
use offnominal_core::frame::Frame;

/// A frame with what stands above it, line by line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Captioned {
    /// The lines; letters become small ones.
    pub lines: Vec<String>,
    /// The frame.
    pub frame: Frame,
}

/// Pixels between neighbours, and around the sheet.
const GAP: usize = 8;
/// From a line of text to the next.
const LINE: usize = glyphs::HEIGHT + 2;
const PAPER: [u8; 3] = [255; 3];
const INK: [u8; 3] = [40, 42, 46];

/// The sheet as PNG, without loss.
///
/// # Errors
/// If it is larger than a PNG can be.
pub fn png(panels: &[Captioned], columns: usize) -> Result<Vec<u8>> {
    let sheet = sheet(panels, columns);
    small_colours(sheet.width, sheet.height, &sheet.rgb)
}

/// The sheet. All cells are as large as the largest frame and the longest line need.
pub fn sheet(panels: &[Captioned], columns: usize) -> Frame {
    let columns = columns.clamp(1, panels.len().max(1));
    let most = |size: &dyn Fn(&Captioned) -> usize| panels.iter().map(size).max().unwrap_or(0);
    let text = most(&|p| p.lines.iter().map(|line| glyphs::width(line)).max().unwrap_or(0));
    let lines = most(&|p| p.lines.len());
    let width = most(&|p| p.frame.width).max(text) + GAP;
    let height = lines * LINE + most(&|p| p.frame.height) + GAP;
    let mut sheet = Frame::new(columns * width + GAP, panels.len().div_ceil(columns) * height + GAP);
    sheet.clear(PAPER);
    for (i, panel) in panels.iter().enumerate() {
        let (left, top) = (GAP + i % columns * width, GAP + i / columns * height);
        // Lines stand at the frame: where others have more of them, the first rows stay empty.
        let first = top + (lines - panel.lines.len()) * LINE;
        for (at, line) in panel.lines.iter().enumerate() {
            write(&mut sheet, (left, first + at * LINE), line);
        }
        paste(&mut sheet, (left, top + lines * LINE), &panel.frame);
    }
    sheet
}

fn write(sheet: &mut Frame, (left, top): (usize, usize), line: &str) {
    for (column, row) in glyphs::dots(line) {
        sheet.paint(left + column, top + row, INK, 0);
    }
}

fn paste(sheet: &mut Frame, (left, top): (usize, usize), frame: &Frame) {
    for (row, line) in frame.rgb.chunks_exact(3 * frame.width.max(1)).enumerate() {
        let at = 3 * ((top + row) * sheet.width + left);
        sheet.rgb[at..at + line.len()].copy_from_slice(line);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn captioned(lines: &[&str], colour: [u8; 3]) -> Captioned {
        let mut frame = Frame::new(20, 10);
        frame.clear(colour);
        Captioned { lines: lines.iter().map(ToString::to_string).collect(), frame }
    }

    #[test]
    fn every_frame_stands_in_its_cell_below_its_lines() {
        let colours = [[200, 0, 0], [0, 200, 0], [0, 0, 200]];
        let panels = [
            captioned(&["a", "b"], colours[0]),
            captioned(&["wide-caption"], colours[1]),
            captioned(&[], colours[2]),
        ];
        let sheet = sheet(&panels, 2);
        // Twelve letters are wider than a frame: 71 pixels; two lines are 22 high.
        assert_eq!((sheet.width, sheet.height), (2 * 79 + 8, 2 * 40 + 8));
        let at = |column: usize, row: usize| &sheet.rgb[3 * (row * sheet.width + column)..][..3];
        for (colour, (column, row)) in colours.iter().zip([(8, 30), (87, 30), (8, 70)]) {
            assert_eq!(at(column, row), colour);
            assert_eq!(at(column + 19, row + 9), colour);
            assert_ne!(at(column, row - 1), colour);
            assert_ne!(at(column + 20, row), colour);
        }
        // The only line of the second frame is the one next to it.
        let has_ink = |rows: std::ops::Range<usize>, columns: std::ops::Range<usize>| {
            rows.into_iter().any(|row| columns.clone().any(|column| at(column, row) == INK))
        };
        assert!(has_ink(8..19, 8..79) && has_ink(19..30, 87..158));
        assert!(!has_ink(8..19, 87..158) && !has_ink(48..70, 8..79));
    }

    #[test]
    fn a_sheet_is_no_wider_than_its_frames() {
        let panels = [captioned(&["a"], [1, 2, 3])];
        assert_eq!(sheet(&panels, 5), sheet(&panels, 1));
        assert!(png(&panels, 1).is_ok() && png(&[], 1).is_ok());
    }
}
