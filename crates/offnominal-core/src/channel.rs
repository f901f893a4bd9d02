//! One entry of an observation or of an action: a real number, a choice among a few, or an image.

use serde::{Deserialize, Serialize};

/// One entry of an observation or an action.
///
/// A channel is one number, except that a channel with an [`Image`] is as many numbers as the image has pixels, all of
/// the same meaning, unit and bounds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Channel {
    /// A short identifier, unique among its siblings.
    pub name: String,
    /// What it measures or drives.
    pub meaning: String,
    /// SI unit, or `1` for pure numbers.
    pub unit: String,
    /// Smallest possible value; may be −∞.
    pub low: f64,
    /// Largest possible value; may be ∞.
    pub high: f64,
    /// 0 for a real number; n for a choice among the integers 0, …, n − 1, written as numbers like any other.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub choices: u32,
    /// The image that the channel stands for, if it is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub image: Option<Image>,
}

// Serde hands the field over by reference.
#[allow(clippy::trivially_copy_pass_by_ref)]
fn is_zero(n: &u32) -> bool {
    *n == 0
}

impl Channel {
    /// A real number with bounds.
    pub fn new(name: &str, meaning: &str, unit: &str, low: f64, high: f64) -> Channel {
        Channel {
            name: name.into(),
            meaning: meaning.into(),
            unit: unit.into(),
            low,
            high,
            choices: 0,
            image: None,
        }
    }

    /// A real number without bounds.
    pub fn unbounded(name: &str, meaning: &str, unit: &str) -> Channel {
        Channel::new(name, meaning, unit, f64::NEG_INFINITY, f64::INFINITY)
    }

    /// A choice among the integers 0, …, `n` − 1.
    ///
    /// # Panics
    /// If there are fewer than two choices.
    pub fn choice(name: &str, meaning: &str, n: u32) -> Channel {
        assert!(n > 1, "channel {name}: expected at least two choices, found {n}");
        Channel { choices: n, ..Channel::new(name, meaning, "1", 0.0, f64::from(n - 1)) }
    }

    /// A stack of images whose pixels are grey levels from 0 to 255.
    pub fn image(name: &str, meaning: &str, image: Image) -> Channel {
        Channel { image: Some(image), ..Channel::new(name, meaning, "grey level", 0.0, 255.0) }
    }

    /// How many numbers the channel is.
    pub fn width(&self) -> usize {
        self.image.map_or(1, |i| i.width())
    }

    /// Whether the channel is a choice among integers.
    pub fn is_choice(&self) -> bool {
        self.choices > 0
    }

    /// The choice that a number stands for: the nearest integer (halves away from zero) within 0, …, n − 1. This is
    /// how every environment reads such an action. `None` for what is not a number.
    ///
    /// ```
    /// use offnominal_core::spec::Channel;
    /// let push = Channel::choice("push", "direction of the push", 2);
    /// assert_eq!([0.0, 0.6, 7.0, -3.0].map(|x| push.chosen(x)), [Some(0), Some(1), Some(1), Some(0)]);
    /// assert_eq!(push.chosen(f32::NAN), None);
    /// ```
    ///
    /// # Panics
    /// If the channel is not a choice.
    pub fn chosen(&self, number: f32) -> Option<usize> {
        assert!(self.is_choice(), "channel {} is a real number, not a choice", self.name);
        let last = (self.choices - 1) as f32;
        (!number.is_nan()).then(|| number.round().clamp(0.0, last) as usize)
    }
}

/// A stack of images of the same size: `[frames, planes, height, width]`, the oldest frame first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Image {
    /// Images in the stack; the newest is the last.
    pub frames: usize,
    /// Planes of each image: 1 of grey, or 3 of red, green and blue.
    pub planes: usize,
    /// Rows of each plane.
    pub height: usize,
    /// Pixels of each row.
    pub columns: usize,
}

impl Image {
    /// A stack of grey images.
    pub const fn grey(frames: usize, height: usize, columns: usize) -> Image {
        Image { frames, planes: 1, height, columns }
    }

    /// Numbers in one image; like [`Image::width`], the largest number there is if a shape from outside exceeds it.
    pub const fn frame_len(&self) -> usize {
        self.planes.saturating_mul(self.height).saturating_mul(self.columns)
    }

    /// Numbers in the stack.
    pub const fn width(&self) -> usize {
        self.frames.saturating_mul(self.frame_len())
    }

    /// The lengths of the axes: frames, planes, rows, columns.
    pub const fn shape(&self) -> [usize; 4] {
        [self.frames, self.planes, self.height, self.columns]
    }
}

/// How many numbers the channels are together.
pub fn width(channels: &[Channel]) -> usize {
    channels.iter().map(Channel::width).fold(0, usize::saturating_add)
}

/// Positions of the numbers of each channel, in order.
pub fn spans(channels: &[Channel]) -> impl Iterator<Item = std::ops::Range<usize>> + '_ {
    channels.iter().scan(0, |from, c| {
        let start = *from;
        *from += c.width();
        Some(start..*from)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_image_is_one_channel_and_many_numbers() {
        let channels = [
            Channel::unbounded("speed", "forwards", "m/s"),
            Channel::image("view", "from the bonnet", Image::grey(4, 3, 5)),
            Channel::unbounded("heading", "0 = north", "rad"),
        ];
        assert_eq!(width(&channels), 62);
        assert_eq!(spans(&channels).collect::<Vec<_>>(), [0..1, 1..61, 61..62]);
    }

    #[test]
    fn real_channels_are_written_as_before() {
        let json = serde_json::to_value(Channel::new("x", "position", "m", -1.0, 1.0)).unwrap();
        assert!(json.get("choices").is_none() && json.get("image").is_none(), "{json}");
        let choice = Channel::choice("push", "direction", 3);
        let read: Channel = serde_json::from_value(serde_json::to_value(&choice).unwrap()).unwrap();
        assert_eq!(read, choice);
    }

    #[test]
    #[should_panic(expected = "at least two choices")]
    fn one_choice_is_none() {
        Channel::choice("push", "direction", 1);
    }
}
