//! JPEG and WebP files as colours.
//!
//! A turn that EXIF asks for is not made: labels belong to the pixels as they are stored.

use super::{Raster, Samples, require_size};
use anyhow::{Context, Result};
use image_webp::WebPDecoder;
use offnominal_core::limits::PIXELS;
use std::io::Cursor;
use zune_core::bytestream::ZCursor;
use zune_core::colorspace::ColorSpace;
use zune_core::options::DecoderOptions;
use zune_jpeg::JpegDecoder;

/// The first bytes of a JPEG file.
pub(super) const JPEG: &[u8] = b"\xff\xd8\xff";

/// Whether bytes begin as those of a WebP file.
pub(super) fn is_webp(bytes: &[u8]) -> bool {
    bytes.starts_with(b"RIFF") && bytes.get(8..12) == Some(b"WEBP")
}

/// The image in the bytes of a JPEG file; grey ones become colours.
pub(super) fn jpeg(bytes: &[u8]) -> Result<Raster> {
    let options = DecoderOptions::new_safe().jpeg_set_out_colorspace(ColorSpace::RGB);
    let mut decoder = JpegDecoder::new_with_options(ZCursor::new(bytes), options);
    decoder.decode_headers()?;
    let (width, height) = decoder.dimensions().context("no size")?;
    require_size(width as u64, height as u64)?;
    let data = decoder.decode()?;
    Ok(Raster { width, height, samples: Samples::Colours(data.as_chunks::<3>().0.to_vec()) })
}

/// The image, or the first one of several, in the bytes of a WebP file; what shines through is left out.
pub(super) fn webp(bytes: &[u8]) -> Result<Raster> {
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
    Ok(Raster { width: width as usize, height: height as usize, samples: Samples::Colours(colours) })
}
