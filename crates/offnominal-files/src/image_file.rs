//! Images as pixels: colours and labels of one or two bytes of PNG files, colours of JPEG and WebP files.

mod picture;

use anyhow::{Context, Result, bail, ensure};
use offnominal_core::limits::PIXELS;
use std::collections::BTreeSet;
use std::path::Path;

pub use picture::{decode_picture, read_picture, size};

/// The content of an image file.
#[derive(Debug, Clone, PartialEq)]
pub struct Raster {
    /// Pixels per row.
    pub width: usize,
    /// Rows.
    pub height: usize,
    /// The samples.
    pub samples: Samples,
    /// The colours that numbers stand for; none of grey levels.
    pub palette: Vec<[u8; 3]>,
}

/// What a pixel of a file holds.
#[derive(Debug, Clone, PartialEq)]
pub enum Samples {
    /// One number: a grey level or the index of a palette's colour.
    Numbers(Vec<u16>),
    /// Red, green and blue.
    Colours(Vec<[u8; 3]>),
}

/// Reads a PNG file.
///
/// # Errors
/// If it cannot be read or is no PNG.
pub fn read(path: &Path) -> Result<Raster> {
    let bytes = crate::read::bytes(path)?;
    decode(&bytes).with_context(|| format!("{}: expected a PNG image", path.display()))
}

/// The image in the bytes of a PNG file.
///
/// # Errors
/// If it is no PNG, of a kind that is not read, or too large.
pub fn decode(bytes: &[u8]) -> Result<Raster> {
    let mut decoder =
        png::Decoder::new_with_limits(std::io::Cursor::new(bytes), png::Limits { bytes: 1 << 30 });
    // Palettes are kept as indices; fewer bits than a byte are not.
    decoder.set_transformations(png::Transformations::IDENTITY);
    let mut reader = decoder.read_info()?;
    check(reader.info())?;
    let palette = reader.info().palette.as_deref().unwrap_or_default().as_chunks().0.to_vec();
    let mut data = vec![0; reader.output_buffer_size().context("too large")?];
    let info = reader.next_frame(&mut data)?;
    data.truncate(info.buffer_size());
    let samples = match (info.color_type, info.bit_depth) {
        (png::ColorType::Grayscale | png::ColorType::Indexed, png::BitDepth::Eight) => {
            Samples::Numbers(data.iter().map(|&v| u16::from(v)).collect())
        }
        (png::ColorType::Grayscale, png::BitDepth::Sixteen) => {
            Samples::Numbers(data.as_chunks::<2>().0.iter().map(|&b| u16::from_be_bytes(b)).collect())
        }
        (png::ColorType::Rgb, png::BitDepth::Eight) => Samples::Colours(data.as_chunks::<3>().0.to_vec()),
        (png::ColorType::Rgba, png::BitDepth::Eight) => {
            let pixels = data.as_chunks::<4>().0;
            let shines = pixels.iter().position(|p| p[3] < 255);
            ensure!(
                shines.is_none(),
                "expected colours that hide what is behind them, found some that do not"
            );
            Samples::Colours(pixels.iter().map(|p| [p[0], p[1], p[2]]).collect())
        }
        (kind, depth) => {
            bail!("expected 8 bits a channel or 16 bits of grey, found {kind:?} of {depth:?} bits")
        }
    };
    let palette = if info.color_type == png::ColorType::Indexed { palette } else { Vec::new() };
    Ok(Raster { width: info.width as usize, height: info.height as usize, samples, palette })
}

/// Requires of a header, before anything is allocated, that the image can be read.
fn check(info: &png::Info<'_>) -> Result<()> {
    use png::{BitDepth, ColorType};
    require_size(info.width.into(), info.height.into())?;
    let (kind, depth) = (info.color_type, info.bit_depth);
    let is_known = depth == BitDepth::Eight && kind != ColorType::GrayscaleAlpha
        || (kind, depth) == (ColorType::Grayscale, BitDepth::Sixteen);
    ensure!(is_known, "expected 8 bits a channel or 16 bits of grey, found {kind:?} of {depth:?} bits");
    Ok(())
}

/// Requires that an image is not too large.
fn require_size(width: u64, height: u64) -> Result<()> {
    let pixels = width.checked_mul(height).filter(|&n| n <= PIXELS as u64);
    ensure!(pixels.is_some(), "expected at most {PIXELS} pixels, found {width} × {height}");
    Ok(())
}

impl Raster {
    fn of_colours(width: usize, height: usize, colours: Vec<[u8; 3]>) -> Raster {
        Raster { width, height, samples: Samples::Colours(colours), palette: Vec::new() }
    }

    /// The colours, `[height, width, 3]`; numbers become grey.
    pub fn rgb(&self) -> Vec<u8> {
        match &self.samples {
            Samples::Colours(colours) => colours.as_flattened().to_vec(),
            Samples::Numbers(numbers) => numbers.iter().flat_map(|&n| [n.min(255) as u8; 3]).collect(),
        }
    }
}

/// Pixels as a PNG file.
///
/// # Errors
/// If the image is empty or too large.
pub fn encode(
    width: usize,
    height: usize,
    kind: png::ColorType,
    depth: png::BitDepth,
    data: &[u8],
) -> Result<Vec<u8>> {
    compressed((width, height), (kind, depth), &[], png::Compression::Fast, data)
}

fn compressed(
    (width, height): (usize, usize),
    (kind, depth): (png::ColorType, png::BitDepth),
    palette: &[u8],
    effort: png::Compression,
    data: &[u8],
) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let mut write = || -> Result<(), png::EncodingError> {
        let mut encoder = png::Encoder::new(&mut bytes, width as u32, height as u32);
        encoder.set_color(kind);
        encoder.set_depth(depth);
        encoder.set_compression(effort);
        if !palette.is_empty() {
            encoder.set_palette(palette);
        }
        let mut writer = encoder.write_header()?;
        writer.write_image_data(data)?;
        writer.finish()
    };
    write().with_context(|| format!("cannot write a PNG of {width} × {height} pixels"))?;
    Ok(bytes)
}

/// Bytes of grey as PNG.
///
/// # Errors
/// As [`encode`].
pub fn grey(width: usize, height: usize, values: &[u8]) -> Result<Vec<u8>> {
    encode(width, height, png::ColorType::Grayscale, png::BitDepth::Eight, values)
}

/// Two-byte numbers as PNG.
///
/// # Errors
/// As [`encode`].
pub fn grey16(width: usize, height: usize, values: impl Iterator<Item = u16>) -> Result<Vec<u8>> {
    let data: Vec<u8> = values.flat_map(u16::to_be_bytes).collect();
    encode(width, height, png::ColorType::Grayscale, png::BitDepth::Sixteen, &data)
}

/// Colours as PNG.
///
/// # Errors
/// As [`encode`].
pub fn colours(width: usize, height: usize, rgb: &[u8]) -> Result<Vec<u8>> {
    encode(width, height, png::ColorType::Rgb, png::BitDepth::Eight, rgb)
}

/// Colours as a PNG that takes longer to write and is smaller, without loss: of one byte a pixel, where the image is
/// grey or has at most 256 colours.
///
/// # Errors
/// As [`encode`].
pub fn small_colours(width: usize, height: usize, rgb: &[u8]) -> Result<Vec<u8>> {
    let pixels = rgb.as_chunks::<3>().0;
    let write = |kind, palette: &[u8], data: &[u8]| {
        let kind = (kind, png::BitDepth::Eight);
        compressed((width, height), kind, palette, png::Compression::High, data)
    };
    if pixels.iter().all(|[r, g, b]| r == g && g == b) {
        let levels: Vec<u8> = pixels.iter().map(|p| p[0]).collect();
        return write(png::ColorType::Grayscale, &[], &levels);
    }
    let colours: BTreeSet<[u8; 3]> = pixels.iter().copied().collect();
    let colours: Vec<[u8; 3]> = colours.into_iter().collect();
    if colours.len() > 256 {
        return write(png::ColorType::Rgb, &[], rgb);
    }
    let place = |p| colours.partition_point(|c| c < p) as u8;
    let places: Vec<u8> = pixels.iter().map(place).collect();
    write(png::ColorType::Indexed, colours.as_flattened(), &places)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_colours_come_back() {
        let raster = decode(&grey(3, 2, &[0, 1, 2, 3, 254, 255]).unwrap()).unwrap();
        assert_eq!(
            raster,
            Raster {
                width: 3,
                height: 2,
                samples: Samples::Numbers(vec![0, 1, 2, 3, 254, 255]),
                palette: Vec::new()
            }
        );
        let raster = decode(&grey16(2, 1, [7, 40_000].into_iter()).unwrap()).unwrap();
        assert_eq!(raster.samples, Samples::Numbers(vec![7, 40_000]));
        let raster = decode(&colours(1, 2, &[1, 2, 3, 4, 5, 6]).unwrap()).unwrap();
        assert_eq!((raster.rgb(), raster.height), (vec![1, 2, 3, 4, 5, 6], 2));
    }

    /// The colours of a PNG file, by the decoder's own way to expand palettes.
    fn expanded(bytes: &[u8]) -> (png::ColorType, Vec<u8>) {
        let mut decoder = png::Decoder::new(std::io::Cursor::new(bytes));
        decoder.set_transformations(png::Transformations::EXPAND);
        let mut reader = decoder.read_info().unwrap();
        let kind = reader.info().color_type;
        let mut data = vec![0; reader.output_buffer_size().unwrap()];
        reader.next_frame(&mut data).unwrap();
        (kind, data)
    }

    #[test]
    fn small_files_have_the_same_colours() {
        let of =
            |pixels: &[[u8; 3]]| expanded(&small_colours(pixels.len(), 1, pixels.as_flattened()).unwrap());
        assert_eq!(of(&[[7; 3], [0; 3], [9; 3]]), (png::ColorType::Grayscale, vec![7, 0, 9]));
        let few = [[7, 8, 9], [0, 0, 0], [7, 8, 9], [255, 0, 1]];
        assert_eq!(of(&few), (png::ColorType::Indexed, few.as_flattened().to_vec()));
        let many: Vec<[u8; 3]> = (0..300_u16).map(|i| [i as u8, (i >> 8) as u8, 5]).collect();
        assert_eq!(of(&many), (png::ColorType::Rgb, many.as_flattened().to_vec()));
        assert_eq!(of(&many[..256]).0, png::ColorType::Indexed);
    }

    /// The header of an image of that size, with no image after it.
    fn header(width: u32, height: u32) -> Vec<u8> {
        let mut bytes = grey(1, 1, &[0]).unwrap();
        bytes[16..20].copy_from_slice(&width.to_be_bytes());
        bytes[20..24].copy_from_slice(&height.to_be_bytes());
        let sum = crc32(&bytes[12..29]);
        bytes[29..33].copy_from_slice(&sum.to_be_bytes());
        bytes
    }

    fn crc32(bytes: &[u8]) -> u32 {
        let next = |sum: u32| sum >> 1 ^ if sum & 1 == 1 { 0xedb8_8320 } else { 0 };
        !bytes.iter().fold(!0_u32, |sum, &b| (0..8).fold(sum ^ u32::from(b), |sum, _| next(sum)))
    }

    #[test]
    fn an_image_that_is_too_large_is_refused_by_its_header() {
        for (width, height) in [(100_000, 100_000), (30_000, 30_000)] {
            let error = format!("{:#}", decode(&header(width, height)).unwrap_err());
            assert!(error.contains(&format!("at most 67108864 pixels, found {width} × {height}")), "{error}");
        }
        assert!(decode(&header(u32::MAX >> 1, u32::MAX >> 1)).is_err());
        assert_eq!(decode(&header(1, 1)).unwrap().height, 1);
    }

    /// The left half is blue, the right one orange; Pillow wrote the files.
    #[test]
    fn pictures_of_other_formats_have_the_same_colours() {
        let picture = |name: &str| {
            let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data");
            let raster = read_picture(&folder.join(name)).unwrap();
            assert_eq!((raster.width, raster.height), (16, 8), "{name}");
            let rgb = raster.rgb();
            [&rgb[..3], &rgb[3 * 127..]].map(|pixel| [pixel[0], pixel[1], pixel[2]])
        };
        let near = |name: &str, want: [[u8; 3]; 2], most: u8| {
            let found = picture(name);
            let differ =
                found.as_flattened().iter().zip(want.as_flattened()).any(|(a, b)| a.abs_diff(*b) > most);
            assert!(!differ, "{name}: {found:?}");
        };
        let halves = [[20, 40, 200], [230, 120, 30]];
        near("lossless.webp", halves, 0);
        near("alpha.webp", halves, 0);
        near("lossy.webp", halves, 12);
        near("halves.jpg", halves, 3);
        near("progressive.jpg", halves, 3);
        near("grey.jpg", [[20; 3], [230; 3]], 3);
    }

    #[test]
    fn pictures_of_every_kind_have_their_colours_and_labels_hide_what_is_behind() {
        use png::{BitDepth::Sixteen, ColorType};
        let colours = |bytes: &[u8]| decode_picture(bytes).unwrap().rgb();
        // A palette, as a picture and as labels.
        let few = [[7, 8, 9], [0, 0, 0], [7, 8, 9], [255, 0, 1]];
        let palette = small_colours(4, 1, few.as_flattened()).unwrap();
        assert_eq!(colours(&palette), few.as_flattened());
        assert!(matches!(decode(&palette).unwrap().samples, Samples::Numbers(_)));
        // Sixteen bits: the upper eight.
        assert_eq!(
            colours(&grey16(2, 1, [0x1234, 0xff00].into_iter()).unwrap()),
            [0x12, 0x12, 0x12, 255, 255, 255]
        );
        let deep = encode(1, 1, ColorType::Rgb, Sixteen, &[1, 99, 2, 99, 3, 99]).unwrap();
        assert_eq!(colours(&deep), [1, 2, 3]);
        let rgba = |alpha| encode(1, 1, ColorType::Rgba, png::BitDepth::Eight, &[1, 2, 3, alpha]).unwrap();
        assert_eq!((colours(&rgba(7)), decode(&rgba(255)).unwrap().rgb()), (vec![1, 2, 3], vec![1, 2, 3]));
        assert!(
            format!("{:#}", decode(&rgba(254)).unwrap_err())
                .contains("colours that hide what is behind them")
        );
    }

    #[test]
    fn other_bytes_are_refused() {
        assert!(decode(b"\xff\xd8\xff\xe0 no PNG").is_err());
        assert!(decode_picture(b"\xff\xd8\xff\xe0 no JPEG").is_err());
        assert!(decode_picture(b"RIFF\x10\0\0\0WEBPVP8 ").is_err());
    }
}
