//! EfficientNet-Lite as an encoder of images.

use super::{EfficientNetLite, STRIDES};
use crate::matmul::Pack;
use crate::vision::convolution::Map;
use crate::vision::resize::Resize;
use crate::vision::{Backbone, Encoder, Features};
use std::sync::Arc;

/// What is read of the network.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reading {
    /// Patches are the places of the last map; the whole is the mean of the head's planes.
    Pooled,
    /// Patches are the places of the last stage at the first of these [`STRIDES`], which are in ascending order, with the
    /// numbers of the others at the same place of the image; the whole is their mean. What lies behind is not computed.
    Patches(Vec<usize>),
}

/// The size in which the network sees an image.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Input {
    /// So many pixels on each side, by area averaging.
    Square(usize),
    /// So many times its own height and width.
    Times(usize),
}

/// The network for images of any size.
#[derive(Debug, Clone)]
pub struct EfficientNetBackbone {
    net: Arc<EfficientNetLite>,
    reading: Reading,
    input: Input,
}

impl EfficientNetBackbone {
    /// The network, what is read of it, and the size in which it sees an image.
    ///
    /// # Panics
    /// If the strides are none of [`STRIDES`] or not in ascending order.
    pub fn new(net: Arc<EfficientNetLite>, reading: Reading, input: Input) -> EfficientNetBackbone {
        if let Reading::Patches(strides) = &reading {
            let known = strides.iter().all(|stride| STRIDES.contains(stride));
            assert!(
                known && !strides.is_empty() && strides.is_sorted(),
                "strides {strides:?} of {STRIDES:?}"
            );
        }
        EfficientNetBackbone { net, reading, input }
    }
}

impl Backbone for EfficientNetBackbone {
    fn at(&self, height: usize, width: usize) -> Box<dyn Encoder> {
        let to = match self.input {
            Input::Square(side) => (side, side),
            Input::Times(n) => (n * height, n * width),
        };
        Box::new(EfficientNetEncoder {
            net: self.net.clone(),
            reading: self.reading.clone(),
            resize: Resize::new((height, width), to),
            width: to.1,
            pack: Pack::default(),
            features: Features::default(),
        })
    }
}

#[derive(Clone)]
struct EfficientNetEncoder {
    net: Arc<EfficientNetLite>,
    reading: Reading,
    resize: Resize,
    /// Columns of the image that the network sees.
    width: usize,
    pack: Pack,
    features: Features,
}

impl Encoder for EfficientNetEncoder {
    fn encode(&mut self, image: &[u8]) -> &Features {
        let levels = self.resize.of(image);
        self.features = match &self.reading {
            Reading::Pooled => {
                let [.., last] = self.net.scales(levels, self.width, STRIDES[2], &mut self.pack);
                let whole = self.net.pooled(&last, &mut self.pack);
                features(last, Some(whole))
            }
            Reading::Patches(strides) => {
                let largest = strides.last().copied().unwrap_or_default();
                let maps = self.net.scales(levels, self.width, largest, &mut self.pack);
                let wanted = maps.iter().zip(STRIDES).filter(|(_, stride)| strides.contains(stride));
                features(joined(&wanted.map(|(map, _)| map).collect::<Vec<_>>()), None)
            }
        };
        &self.features
    }

    fn fork(&self) -> Box<dyn Encoder> {
        Box::new(self.clone())
    }
}

/// The places of a map as patches; the whole is their mean if it is not given.
fn features(map: Map, whole: Option<Vec<f32>>) -> Features {
    let whole = whole.unwrap_or_else(|| map.means());
    Features { rows: map.height, columns: map.width, width: map.planes, patches: map.values, whole }
}

/// The places of the first map, with the planes of all maps side by side.
fn joined(maps: &[&Map]) -> Map {
    let (first, planes) = (maps[0], maps.iter().map(|map| map.planes).sum());
    let mut values = Vec::with_capacity(first.height * first.width * planes);
    for place in 0..first.height * first.width {
        for map in maps {
            let row = place / first.width * map.height / first.height;
            let column = place % first.width * map.width / first.width;
            let from = (row * map.width + column) * map.planes;
            values.extend_from_slice(&map.values[from..from + map.planes]);
        }
    }
    Map { planes, values, ..*first }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn coarser_maps_are_repeated_beside_finer_ones() {
        let map = |side: usize, planes, first: f32| {
            let n = side * side * planes;
            Map { height: side, width: side, planes, values: (0..n).map(|i| first + i as f32).collect() }
        };
        let found = joined(&[&map(4, 2, 0.0), &map(2, 1, 100.0)]);
        assert_eq!((found.height, found.width, found.planes), (4, 4, 3));
        // Place (1, 2) of the fine map lies in place (0, 1) of the coarse one; (3, 3) in (1, 1).
        assert_eq!(found.values[6 * 3..7 * 3], [12.0, 13.0, 101.0]);
        assert_eq!(found.values[15 * 3..], [30.0, 31.0, 103.0]);
    }
}
