//! PNG, JPEG and WebP files as colours, whatever their kind: palettes, grey, 16 bits.
//!
//! A turn that EXIF asks for is not made: labels belong to the pixels as they are stored.

use super::{Raster, require_size};
use anyhow::{Context, Result, bail};
use image_webp::WebPDecoder;
use offnominal_core::limits::PIXELS;
use std::io::Cursor;
use std::path::Path;
use zune_core::bytestream::ZCursor;
use zune_core::colorspace::ColorSpace;
use zune_core::options::DecoderOptions;
use zune_jpeg::JpegDecoder;

/// Reads a PNG, JPEG or WebP file, whatever its name ends in; for images, not for labels, which no lossy file keeps.
///
/// # Errors
/// If it cannot be read or is none of them.
pub fn read_picture(path: &Path) -> Result<Raster> {
    let bytes = crate::read::bytes(path)?;
    decode_picture(&bytes).with_context(|| expected(path))
}

/// Pixels per row and rows of such a file, by its head.
///
/// # Errors
/// As [`read_picture`].
pub fn size(path: &Path) -> Result<[usize; 2]> {
    let bytes = crate::read::bytes(path)?;
    size_of(&bytes).with_context(|| expected(path))
}

fn expected(path: &Path) -> String {
    format!("{}: expected a PNG, JPEG or WebP image", path.display())
}

/// The image in the bytes of a PNG, JPEG or WebP file.
///
/// # Errors
/// If they are none, or the image is too large.
pub fn decode_picture(bytes: &[u8]) -> Result<Raster> {
    match bytes {
        bytes if bytes.starts_with(JPEG) => jpeg(bytes),
        bytes if is_webp(bytes) => webp(bytes),
        bytes => png(bytes),
    }
}

fn size_of(bytes: &[u8]) -> Result<[usize; 2]> {
    let (width, height) = match bytes {
        bytes if bytes.starts_with(JPEG) => {
            let mut decoder = JpegDecoder::new(ZCursor::new(bytes));
            decoder.decode_headers()?;
            decoder.dimensions().context("no size")?
        }
        bytes if is_webp(bytes) => {
            let (width, height) = WebPDecoder::new(Cursor::new(bytes))?.dimensions();
            (width as usize, height as usize)
        }
        bytes => {
            let reader = png::Decoder::new(Cursor::new(bytes)).read_info()?;
            (reader.info().width as usize, reader.info().height as usize)
        }
    };
    require_size(width as u64, height as u64)?;
    Ok([width, height])
}

/// The colours of a PNG file: those of the palette where it has one, the upper eight bits of sixteen.
fn png(bytes: &[u8]) -> Result<Raster> {
    let limits = png::Limits { bytes: 1 << 30 };
    let mut decoder = png::Decoder::new_with_limits(Cursor::new(bytes), limits);
    decoder.set_transformations(png::Transformations::normalize_to_color8());
    let mut reader = decoder.read_info()?;
    require_size(reader.info().width.into(), reader.info().height.into())?;
    let mut data = vec![0; reader.output_buffer_size().context("too large")?];
    let info = reader.next_frame(&mut data)?;
    let data = &data[..info.buffer_size()];
    let colours = match info.color_type {
        png::ColorType::Grayscale => data.iter().map(|&v| [v; 3]).collect(),
        png::ColorType::GrayscaleAlpha => data.as_chunks::<2>().0.iter().map(|p| [p[0]; 3]).collect(),
        png::ColorType::Rgb => data.as_chunks::<3>().0.to_vec(),
        png::ColorType::Rgba => data.as_chunks::<4>().0.iter().map(|p| [p[0], p[1], p[2]]).collect(),
        png::ColorType::Indexed => bail!("a palette that was not expanded"),
    };
    let (width, height) = (info.width as usize, info.height as usize);
    Ok(Raster::of_colours(width, height, colours))
}

/// The first bytes of a JPEG file.
const JPEG: &[u8] = b"\xff\xd8\xff";

/// Whether bytes begin as those of a WebP file.
fn is_webp(bytes: &[u8]) -> bool {
    bytes.starts_with(b"RIFF") && bytes.get(8..12) == Some(b"WEBP")
}

/// The image in the bytes of a JPEG file; grey ones become colours.
fn jpeg(bytes: &[u8]) -> Result<Raster> {
    let options = DecoderOptions::new_safe().jpeg_set_out_colorspace(ColorSpace::RGB);
    let mut decoder = JpegDecoder::new_with_options(ZCursor::new(bytes), options);
    decoder.decode_headers()?;
    let (width, height) = decoder.dimensions().context("no size")?;
    require_size(width as u64, height as u64)?;
    let data = decoder.decode()?;
    Ok(Raster::of_colours(width, height, data.as_chunks::<3>().0.to_vec()))
}

/// The image, or the first one of several, in the bytes of a WebP file; what shines through is left out.
fn webp(bytes: &[u8]) -> Result<Raster> {
    let mut decoder = WebPDecoder::new(Cursor::new(bytes))?;
    let (width, height) = decoder.dimensions();
    require_size(width.into(), height.into())?;
    decoder.set_memory_limit(8 * PIXELS);
    let mut data = vec![0; decoder.output_buffer_size().context("too large")?];
    decoder.read_image(&mut data)?;
    let colours = if decoder.has_alpha() {
        data.as_chunks::<4>().0.iter().map(|p| [p[0], p[1], p[2]]).collect()
    } else {
        data.as_chunks::<3>().0.to_vec()
    };
    Ok(Raster::of_colours(width as usize, height as usize, colours))
}
