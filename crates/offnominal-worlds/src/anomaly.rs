//! The anomalies, one file each, and their catalogue.
//!
//! A disturbance of a signal is written once, as an `Operator`, and listed for each side on which
//! it makes sense. A disturbance of the dynamics is a parameter of the environment that changes: one entry, `dyn`, serves
//! all environments, and `dyn-mass` means that entry with the parameter `mass`.

mod ar_noise;
mod camera;
mod delay;
mod drift;
mod dropout;
mod dynamics;
mod image;
mod kind;
mod noise;
mod offset;
mod quantization;
mod scaling;
mod search;
mod signal;
mod sine_drift;
mod stuck;
mod temporal_noise;

pub use camera::CAMERA;
pub use image::IMAGE;
pub use kind::{AnomalyKind, Class, Domain};
pub use search::{Deviations, Search, searches};

use kind::Reach;
use offnominal_core::anomaly_spec::DYNAMICS;
use offnominal_core::prelude::*;
use signal::Words;

/// An anomaly as it is built, and what it is.
#[derive(Clone, Copy)]
pub struct Listed {
    /// How commands and recipes get it.
    pub entry: Entry<dyn Anomaly>,
    /// What it does, in words and numbers.
    pub kind: AnomalyKind,
}

type Build = fn(&serde_json::Value) -> Result<Box<dyn Anomaly>, BuildError>;

impl Listed {
    /// An anomaly without exemptions from the laws.
    const fn new(
        (class, domain, neutral): (Class, Domain, f64),
        reach: &'static [Reach],
        magnitude: &'static str,
        build: Build,
        words: Words,
    ) -> Listed {
        let Words { id, summary, equation, imitates, shows } = words;
        Listed {
            entry: Entry { id, summary, build, exempt: &[] },
            kind: AnomalyKind { class, domain, neutral, reach, equation, magnitude, imitates, shows },
        }
    }

    /// The same with another reach of searches for its magnitude.
    const fn reaching(self, reach: &'static [Reach]) -> Listed {
        Listed { kind: AnomalyKind { reach, ..self.kind }, ..self }
    }
}

/// Every built-in anomaly, in the order in which reports list them.
pub const ALL: &[Listed] = &[
    noise::OBS,
    scaling::OBS,
    offset::OBS,
    drift::OBS,
    quantization::OBS,
    temporal_noise::OBS,
    ar_noise::OBS,
    sine_drift::OBS,
    stuck::OBS,
    dropout::OBS,
    delay::OBS,
    image::GAUSSIAN_NOISE,
    image::SHOT_NOISE,
    image::IMPULSE_NOISE,
    image::SPECKLE_NOISE,
    image::GAUSSIAN_BLUR,
    image::DEFOCUS_BLUR,
    image::GLASS_BLUR,
    image::MOTION_BLUR,
    image::ZOOM_BLUR,
    image::SNOW,
    image::FOG,
    image::BRIGHTNESS,
    image::CONTRAST,
    image::SATURATE,
    image::ELASTIC,
    image::PIXELATE,
    image::JPEG,
    noise::ACT,
    scaling::ACT,
    offset::ACT,
    drift::ACT,
    temporal_noise::ACT,
    ar_noise::ACT,
    sine_drift::ACT,
    stuck::ACT,
    dropout::ACT,
    delay::ACT,
    dynamics::DYN,
    camera::NOISE,
    camera::BLUR,
    camera::PIXELATE,
    camera::BRIGHTNESS,
    camera::FOG,
    camera::PATCH,
    camera::ROWS,
    camera::FROZEN,
    camera::DROPPED,
];

/// The entries of [`ALL`].
pub const ANOMALIES: &[Entry<dyn Anomaly>] = &entries::<{ ALL.len() }>(ALL);

const fn entries<const N: usize>(all: &[Listed]) -> [Entry<dyn Anomaly>; N] {
    let mut out = [all[0].entry; N];
    let mut i = 0;
    while i < N {
        out[i] = all[i].entry;
        i += 1;
    }
    out
}

/// The catalogue of the built-in anomalies.
pub fn catalogue() -> Catalogue<dyn Anomaly> {
    Catalogue::new("anomaly", ANOMALIES)
}

/// What the anomaly of that name is; `dyn-<parameter>` is a name too.
///
/// # Errors
/// If nothing has that name.
pub fn kind(id: &str) -> Result<&'static AnomalyKind, BuildError> {
    let id = if id.starts_with(DYNAMICS) { dynamics::DYN.entry.id } else { id };
    catalogue().find(id)?;
    Ok(&ALL.iter().find(|a| a.entry.id == id).expect("the catalogue was made of this list").kind)
}

/// The anomalies that apply to an environment, in the order of the list; `dyn` stands for all its parameters.
///
/// Those that change actions by degrees leave out environments in which an action is a choice, and those of images leave
/// out environments that are not seen as images.
pub fn applicable(spec: &EnvSpec) -> impl Iterator<Item = &'static Listed> + '_ {
    let has_choices = spec.action.iter().any(Channel::is_choice);
    let for_choices = [delay::ACT.entry.id, stuck::ACT.entry.id, dropout::ACT.entry.id];
    ALL.iter().filter(move |a| match a.kind.class {
        Class::Action => !has_choices || for_choices.contains(&a.entry.id),
        Class::Observation => !a.entry.id.starts_with(IMAGE) || image::suits(a.entry.id, spec.image()),
        Class::Dynamics => true,
        Class::Camera => !spec.cameras.is_empty(),
    })
}

/// The names of the faults of its camera, which an environment with one can have.
pub fn camera_ids_for(spec: &EnvSpec) -> Vec<String> {
    let cameras = applicable(spec).filter(|a| a.kind.class == Class::Camera);
    cameras.map(|a| a.entry.id.to_string()).collect()
}

/// The names of all anomalies that apply to an environment: those of its signals, and `dyn-<parameter>` of each
/// parameter. Those of its camera are [`camera_ids_for`]: no policy and no detector of sensors can see them.
pub fn ids_for(spec: &EnvSpec) -> Vec<String> {
    let signals = applicable(spec).filter(|a| matches!(a.kind.class, Class::Observation | Class::Action));
    let signals = signals.map(|a| a.entry.id.to_string());
    signals.chain(spec.parameters.iter().map(|p| format!("{DYNAMICS}{}", p.name))).collect()
}
