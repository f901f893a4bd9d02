//! Policies of other libraries, by the endings of their files.

use super::place::Place;
use super::zoo::Training;
use anyhow::{Context, Result, bail, ensure};
use offnominal_agents::network::Activation;
use offnominal_agents::sb3::{self, Model, Options, Statistics};
use offnominal_agents::{Normalisation, Taken, cleanrl, rsl_rl};
use offnominal_core::spec::EnvSpec;
use offnominal_files::played::Played;
use offnominal_files::{array, read};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use strum::{EnumString, IntoStaticStr, VariantArray};

/// Value of the option `normalize` that says that observations were not normalised.
const NONE: &str = "none";

/// What Gymnasium's `NormalizeObservation` adds to a variance.
const EPSILON: f32 = 1e-8;

/// Where scripts of CleanRL cut normalised observations.
const CLIP: f32 = 10.0;

/// Which library wrote a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, EnumString, VariantArray, IntoStaticStr)]
#[strum(serialize_all = "kebab-case")]
pub enum Library {
    /// Stable-Baselines3 or sb3-contrib: `model.save`
    Sb3,
    /// CleanRL: state dictionary
    Cleanrl,
    /// RSL-RL: `model_N.pt`
    RslRl,
}

impl Library {
    /// The library whose files end like that.
    pub(super) fn of(ending: &str) -> Option<Library> {
        match ending {
            "zip" => Some(Library::Sb3),
            "cleanrl_model" => Some(Library::Cleanrl),
            "pt" => Some(Library::RslRl),
            _ => None,
        }
    }

    /// Its name.
    fn name(self) -> &'static str {
        match self {
            Library::Sb3 => "Stable-Baselines3",
            Library::Cleanrl => "CleanRL",
            Library::RslRl => "RSL-RL",
        }
    }

    /// What may be said of its files.
    fn options(self) -> &'static [&'static str] {
        match self {
            Library::Sb3 => &["normalize", "stack"],
            Library::Cleanrl => &["normalize"],
            Library::RslRl => &["activation"],
        }
    }
}

/// A policy of another library in an environment.
pub(crate) struct Other {
    /// The policy.
    pub(crate) taken: Taken,
    /// SHA-256 of all that it was made of.
    pub(crate) digest: String,
    /// The file of statistics by which its observations are normalised.
    pub(crate) statistics: Option<PathBuf>,
    /// How it is played.
    pub(crate) played: Played,
}

/// The policy in the file that another library wrote, with these options.
///
/// # Errors
/// If a file cannot be read or does not fit the environment, or an option is not known.
pub(crate) fn import(
    library: Library,
    file: &Path,
    options: BTreeMap<String, String>,
    spec: &EnvSpec,
) -> Result<Other> {
    read(library, &Place::with(file, options), spec)
}

/// The policy in a file.
///
/// # Errors
/// If a file cannot be read or does not fit the environment, or an option is not known.
pub(super) fn read(library: Library, place: &Place, spec: &EnvSpec) -> Result<Other> {
    let bytes = read::bytes(&place.path)?;
    let options = place.options(library.options())?;
    let asked = options.get("normalize").map(String::as_str);
    let training = match library {
        // What a command says holds without them.
        Library::Sb3 => {
            Training::around(&place.path).or_else(|why| if asked.is_some() { Ok(None) } else { Err(why) })
        }
        _ => Ok(None),
    };
    let training = training.with_context(|| place.path.display().to_string())?;
    let statistics = statistics(library, place, asked, training.as_ref())?;
    let beside = statistics.as_deref().map(read::bytes).transpose()?;
    let apart = training.as_ref().map_or(vec![], |training| training.apart(&spec.id));
    let mut stack = 1;
    let (taken, said) = match library {
        Library::Sb3 => {
            let model = Model::read(&bytes).with_context(|| place.path.display().to_string())?;
            let trained = training.as_ref().and_then(|training| training.frames);
            // An environment may stack its frames itself; what both observe tells.
            let trained =
                trained.filter(|n| model.observation.width() == spec.obs_width().saturating_mul(*n));
            stack = options.get("stack").map_or(Ok(trained.unwrap_or(1)), |text| frames(text))?;
            let taken = stable_baselines(model, statistics.as_deref(), beside.as_deref(), stack, spec);
            let said = || format!("it was trained in an environment with {}", apart.join(", "));
            let taken = if apart.is_empty() { taken } else { taken.with_context(said) };
            (taken, if stack > 1 { format!("stack={stack}") } else { String::new() })
        }
        Library::Cleanrl => {
            (clean(&bytes, statistics.as_deref(), beside.as_deref(), options, spec), String::new())
        }
        Library::RslRl => {
            let activation =
                options.get("activation").map_or(Ok(Activation::Elu), |name| activation(name))?;
            let taken = rsl_rl::read(&bytes, spec, activation).map_err(anyhow::Error::from);
            (taken, options.get("activation").cloned().unwrap_or_default())
        }
    };
    let taken = taken.with_context(|| place.path.display().to_string())?;
    let mut digest = Sha256::new_with_prefix(&bytes);
    digest.update(beside.unwrap_or_default());
    digest.update(said);
    let played = Played {
        algorithm: format!("{} of {}", taken.algorithm(), library.name()),
        observations: observations(library, place, asked, statistics.as_deref()),
        stack,
        action: taken.action(spec).into(),
        deterministic: true,
        training: apart,
    };
    Ok(Other { taken, digest: offnominal_files::store::hex(&digest.finalize()), statistics, played })
}

/// By what observations are normalised, without folders of this machine.
fn observations(library: Library, place: &Place, asked: Option<&str>, file: Option<&Path>) -> String {
    let Some(file) = file else {
        return match (library, asked) {
            (Library::RslRl, _) => "normalised as its file says".into(),
            (_, Some(_)) => "not normalised, as was said".into(),
            (Library::Sb3, None) => "not normalised, as no statistics are beside it".into(),
            (Library::Cleanrl, None) => "not normalised".into(),
        };
    };
    let beside = place.path.parent().and_then(|folder| file.strip_prefix(folder).ok());
    let name = beside.or(file.file_name().map(Path::new)).unwrap_or(file).display().to_string();
    format!("normalised by {name}{}", if asked.is_some() { ", as was said" } else { ", found beside it" })
}

fn stable_baselines(
    model: Model,
    place: Option<&Path>,
    pickle: Option<&[u8]>,
    stack: usize,
    spec: &EnvSpec,
) -> Result<Taken> {
    let read = |bytes: &[u8]| sb3::read_normalisation(bytes).with_context(|| shown(place));
    let statistics: Option<Statistics> = pickle.map(read).transpose()?.flatten();
    Ok(model.policy(spec, &Options { statistics, stack })?)
}

/// A policy of CleanRL, of which must be said how its observations were normalised if they were.
fn clean(
    bytes: &[u8],
    place: Option<&Path>,
    arrays: Option<&[u8]>,
    options: &BTreeMap<String, String>,
    spec: &EnvSpec,
) -> Result<Taken> {
    ensure!(
        options.contains_key("normalize") || !cleanrl::is_normalised(bytes)?,
        "expected ?normalize=FILE.npz with the arrays mean and var of the wrapper that normalised its observations, \
         which are not in the file, or ?normalize=none; found neither"
    );
    let read = |bytes: &[u8]| moments(bytes).with_context(|| shown(place));
    let map = arrays.map(read).transpose()?;
    Ok(cleanrl::read(bytes, spec, map.map(|map| (map, CLIP)))?)
}

/// The arrays `mean` and `var`.
fn moments(bytes: &[u8]) -> Result<Normalisation> {
    let of = |name: &str| {
        Ok::<_, anyhow::Error>(array::decode(bytes, "npz", name).context(name.to_string())?.values)
    };
    let (mean, variance) = (of("mean")?, of("var")?);
    let is_sound = mean.len() == variance.len() && variance.iter().all(|&v| v >= 0.0);
    ensure!(is_sound, "expected as many variances of 0 or more as means, found others");
    Ok(Normalisation { mean, scale: variance.iter().map(|v| (v + EPSILON).sqrt()).collect() })
}

fn shown(place: Option<&Path>) -> String {
    place.map_or(String::new(), |path| path.display().to_string())
}

fn frames(text: &str) -> Result<usize> {
    match text.parse() {
        Ok(n) if n > 0 => Ok(n),
        _ => bail!("stack: expected the number of frames, found {text:?}"),
    }
}

fn activation(name: &str) -> Result<Activation> {
    let found = Activation::named(name);
    found.with_context(|| format!("activation: expected one of {}, found {name:?}", Activation::names()))
}

/// The statistics that are asked for, or those of a model of Stable-Baselines3 where tools put them.
///
/// # Errors
/// If the files of its training say one thing, and what is there another.
fn statistics(
    library: Library,
    place: &Place,
    asked: Option<&str>,
    training: Option<&Training>,
) -> Result<Option<PathBuf>> {
    match asked {
        Some(NONE) => return Ok(None),
        Some(name) => {
            let path = PathBuf::from(name);
            ensure!(path.is_file(), "normalize: expected a file or {NONE}, found {name}, which is not there");
            return Ok(Some(path));
        }
        None if library != Library::Sb3 => return Ok(None),
        None => {}
    }
    let folder = training.map(|training| training.folder.as_path());
    let there = beside(&place.path, folder).into_iter().find(|path| path.is_file());
    let Some(Training { folder, normalises, .. }) = training else { return Ok(there) };
    let say = "say what holds with ?normalize=FILE or ?normalize=none";
    match (there, normalises) {
        (Some(path), true) => Ok(Some(path)),
        (None, false) => Ok(None),
        (None, true) => bail!(
            "{}: expected the statistics by which its observations are normalised, as {} says, found none; {say}",
            place.path.display(),
            folder.display()
        ),
        // The zoo leaves them out then; whoever saved them may have meant another model.
        (Some(path), false) => bail!(
            "{}: expected no statistics, as {} says that observations are not normalised, found {}; {say}",
            place.path.display(),
            folder.display(),
            path.display()
        ),
    }
}

/// Where statistics are saved: beside a model under its own name, as callbacks for checkpoints do, or as one for a folder,
/// which may be the one of its training, or is called like the model.
fn beside(model: &Path, training: Option<&Path>) -> Vec<PathBuf> {
    let stem = model.file_stem().unwrap_or_default().to_string_lossy();
    let mut names = vec![format!("{stem}.pkl")];
    if let Some((prefix, steps)) = stem.strip_suffix("_steps").and_then(|s| s.rsplit_once('_')) {
        names.push(format!("{prefix}_vecnormalize_{steps}_steps.pkl"));
    }
    let usual = ["vec_normalize.pkl", "vecnormalize.pkl"];
    let own = names.into_iter().chain(usual.map(String::from)).map(|name| model.with_file_name(name));
    let folders = training.map(Path::to_path_buf).into_iter().chain([model.with_extension("")]);
    own.chain(folders.flat_map(|folder| usual.map(|name| folder.join(name)))).collect()
}

#[cfg(test)]
mod tests;
