//! What a hosted environment says of itself, as a specification.

use crate::foreign::manifest::named;
use crate::foreign::wanted::Wanted;
use anyhow::{Context, Result, ensure};
use offnominal_core::limits::OBSERVATION;
use offnominal_core::spec::{Channel, EnvSpec, Image, Parameter};
use offnominal_files::store::address;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// The most steps of an episode that are believed.
const MOST_STEPS: u32 = 100_000_000;

/// The most modules of the user that are listed each by itself.
const LISTED: usize = 50;

/// The description that `worker.py` sends.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Description {
    /// Frames, planes, rows, columns, if the observation is an image.
    image: Option<[usize; 4]>,
    /// Shape of the observation, if it is one box of numbers.
    pub(super) shape: Option<Vec<usize>>,
    /// Bounds of the numbers of the observation otherwise.
    observation: Vec<Bounds>,
    /// Their names, where there are any.
    observation_names: Option<Vec<String>>,
    /// Names of the commands.
    action_names: Option<Vec<String>>,
    /// How many choices each command has, if commands are choices.
    choices: Option<Vec<u32>>,
    /// Bounds of the commands otherwise.
    action: Vec<Bounds>,
    horizon: u32,
    /// Seconds of a step, and what of the environment says so.
    dt: Option<(f64, String)>,
    /// The id of an environment of Gymnasium's own.
    pub(super) registered: Option<String>,
    parameters: Vec<Quantity>,
    source: String,
    /// The user's own modules, each with a digest.
    modules: BTreeMap<String, String>,
    /// The file through which large observations come.
    pub(super) shared: Option<PathBuf>,
    /// The thread in which it is stepped.
    pub(super) thread: i32,
}

/// Smallest and largest value; nothing where there is no bound.
#[derive(Debug, Clone, Copy, Deserialize)]
struct Bounds(Option<f64>, Option<f64>);

/// A physical quantity with its nominal, smallest and largest value.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Quantity {
    name: String,
    range: [f64; 3],
}

impl Description {
    /// Reads the description.
    ///
    /// # Errors
    /// If it is not what `worker.py` sends.
    pub(super) fn read(json: &[u8]) -> Result<Description> {
        serde_json::from_slice(json).context("the description that its process sent")
    }

    /// The specification of the environment of that name, with what the user states of it.
    ///
    /// # Errors
    /// If it has no observation, no command, or no step, or what is stated does not fit.
    pub(super) fn spec(&self, id: &str, wanted: &Wanted) -> Result<EnvSpec> {
        let own = self.dt.as_ref().map(|(secs, place)| (*secs, place.as_str()));
        let (stated, listed) = (wanted.dt_secs, wanted.manifest.dt_secs());
        let dt = stated.map(|dt| (dt, "stated")).or(listed.map(|dt| (dt, "manifest"))).or(own);
        let spec = EnvSpec {
            source: self.made_of(wanted, dt),
            dt_secs: dt.map_or(1.0, |(secs, _)| secs),
            assumes_dt: dt.is_none(),
            observation: self.observation(),
            action: self.action(),
            horizon: self.horizon,
            parameters: self.parameters.iter().map(Quantity::parameter).collect(),
            initial: vec!["seed".into()],
            reward: "The environment's own.".into(),
            reset: "A seed from 0 to 2³¹ − 1, with which the environment is reset.".into(),
            ..EnvSpec::new(id, "an environment of Gymnasium in a process of its own")
        };
        ensure!(spec.obs_width() > 0, "environment {id}: expected an observation, found none");
        ensure!(
            spec.obs_width() <= OBSERVATION && spec.act_width() <= OBSERVATION,
            "environment {id}: expected at most {OBSERVATION} numbers of an observation or a command, found {} and {}",
            spec.obs_width(),
            spec.act_width()
        );
        ensure!(spec.act_width() > 0, "environment {id}: expected a command, found none");
        ensure!(
            (1..=MOST_STEPS).contains(&spec.horizon),
            "environment {id}: horizon: expected 1 to {MOST_STEPS} steps, found {}",
            spec.horizon
        );
        named(&spec.observation, self.observation_names.as_deref())
            .with_context(|| format!("environment {id}: observation_names"))?;
        named(&spec.action, self.action_names.as_deref())
            .with_context(|| format!("environment {id}: action_names"))?;
        ensure!(
            self.choices.iter().flatten().all(|&n| n > 1),
            "environment {id}: expected commands with two choices"
        );
        wanted.manifest.apply(spec).context("manifest").with_context(|| format!("environment {id}"))
    }

    /// Everything that episodes depend on besides the id: versions, the user's modules and manifest by their digests, and
    /// what says how long a step is.
    fn made_of(&self, wanted: &Wanted, dt: Option<(f64, &str)>) -> String {
        let own = self.modules.iter().take(LISTED).map(|(name, digest)| format!("{name} {digest}"));
        let others: Vec<&String> = self.modules.values().skip(LISTED).collect();
        let rest = (!others.is_empty()).then(|| {
            let all = address(others.iter().map(|digest| digest.as_str()).collect::<String>().as_bytes());
            format!("{} more modules {}", others.len(), &all[..12])
        });
        let manifest = wanted.manifest.digest().map(|digest| format!("manifest {digest}"));
        let step = dt.map(|(secs, place)| format!("step of {secs} s ({place})"));
        let parts = [self.source.clone()].into_iter().chain(own).chain(rest).chain(manifest).chain(step);
        parts.collect::<Vec<_>>().join(", ")
    }

    /// Numbers of an observation.
    pub(super) fn obs_width(&self) -> usize {
        offnominal_core::channel::width(&self.observation())
    }

    /// Whether an observation is bytes.
    pub(super) fn is_image(&self) -> bool {
        self.image.is_some()
    }

    fn observation(&self) -> Vec<Channel> {
        match self.image {
            Some([frames, planes, height, columns]) => {
                vec![Channel::image("image", "what is seen", Image { frames, planes, height, columns })]
            }
            None => {
                let channels = channels("o", "number of the observation", &self.observation);
                renamed(channels, self.observation_names.as_deref())
            }
        }
    }

    fn action(&self) -> Vec<Channel> {
        let channels = match &self.choices {
            Some(choices) => choices
                .iter()
                .enumerate()
                .map(|(i, &n)| Channel {
                    choices: n,
                    ..number(&format!("a{i}"), "choice", 0.0, f64::from(n.max(1) - 1))
                })
                .collect(),
            None => channels("a", "number of the command", &self.action),
        };
        renamed(channels, self.action_names.as_deref())
    }
}

impl Quantity {
    fn parameter(&self) -> Parameter {
        let [nominal, low, high] = self.range;
        Parameter::new(&self.name, "as the environment's process sets it", "1", nominal, low, high)
    }
}

/// The channels with names of their own, where there are any.
fn renamed(channels: Vec<Channel>, names: Option<&[String]>) -> Vec<Channel> {
    let name = |(i, channel): (usize, Channel)| match names.and_then(|names| names.get(i)) {
        Some(name) => Channel { name: name.clone(), ..channel },
        None => channel,
    };
    channels.into_iter().enumerate().map(name).collect()
}

fn channels(letter: &str, meaning: &str, bounds: &[Bounds]) -> Vec<Channel> {
    let channel = |(i, &Bounds(low, high)): (usize, &Bounds)| {
        let (low, high) = (low.unwrap_or(f64::NEG_INFINITY), high.unwrap_or(f64::INFINITY));
        number(&format!("{letter}{i}"), meaning, low, high)
    };
    bounds.iter().enumerate().map(channel).collect()
}

fn number(name: &str, meaning: &str, low: f64, high: f64) -> Channel {
    Channel::new(name, meaning, "1", low, high)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn described(json: &str) -> Result<EnvSpec> {
        Description::read(json.as_bytes())?.spec("gymnasium:X", &Wanted::policies_only())
    }

    #[test]
    fn numbers_and_choices_become_channels() {
        let spec = described(
            r#"{"image": null, "shape": null, "observation": [[null, 1.5], [0, null]],
                "observation_names": ["level", "flow"], "action_names": null, "choices": [2, 3], "action": [], "horizon": 7,
                "parameters": [{"name": "mass", "range": [1, 0.1, 10]}], "source": "Gymnasium 1", "dt": null, "registered": null, "modules": {}, "shared": null, "thread": 1}"#,
        )
        .unwrap();
        assert_eq!((spec.obs_width(), spec.act_width(), spec.horizon), (2, 2, 7));
        assert_eq!((spec.observation[0].low, spec.observation[0].high), (f64::NEG_INFINITY, 1.5));
        assert_eq!((spec.action[1].choices, spec.action[1].high), (3, 2.0));
        assert_eq!(spec.parameter("mass").unwrap().high, 10.0);
        assert!(spec.assumes_dt, "nobody said how long a step is");
        assert_eq!((spec.observation[1].name.as_str(), spec.action[1].name.as_str()), ("flow", "a1"));
    }

    #[test]
    fn an_image_is_one_channel() {
        let spec = described(
            r#"{"image": [1, 3, 210, 160], "shape": null, "observation": [], "observation_names": null, "action_names": ["joystick"],
                "choices": [6], "action": [], "horizon": 1000,
                "parameters": [], "source": "Gymnasium 1, ale_py 0.12", "dt": [0.02, "tau"], "registered": "X-v0", "modules": {"mine.py": "1a"}, "shared": "/dev/shm/x", "thread": 1}"#,
        )
        .unwrap();
        assert_eq!(spec.image().unwrap().shape(), [1, 3, 210, 160]);
        assert_eq!(spec.source, "Gymnasium 1, ale_py 0.12, mine.py 1a, step of 0.02 s (tau)");
        assert!(spec.dt_secs == 0.02 && !spec.assumes_dt);
    }

    #[test]
    fn names_that_tell_nothing_apart_are_refused() {
        let refused = |names: &str| {
            let json = format!(
                r#"{{"image": null, "shape": null, "observation": [[0, 1], [0, 1]], "observation_names": {names}, "action_names": null,
                    "choices": [2], "action": [], "horizon": 7, "parameters": [], "source": "", "dt": null, "registered": null, "modules": {{}}, "shared": null, "thread": 1}}"#
            );
            format!("{:#}", described(&json).unwrap_err())
        };
        assert!(refused(r#"["x"]"#).contains("observation_names: expected 2 names, found 1"));
        assert!(refused(r#"["x", "x"]"#).contains("found \"x\" twice"));
        assert!(refused(r#"["x", "a\nb"]"#).contains("plain characters"));
    }

    #[test]
    fn what_would_take_the_whole_memory_is_refused() {
        let error = described(
            r#"{"image": [1000000, 1000000, 1000000, 1000000], "shape": null, "observation": [], "observation_names": null,
                "action_names": null, "choices": [2], "action": [], "horizon": 1, "parameters": [], "source": "",
                "dt": null, "registered": null, "modules": {}, "shared": null, "thread": 1}"#,
        );
        assert!(error.unwrap_err().to_string().contains("expected at most"));
    }

    #[test]
    fn what_cannot_be_played_is_refused() {
        let error = described(
            r#"{"image": null, "shape": null, "observation": [], "observation_names": null, "action_names": null,
                "choices": null, "action": [[0, 1]], "horizon": 1,
                "parameters": [], "source": "", "dt": null, "registered": null, "modules": {}, "shared": null, "thread": 1}"#,
        );
        assert_eq!(
            error.unwrap_err().to_string(),
            "environment gymnasium:X: expected an observation, found none"
        );
    }
}
