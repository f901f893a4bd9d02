//! Readers of images, and of what is drawn on them.

use offnominal_files::image_file;
use offnominal_nets::onnx::Beside;
use offnominal_pixels::label_map::LabelMap;
use offnominal_pixels::onnx::OnnxNet;
use offnominal_pixels::polygons;

/// A network that segments images, and how it is fed.
const NET: &[u8] = include_bytes!("../../../offnominal-pixels/tests/onnx/net.onnx");
const FEED: &[u8] = include_bytes!("../../../offnominal-pixels/tests/onnx/net.json");

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

/// A network that segments an image.
pub fn segmentation(bytes: &[u8]) -> bool {
    let net = OnnxNet::read(bytes, &Beside::new(), FEED, "net.onnx");
    net.is_ok_and(|net| net.forward(&[90; 3 * 9 * 12], 12).is_ok())
}

/// How it is fed.
pub fn segmentation_feed(bytes: &[u8]) -> bool {
    let net = OnnxNet::read(NET, &Beside::new(), bytes, "net.onnx");
    net.is_ok_and(|net| net.forward(&[90; 3 * 9 * 12], 12).is_ok())
}

/// Outlines of things, painted.
pub fn polygons(bytes: &[u8]) -> bool {
    let map = "classes = ['road']\notherwise = 'unknown'";
    let meanings = toml::from_str::<LabelMap>(map).expect("a map").check().expect("a sound one");
    text(bytes).is_some_and(|text| polygons::parse(text).is_ok_and(|a| a.paint(&meanings).is_ok()))
}
