//! An image with everything that is true of each pixel.

use crate::class::Class;
use serde::Serialize;

/// A drawn scene.
#[derive(Debug, Clone, PartialEq)]
pub struct Image {
    /// Pixels per row.
    pub width: usize,
    /// Rows.
    pub height: usize,
    /// Red, green and blue, `[height, width, 3]`.
    pub rgb: Vec<u8>,
    /// The class of each pixel; ignored where a pixel shows several.
    pub classes: Vec<Class>,
    /// One more than the number of the thing, for things that can be counted; 0 for others.
    pub instances: Vec<u16>,
    /// Depth in metres; infinite for the sky.
    pub depth_m: Vec<f32>,
    /// Whether the sun is hidden where it would shine.
    pub shadow: Vec<bool>,
    /// What is to be seen of the things that can be counted.
    pub visible: Vec<Visible>,
}

/// A thing that can be counted, as far as it is seen.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Visible {
    /// Its number in the image's instances.
    pub instance: u16,
    /// The kind of an unknown thing; empty for known ones.
    pub kind: &'static str,
    /// Whether it is unknown.
    pub is_unknown: bool,
    /// Distance of its foot along the view, in metres.
    pub distance_m: f32,
    /// Pixels that show it.
    pub pixels: usize,
    /// Share of these pixels in shadow.
    pub shadow: f32,
}

impl Class {
    /// Whether things of this class are counted one by one.
    pub fn is_counted(self) -> bool {
        matches!(
            self,
            Class::Person
                | Class::Rider
                | Class::Car
                | Class::Truck
                | Class::Bus
                | Class::Train
                | Class::Motorcycle
                | Class::Bicycle
                | Class::Unknown
        )
    }
}

impl Image {
    /// The share of pixels of a class.
    pub fn share(&self, class: Class) -> f64 {
        self.classes.iter().filter(|&&c| c == class).count() as f64 / self.classes.len() as f64
    }
}
