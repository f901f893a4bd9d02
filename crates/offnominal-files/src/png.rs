//! Frames as files: PNG of the colours, PNG of the class mask, GIF of an episode.
//!
//! All functions give bytes; [`crate::write::atomically`] puts them into files.

use anyhow::{Context, Result};
use offnominal_core::frame::Frame;

/// The colours of a frame as PNG, 24 bits a pixel, without loss.
///
/// # Errors
/// If the frame is empty or wider or higher than PNG allows.
pub fn png(frame: &Frame) -> Result<Vec<u8>> {
    encode(frame, png::ColorType::Rgb, None, &frame.rgb)
}

/// The class ids of a frame as PNG. The pixel values are the ids themselves; a palette gives each id a colour.
///
/// # Errors
/// If the frame is empty or wider or higher than PNG allows.
pub fn class_png(frame: &Frame) -> Result<Vec<u8>> {
    let palette = (0..=255).flat_map(class_colour).collect();
    encode(frame, png::ColorType::Indexed, Some(palette), &frame.classes)
}

/// The colour of a class id in masks: black for the background, distinct hues for neighbouring ids.
pub fn class_colour(class: u8) -> [u8; 3] {
    if class == 0 {
        return [0; 3];
    }
    // Turns by the golden ratio keep any number of hues apart; three levels of brightness keep similar hues apart.
    let hue = f64::from(class) * 0.618_033_988_75;
    let value = [230.0, 170.0, 255.0][usize::from(class) % 3];
    [0.0, 2.0 / 3.0, 1.0 / 3.0].map(|shift| {
        let wave = 0.5 + 0.5 * (std::f64::consts::TAU * (hue + shift)).cos();
        (value * (0.15 + 0.85 * wave)) as u8
    })
}

/// A frame made smaller by a whole factor: each pixel is the mean, in linear light, of a block. Drawing large and
/// shrinking gives smooth edges, whatever environment drew the frame. The class of a block is that of its middle.
///
/// # Panics
/// If the factor is 0 or does not divide width and height.
pub fn shrunk(frame: &Frame, by: usize) -> Frame {
    assert!(
        by > 0 && frame.width.is_multiple_of(by) && frame.height.is_multiple_of(by),
        "{by} does not divide the frame"
    );
    let mut small = Frame::new(frame.width / by, frame.height / by);
    for row in 0..small.height {
        for column in 0..small.width {
            let middle = (row * by + by / 2) * frame.width + column * by + by / 2;
            small.paint(column, row, block_mean(frame, column * by, row * by, by), frame.classes[middle]);
        }
    }
    small
}

fn block_mean(frame: &Frame, left: usize, top: usize, by: usize) -> [u8; 3] {
    let mut sum = [0_u32; 3];
    for row in top..top + by {
        let start = 3 * (row * frame.width + left);
        for pixel in frame.rgb[start..start + 3 * by].as_chunks::<3>().0 {
            sum = std::array::from_fn(|i| sum[i] + u32::from(pixel[i]).pow(2));
        }
    }
    sum.map(|sum| (f64::from(sum) / (by * by) as f64).sqrt().round() as u8)
}

fn encode(frame: &Frame, colour: png::ColorType, palette: Option<Vec<u8>>, data: &[u8]) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let write = || -> Result<(), png::EncodingError> {
        let mut encoder = png::Encoder::new(&mut bytes, frame.width as u32, frame.height as u32);
        encoder.set_color(colour);
        encoder.set_depth(png::BitDepth::Eight);
        if let Some(palette) = palette {
            encoder.set_palette(palette);
        }
        let mut writer = encoder.write_header()?;
        writer.write_image_data(data)?;
        writer.finish()
    };
    write().with_context(|| format!("cannot write a PNG of {} × {} pixels", frame.width, frame.height))?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame() -> Frame {
        let mut frame = Frame::new(6, 4);
        for at in 0..24 {
            frame.paint(at % 6, at / 6, [at as u8, 200 - at as u8, 7], (at % 5) as u8);
        }
        frame
    }

    fn decoded(bytes: &[u8]) -> (png::ColorType, Vec<u8>) {
        let mut reader = png::Decoder::new(std::io::Cursor::new(bytes)).read_info().unwrap();
        let mut data = vec![0; reader.output_buffer_size().unwrap()];
        let info = reader.next_frame(&mut data).unwrap();
        (info.color_type, data[..info.buffer_size()].to_vec())
    }

    #[test]
    fn a_png_holds_exactly_the_colours() {
        let frame = frame();
        assert_eq!(decoded(&png(&frame).unwrap()), (png::ColorType::Rgb, frame.rgb));
    }

    #[test]
    fn a_class_png_holds_the_ids_themselves() {
        let frame = frame();
        assert_eq!(decoded(&class_png(&frame).unwrap()), (png::ColorType::Indexed, frame.classes));
    }

    #[test]
    fn an_empty_frame_is_an_error_that_says_so() {
        let error = png(&Frame::new(0, 4)).unwrap_err();
        assert!(format!("{error:#}").contains("0 × 4"), "{error:#}");
    }

    #[test]
    fn the_first_classes_have_clearly_different_colours() {
        for a in 0..16 {
            for b in 0..a {
                let (a, b) = (class_colour(a), class_colour(b));
                let apart: i32 = (0..3).map(|i| (i32::from(a[i]) - i32::from(b[i])).abs()).sum();
                assert!(apart > 40, "{a:?} {b:?}");
            }
        }
    }

    #[test]
    fn shrinking_averages_light_and_keeps_flat_colours() {
        let mut frame = Frame::new(2, 2);
        frame.clear([90, 90, 90]);
        assert_eq!(shrunk(&frame, 2).rgb, [90, 90, 90]);
        frame.paint(0, 0, [180, 0, 90], 3);
        let expected = |c: f64| ((c * c + 3.0 * 8100.0) / 4.0_f64).sqrt().round() as u8;
        assert_eq!(shrunk(&frame, 2).rgb, [expected(180.0), expected(0.0), 90]);
    }
}
