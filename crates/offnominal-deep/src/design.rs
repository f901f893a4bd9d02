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

/// How many rows and columns of the image one place of the coarse map stands for, in a small network.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(try_from = "u8", into = "u8")]
pub enum OutputStride {
    /// A quarter of the size: for things of few pixels, at four times the cost.
    Four,
    /// An eighth of the size.
    #[default]
    Eight,
}

impl TryFrom<u8> for OutputStride {
    type Error = String;

    fn try_from(stride: u8) -> Result<OutputStride, String> {
        match stride {
            4 => Ok(OutputStride::Four),
            8 => Ok(OutputStride::Eight),
            _ => Err(format!("output_stride: expected 4 or 8, found {stride}")),
        }
    }
}

impl From<OutputStride> for u8 {
    fn from(stride: OutputStride) -> u8 {
        match stride {
            OutputStride::Four => 4,
            OutputStride::Eight => 8,
        }
    }
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
    /// How coarse its map of features is; published sizes have their own.
    #[serde(default)]
    pub output_stride: OutputStride,
    /// Names of the classes, in the order of the logits.
    pub classes: Vec<String>,
}

impl Default for Design {
    /// The small PSPNet, which knows no classes yet.
    fn default() -> Design {
        Design {
            network: Architecture::Pspnet,
            preset: Preset::Small,
            modification: Modification::None,
            output_stride: OutputStride::default(),
            classes: Vec::new(),
        }
    }
}

impl Design {
    /// Dilations that reach as far in the image whatever the output stride: doubled at a quarter of the size (Chen et al.,
    /// 2017), but for those of neighbours.
    pub(crate) fn dilated<const N: usize>(&self, dilations: [usize; N]) -> [usize; N] {
        let factor = 8 / usize::from(u8::from(self.output_stride));
        dilations.map(|dilation| if dilation == 1 { 1 } else { factor * dilation })
    }

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
