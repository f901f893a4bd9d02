//! What a pixel can be: the 19 classes of road scenes, and a set of 12 that merges the rare ones.

use serde::{Deserialize, Serialize};

/// A class of road scenes, in the order of the train ids that Cityscapes made common.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u8)]
#[allow(missing_docs, reason = "the names say it")]
pub enum Class {
    Road,
    Sidewalk,
    Building,
    Wall,
    Fence,
    Pole,
    TrafficLight,
    TrafficSign,
    Vegetation,
    Terrain,
    Sky,
    Person,
    Rider,
    Car,
    Truck,
    Bus,
    Train,
    Motorcycle,
    Bicycle,
    /// Not of these classes, and to be found.
    Unknown = 254,
    /// Not judged.
    Ignored = 255,
}

/// The label of a pixel that is to be found.
pub const UNKNOWN: u8 = Class::Unknown as u8;
/// The label of a pixel that is not judged.
pub const IGNORED: u8 = Class::Ignored as u8;

/// Into how many classes the labels are divided.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ClassSet {
    /// Riders are persons, trucks, buses and trains are vehicles, walls are fences, lights are signs.
    #[default]
    Twelve,
    /// The train ids of Cityscapes.
    Nineteen,
}

/// A name and the colour in which it is shown.
pub type Named = (&'static str, [u8; 3]);

const NINETEEN: [Named; 19] = [
    ("road", [128, 64, 128]),
    ("sidewalk", [244, 35, 232]),
    ("building", [70, 70, 70]),
    ("wall", [102, 102, 156]),
    ("fence", [190, 153, 153]),
    ("pole", [153, 153, 153]),
    ("traffic light", [250, 170, 30]),
    ("traffic sign", [220, 220, 0]),
    ("vegetation", [107, 142, 35]),
    ("terrain", [152, 251, 152]),
    ("sky", [70, 130, 180]),
    ("person", [220, 20, 60]),
    ("rider", [255, 0, 0]),
    ("car", [0, 0, 142]),
    ("truck", [0, 0, 70]),
    ("bus", [0, 60, 100]),
    ("train", [0, 80, 100]),
    ("motorcycle", [0, 0, 230]),
    ("bicycle", [119, 11, 32]),
];

const TWELVE: [Named; 12] = [
    ("road", [128, 64, 128]),
    ("sidewalk", [244, 35, 232]),
    ("building", [70, 70, 70]),
    ("fence", [190, 153, 153]),
    ("pole", [153, 153, 153]),
    ("sign", [220, 220, 0]),
    ("vegetation", [107, 142, 35]),
    ("terrain", [152, 251, 152]),
    ("sky", [70, 130, 180]),
    ("person", [220, 20, 60]),
    ("vehicle", [0, 0, 142]),
    ("cycle", [119, 11, 32]),
];

/// Where each of the 19 goes among the 12.
const MERGED: [u8; 19] = [0, 1, 2, 3, 3, 4, 5, 5, 6, 7, 8, 9, 9, 10, 10, 10, 10, 11, 11];

impl ClassSet {
    /// Names and colours in the order of the labels.
    pub fn names(self) -> &'static [Named] {
        match self {
            ClassSet::Twelve => &TWELVE,
            ClassSet::Nineteen => &NINETEEN,
        }
    }

    /// The label of a class.
    pub fn label(self, class: Class) -> u8 {
        match (self, class as u8) {
            (_, special @ (UNKNOWN | IGNORED)) => special,
            (ClassSet::Twelve, id) => MERGED[usize::from(id)],
            (ClassSet::Nineteen, id) => id,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn merging_keeps_names_apart_and_special_labels_as_they_are() {
        assert_eq!(ClassSet::Twelve.label(Class::Rider), ClassSet::Twelve.label(Class::Person));
        assert_eq!(ClassSet::Twelve.names()[usize::from(ClassSet::Twelve.label(Class::Bus))].0, "vehicle");
        assert_eq!(ClassSet::Nineteen.names()[Class::Bicycle as usize].0, "bicycle");
        assert_eq!(ClassSet::Twelve.label(Class::Unknown), 254);
        assert!(MERGED.iter().all(|&m| usize::from(m) < TWELVE.len()));
    }
}
