//! The spaces of a model: what it observes, and what it does.

use crate::pytorch::FileError;
use crate::pytorch::array::{dtype, is_inert, numbers};
use crate::pytorch::pickle::{Node, Pickle};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use offnominal_core::spec::{Channel, EnvSpec, Image};
use serde_json::Value;

/// Most values of an integer, and most integers.
const MOST: f64 = 1e6;

/// Most bounds that an error shows.
const MOST_SHOWN: usize = 8;

/// A space of observations or of actions.
#[derive(Debug, Clone, PartialEq)]
pub enum Space {
    /// Real numbers between bounds.
    Box {
        /// Smallest values.
        low: Vec<f64>,
        /// Largest values.
        high: Vec<f64>,
        /// Lengths of the axes.
        shape: Vec<usize>,
        /// Whether the numbers are grey levels of an image: bytes from 0 to 255 on three axes.
        is_image: bool,
    },
    /// One of so many choices.
    Discrete(u32),
    /// One of so many choices for each.
    MultiDiscrete(Vec<u32>),
    /// So many times yes or no.
    MultiBinary(usize),
}

impl Space {
    /// The space at a key of a model's description, exactly: its readable form has eight digits only.
    pub(super) fn read(data: &Value, key: &str) -> Result<Space, FileError> {
        let file = &format!("model, {key}");
        let text = data[key][":serialized:"].as_str().unwrap_or_default();
        let bytes = STANDARD.decode(text);
        let bytes = bytes.map_err(|_| FileError::unsupported(file, "base64", "something else"))?;
        let pickle = Pickle::read(&bytes, file, is_inert)?;
        let class = pickle.made(pickle.root()).map_or("something else", |(class, _)| class);
        match class.rsplit('.').next() {
            Some("Box") => real(&pickle, file),
            Some("Discrete") => match sizes(&pickle, file, "n")?[..] {
                [n] if n > 1 => Ok(Space::Discrete(n)),
                _ => Err(FileError::unsupported(file, "two choices or more", "another number")),
            },
            Some("MultiDiscrete") => Ok(Space::MultiDiscrete(sizes(&pickle, file, "nvec")?)),
            Some("MultiBinary") => {
                let count = sizes(&pickle, file, "n")?.iter().map(|&n| f64::from(n)).product();
                match count {
                    1.0..=MOST => Ok(Space::MultiBinary(count as usize)),
                    _ => Err(FileError::unsupported(file, format!("1 to {MOST} numbers"), count)),
                }
            }
            _ => Err(FileError::unsupported(file, "Box, Discrete, MultiDiscrete or MultiBinary", class)),
        }
    }

    /// Numbers in an observation of it.
    pub fn width(&self) -> usize {
        match self {
            Space::Box { low, .. } => low.len(),
            Space::Discrete(_) => 1,
            Space::MultiDiscrete(sizes) => sizes.len(),
            Space::MultiBinary(n) => *n,
        }
    }

    /// What it is, in words.
    pub(super) fn words(&self) -> String {
        match self {
            Space::Box { shape, is_image: true, .. } => format!("an image {shape:?}"),
            Space::Box { low, high, .. } if low.len() <= MOST_SHOWN => {
                format!("real numbers from {low:?} to {high:?}")
            }
            Space::Box { shape, .. } => format!("real numbers {shape:?}"),
            Space::Discrete(n) => format!("one of {n} choices"),
            Space::MultiDiscrete(sizes) => format!("choices among {sizes:?}"),
            Space::MultiBinary(n) => format!("{n} times yes or no"),
        }
    }

    /// Requires that an environment has these actions.
    pub(super) fn expect_actions(&self, spec: &EnvSpec) -> Result<(), FileError> {
        let sizes: Vec<u32> = spec.action.iter().map(|channel| channel.choices).collect();
        let fits = match self {
            Space::Discrete(n) => sizes == [*n],
            Space::MultiDiscrete(own) => *own == sizes,
            Space::MultiBinary(n) => sizes.len() == *n && sizes.iter().all(|&size| size == 2),
            Space::Box { low, high, .. } => {
                sizes.iter().all(|&n| n == 0) && bounds(&spec.action) == [low.clone(), high.clone()]
            }
        };
        let expected = || of_environment(&spec.action).words();
        if fits {
            Ok(())
        } else {
            Err(FileError::unsupported(&format!("actions of {}", spec.id), expected(), self.words()))
        }
    }

    /// Requires that so many observations of an environment are one of these.
    pub(super) fn expect_observation(&self, spec: &EnvSpec, stack: usize) -> Result<(), FileError> {
        let (width, expected) = (self.width(), spec.obs_width().saturating_mul(stack));
        let hint = match width % spec.obs_width().max(1) {
            0 if stack == 1 && width > expected => format!(
                "; if {} frames were stacked, say so with stack={}",
                width / expected,
                width / expected
            ),
            _ => String::new(),
        };
        let what = format!("observation channels of {}", spec.id);
        if width != expected {
            return Err(FileError::unsupported(&what, expected, format!("{width}{hint}")));
        }
        match (self, spec.image()) {
            (Space::Box { shape, is_image: true, .. }, Some(seen)) => {
                let whole = [seen.frames * seen.planes * stack, seen.height, seen.columns];
                if *shape == whole {
                    Ok(())
                } else {
                    Err(FileError::unsupported(&what, format!("{whole:?}"), format!("{shape:?}")))
                }
            }
            (Space::Box { is_image: true, .. }, None) => {
                Err(FileError::unsupported(&what, "numbers, as the environment has", self.words()))
            }
            _ => Ok(()),
        }
    }

    /// Channels of an environment with nothing but this.
    pub(super) fn channels(&self, letter: &str) -> Vec<Channel> {
        let name = |i: usize| format!("{letter}{i}");
        let choice = |(i, &n): (usize, &u32)| Channel::choice(&name(i), "imported", n.max(2));
        match self {
            Space::Box { shape, is_image: true, .. } => {
                let image = Image { frames: shape[0], planes: 1, height: shape[1], columns: shape[2] };
                vec![Channel::image(&name(0), "imported", image)]
            }
            Space::Box { low, high, .. } => {
                let bounds = low.iter().zip(high).enumerate();
                bounds.map(|(i, (&low, &high))| Channel::new(&name(i), "imported", "1", low, high)).collect()
            }
            Space::Discrete(n) => vec![Channel::choice(&name(0), "imported", *n)],
            Space::MultiDiscrete(sizes) => sizes.iter().enumerate().map(choice).collect(),
            Space::MultiBinary(n) => (0..*n).map(|i| Channel::choice(&name(i), "imported", 2)).collect(),
        }
    }
}

/// Bounds, lower and upper, as float32, which spaces have.
fn bounds(action: &[Channel]) -> [Vec<f64>; 2] {
    let bound = |x: f64| f64::from(x as f32);
    [action.iter().map(|c| bound(c.low)).collect(), action.iter().map(|c| bound(c.high)).collect()]
}

/// The actions of an environment as a space.
fn of_environment(action: &[Channel]) -> Space {
    match action {
        [only] if only.is_choice() => Space::Discrete(only.choices),
        all if all.iter().any(Channel::is_choice) => {
            Space::MultiDiscrete(all.iter().map(|channel| channel.choices).collect())
        }
        real => {
            let [low, high] = bounds(real);
            Space::Box { shape: vec![low.len()], low, high, is_image: false }
        }
    }
}

fn real(pickle: &Pickle, file: &str) -> Result<Space, FileError> {
    let of = |name: &str| {
        let id = pickle.get(pickle.root(), name).ok_or_else(|| FileError::unsupported(file, name, "none"))?;
        numbers(pickle, id, name)
    };
    let (low, high) = (of("low")?, of("high")?);
    let shape = shape(pickle)
        .filter(|shape| shape.iter().try_fold(1, |n: usize, &l| n.checked_mul(l)) == Some(low.len()));
    let shape = shape.unwrap_or_else(|| vec![low.len()]);
    let sound = low.len() == high.len() && low.iter().zip(&high).all(|(low, high)| low <= high);
    if !sound || low.is_empty() {
        return Err(FileError::unsupported(file, "as many lower as higher bounds", "others"));
    }
    let is_byte = pickle.get(pickle.root(), "dtype").is_some_and(|id| dtype(pickle, id) == "u1");
    let full = low.iter().all(|&x| x == 0.0) && high.iter().all(|&x| x == 255.0);
    let is_image = is_byte && full && shape.len() == 3;
    Ok(Space::Box { low, high, shape, is_image })
}

/// Lengths of the axes of a box.
fn shape(pickle: &Pickle) -> Option<Vec<usize>> {
    let id = pickle.get(pickle.root(), "_shape")?;
    pickle.items(id).iter().map(|&n| usize::try_from(pickle.int(n)?).ok()).collect()
}

/// Numbers of values; a plain number, an array, or a tuple.
fn sizes(pickle: &Pickle, file: &str, name: &str) -> Result<Vec<u32>, FileError> {
    let id = pickle.get(pickle.root(), name).ok_or_else(|| FileError::unsupported(file, name, "none"))?;
    let found = match pickle.node(id) {
        Node::List(items) => {
            items.iter().map(|&item| numbers(pickle, item, name)).collect::<Result<Vec<_>, _>>()?.concat()
        }
        _ => numbers(pickle, id, name)?,
    };
    let is_sound =
        !found.is_empty() && found.len() as f64 <= MOST && found.iter().all(|n| (1.0..MOST).contains(n));
    if !is_sound {
        return Err(FileError::unsupported(file, format!("{name} from 1 to {MOST}"), "another number"));
    }
    Ok(found.iter().map(|&n| n as u32).collect())
}
