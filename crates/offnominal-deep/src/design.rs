//! Which network: its kind, its size, what was changed for the methods that need it, and the classes that it knows.

use serde::{Deserialize, Serialize};

/// How the layers are put together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Architecture {
    /// Means over regions of four sizes.
    Pspnet,
    /// Features of several scales, refined with a finer map: DeepLabV3+.
    Deeplab,
    /// The same without the finer map, as torchvision has it.
    Deeplabv3,
}

/// How large.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Preset {
    /// Trains from nothing on two cores within an hour.
    Small,
    /// As in the paper: ResNet-50 or Xception-65.
    Paper,
}

/// What was changed so that a method can be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Modification {
    /// Nothing.
    None,
    /// The features are reduced to 32 channels, of which a covariance is small.
    DimReduce,
    /// Units are dropped at random.
    Dropout,
    /// The network also says how sure it is.
    Confidence,
}

/// A network before it has numbers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Design {
    /// Its layers.
    pub network: Architecture,
    /// Its size.
    pub preset: Preset,
    /// What was changed.
    pub modification: Modification,
    /// Names of the classes, in the order of the logits.
    pub classes: Vec<String>,
}

impl Default for Design {
    /// The small PSPNet, which knows no classes yet.
    fn default() -> Design {
        let (network, preset) = (Architecture::Pspnet, Preset::Small);
        Design { network, preset, modification: Modification::None, classes: Vec::new() }
    }
}

impl Design {
    /// Probability with which units are dropped. The paper keeps one half; of the small trunk's few channels more must
    /// remain.
    pub fn dropout(&self) -> Option<f64> {
        let probability = match self.preset {
            Preset::Small => 0.2,
            Preset::Paper => 0.5,
        };
        (self.modification == Modification::Dropout).then_some(probability)
    }
}
