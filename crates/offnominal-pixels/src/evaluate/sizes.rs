//! The smallest components that count, by the words of commands.

use offnominal_stats::pixel::components::Smallest;
use serde::{Deserialize, Serialize};
use strum::{EnumString, IntoStaticStr, VariantArray};

/// How the smallest components are chosen.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[derive(EnumString, VariantArray, IntoStaticStr)]
#[strum(serialize_all = "kebab-case")]
pub enum ComponentSizes {
    /// Of the anomaly track, scaled to the image area
    #[default]
    Scaled,
    /// SegmentMeIfYouCan, anomaly track: 500 predicted, 100 true pixels
    AnomalyTrack,
    /// SegmentMeIfYouCan, obstacle track: 50 predicted, 10 true pixels
    ObstacleTrack,
}

impl ComponentSizes {
    /// The sizes for an image of so many pixels.
    pub fn of(self, pixels: usize) -> Smallest {
        match self {
            ComponentSizes::Scaled => Smallest::for_pixels(pixels),
            ComponentSizes::AnomalyTrack => Smallest::ANOMALY_TRACK,
            ComponentSizes::ObstacleTrack => Smallest::OBSTACLE_TRACK,
        }
    }
}
