//! The statistics of a `VecNormalize`.

use crate::normaliser::Normalisation;
use crate::pytorch::FileError;
use crate::pytorch::array::{is_inert, numbers};
use crate::pytorch::pickle::{Node, Pickle};

/// Name of the file in errors.
const FILE: &str = "statistics of VecNormalize";

/// What a `VecNormalize` does to observations.
#[derive(Debug, Clone, PartialEq)]
pub struct Statistics {
    /// What they are centred and divided by.
    pub map: Normalisation,
    /// Where they are cut then.
    pub clip: f32,
}

/// Reads `vec_normalize.pkl`: what observations go through; nothing if they are left as they are.
///
/// # Errors
/// If the file is damaged, or names what no statistics need.
pub fn read_normalisation(bytes: &[u8]) -> Result<Option<Statistics>, FileError> {
    let pickle = Pickle::read(bytes, FILE, is_inert)?;
    let root = pickle.root();
    let class = pickle.made(root).map_or("something else", |(class, _)| class);
    if !class.ends_with(".VecNormalize") {
        return Err(FileError::unsupported(FILE, "an object of VecNormalize", class));
    }
    let missing = |what: &str| FileError::unsupported(FILE, what, "none");
    let attribute = |name: &str| pickle.get(root, name).ok_or_else(|| missing(name));
    if pickle.node(attribute("norm_obs")?) == &Node::Bool(false) {
        return Ok(None);
    }
    let clip = pickle.float(attribute("clip_obs")?).filter(|&clip| clip > 0.0);
    let clip = clip.ok_or_else(|| FileError::unsupported("clip_obs", "a positive number", "another"))? as f32;
    let (rms, epsilon) = (attribute("obs_rms")?, pickle.float(attribute("epsilon")?).unwrap_or(1e-8));
    let of = |name: &str| {
        let id =
            pickle.get(rms, name).ok_or_else(|| missing(&format!("obs_rms.{name}, of a single array")))?;
        numbers(&pickle, id, &format!("obs_rms.{name}"))
    };
    let (mean, variance) = (of("mean")?, of("var")?);
    let sound = mean.len() == variance.len()
        && mean.iter().all(|m| m.is_finite())
        && variance.iter().all(|v| v.is_finite() && v + epsilon > 0.0);
    if !sound {
        return Err(FileError::unsupported(
            "obs_rms",
            "finite means and as many positive variances",
            "others",
        ));
    }
    let scale = variance.iter().map(|v| (v + epsilon).sqrt() as f32).collect();
    let map = Normalisation { mean: mean.iter().map(|&m| m as f32).collect(), scale };
    Ok(Some(Statistics { map, clip }))
}
