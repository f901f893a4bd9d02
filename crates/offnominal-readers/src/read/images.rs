//! Readers of images, and of what is drawn on them.

use offnominal_files::image_file;
use offnominal_pixels::label_map::LabelMap;
use offnominal_pixels::polygons;

/// Labels, or an image.
pub fn png(bytes: &[u8]) -> bool {
    image_file::decode(bytes).is_ok_and(|image| !image.rgb().is_empty())
}

/// An image of any kind that is read.
pub fn picture(bytes: &[u8]) -> bool {
    image_file::decode_picture(bytes).is_ok_and(|image| !image.rgb().is_empty())
}

fn text(bytes: &[u8]) -> Option<&str> {
    std::str::from_utf8(bytes).ok()
}

/// What labels mean.
pub fn label_map(bytes: &[u8]) -> bool {
    text(bytes).is_some_and(|text| toml::from_str::<LabelMap>(text).is_ok_and(|map| map.check().is_ok()))
}

/// Outlines of things, painted.
pub fn polygons(bytes: &[u8]) -> bool {
    let map = "classes = ['road']\notherwise = 'unknown'";
    let meanings = toml::from_str::<LabelMap>(map).expect("a map").check().expect("a sound one");
    text(bytes).is_some_and(|text| polygons::parse(text).is_ok_and(|a| a.paint(&meanings).is_ok()))
}
