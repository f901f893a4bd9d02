//! The statistics of a `VecNormalize`.

use super::Sb3Error;
use super::array::{is_inert, numbers};
use super::pickle::{Node, Pickle};
use crate::normaliser::{CLIP, Normalisation};

/// Name of the file in errors.
const FILE: &str = "statistics of VecNormalize";

/// Reads `vec_normalize.pkl`: what observations are centred and divided by; nothing if they are left as they are.
///
/// # Errors
/// If the file is damaged, names what no statistics need, or cuts observations elsewhere than we do.
pub fn read_normalisation(bytes: &[u8]) -> Result<Option<Normalisation>, Sb3Error> {
    let pickle = Pickle::read(bytes, FILE, is_inert)?;
    let root = pickle.root();
    let class = pickle.made(root).map_or("something else", |(class, _)| class);
    if !class.ends_with(".VecNormalize") {
        return Err(Sb3Error::unsupported(FILE, "an object of VecNormalize", class));
    }
    let missing = |what: &str| Sb3Error::unsupported(FILE, what, "none");
    let attribute = |name: &str| pickle.get(root, name).ok_or_else(|| missing(name));
    if pickle.node(attribute("norm_obs")?) == &Node::Bool(false) {
        return Ok(None);
    }
    let clip = pickle.float(attribute("clip_obs")?);
    if clip != Some(f64::from(CLIP)) {
        let found = clip.map_or("none".into(), |c| c.to_string());
        return Err(Sb3Error::unsupported("clip_obs", CLIP, found));
    }
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
        return Err(Sb3Error::unsupported(
            "obs_rms",
            "finite means and as many positive variances",
            "others",
        ));
    }
    let scale = variance.iter().map(|v| (v + epsilon).sqrt() as f32).collect();
    Ok(Some(Normalisation { mean: mean.iter().map(|&m| m as f32).collect(), scale }))
}
