//! What RL Baselines3 Zoo writes beside a model: how observations were normalised and stacked, and what was around the
//! environment.
//!
//! `ALGO/ENV_N/` has `ENV.zip` and `best_model.zip`; `ENV_N/ENV/` has `config.yml`, `args.yml` and `vecnormalize.pkl`. On a
//! hub all of them are in one folder. A configuration is a list of pairs (a dictionary of Python) or a mapping.

use anyhow::{Context, Result, bail, ensure};
use offnominal_files::read;
use offnominal_hosts::foreign;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Files that say how a model was trained, the later one where it was said on the command line only.
const CONFIGS: [&str; 2] = ["config.yml", "args.yml"];

/// Keys that say what is done to observations; a file that has one in a form that is not read is refused.
const KEYS: [&str; 2] = ["normalize", "frame_stack"];

/// How a model was trained, as the files around it say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Training {
    /// The folder of those files.
    pub(super) folder: PathBuf,
    /// Whether observations were normalised.
    pub(super) normalises: bool,
    /// Frames that were stacked.
    pub(super) frames: Option<usize>,
    /// Classes that stood around the environment.
    wrappers: Vec<String>,
    /// Options with which the environment was made.
    options: Vec<(String, String)>,
}

impl Training {
    /// What the files around a model say; none if there are none.
    ///
    /// # Errors
    /// If they cannot be read or understood, or several folders may be meant.
    pub(super) fn around(model: &Path) -> Result<Option<Training>> {
        let Some(folder) = folder(model)? else { return Ok(None) };
        let mut said = BTreeMap::new();
        for path in CONFIGS.iter().rev().map(|name| folder.join(name)).filter(|path| path.is_file()) {
            let text = read::text(&path)?;
            said.extend(entries(&text).with_context(|| path.display().to_string())?);
        }
        let of = |key: &str| said.get(key).map_or("", |value| value.trim());
        let around = [of("env_wrapper"), of("vec_env_wrapper")].join("\n");
        let wrappers = classes(&around);
        let is_wrapped = wrappers.iter().any(|class| class.ends_with("VecNormalize"));
        let frames =
            match of("frame_stack") {
                "" | "null" => None,
                text => {
                    let found = text.parse().ok().filter(|&n| n > 0);
                    Some(found.with_context(|| {
                        format!("frame_stack: expected a number of frames, found {text:?}")
                    })?)
                }
            };
        let normalises = is_wrapped || normalises(of("normalize"), of("normalize_kwargs"));
        Ok(Some(Training { folder, normalises, frames, wrappers, options: options(of("env_kwargs")) }))
    }

    /// What the environment of training was made with, and the one of that id was not.
    pub(super) fn apart(&self, env: &str) -> Vec<String> {
        let (name, query) = env.split_once('?').unwrap_or((env, ""));
        let here = |key: &str| query.split('&').filter_map(|o| o.split_once('=')).find(|(k, _)| *k == key);
        let told = |(key, value): &(String, String)| match here(key) {
            Some((_, found)) if is_same(found, value) => None,
            Some((_, found)) => Some(format!("{key}={value} where it is {found} here")),
            None if foreign::named(env).is_some() => {
                Some(format!("{key}={value} (--env '{name}?{key}={value}')"))
            }
            None => Some(format!("{key}={value}")),
        };
        self.wrappers.iter().cloned().chain(self.options.iter().filter_map(told)).collect()
    }
}

/// The folder with the files of a model's training: that of its name, its own, or the only one beside it.
fn folder(model: &Path) -> Result<Option<PathBuf>> {
    let has = |folder: &PathBuf| CONFIGS.iter().any(|name| folder.join(name).is_file());
    let own = model.parent().unwrap_or(Path::new("")).to_path_buf();
    if let Some(found) = [model.with_extension(""), own.clone()].into_iter().find(has) {
        return Ok(Some(found));
    }
    let own = if own.as_os_str().is_empty() { PathBuf::from(".") } else { own };
    let beside = std::fs::read_dir(&own).with_context(|| format!("cannot read {}", own.display()))?;
    let mut found: Vec<PathBuf> = beside.filter_map(|entry| Some(entry.ok()?.path())).filter(has).collect();
    found.sort();
    match &found[..] {
        [] => Ok(None),
        [only] => Ok(Some(only.clone())),
        several => {
            let names: Vec<_> = several.iter().map(|folder| folder.display().to_string()).collect();
            bail!(
                "expected one folder that says how observations were normalised, found {}; say it with \
                 ?normalize=FILE or ?normalize=none",
                names.join(", ")
            )
        }
    }
}

/// Keys and values of a configuration, those of `hyperparams` too.
fn entries(text: &str) -> Result<BTreeMap<String, String>> {
    let mut found: Vec<(String, String)> = vec![];
    for line in text.lines().filter(|line| !line.trim_start().starts_with('#')) {
        let pair = line.strip_prefix("- - - ").or_else(|| line.strip_prefix("  - - "));
        let mapped = line.split_once(':').filter(|(key, _)| !key.starts_with([' ', '-', '!', '{']));
        match (pair, mapped, found.last_mut()) {
            (Some(key), ..) => found.push((plain(key), String::new())),
            (None, Some((key, value)), _) => found.push((plain(key), value.trim().into())),
            (None, None, Some((_, value))) => *value = format!("{value}\n{line}"),
            (None, None, None) => {}
        }
    }
    let mut all: BTreeMap<String, String> = BTreeMap::new();
    for (key, value) in found {
        if key == "hyperparams" {
            let inner = value.lines().filter_map(|line| line.trim().trim_start_matches("- ").split_once(':'));
            all.extend(inner.map(|(key, value)| (plain(key), plain(value))));
        }
        all.insert(key, plain(value.trim().trim_start_matches("- ")));
    }
    for key in KEYS {
        let names = |word: &str| word == key;
        let is_said = text.split(|c: char| !c.is_alphanumeric() && c != '_').any(names);
        ensure!(
            !is_said || all.contains_key(key),
            "expected {key} as a key of its own, found another form; say what holds with ?normalize=FILE or \
             ?normalize=none, and ?stack=N"
        );
    }
    Ok(all)
}

/// Names and values of the arguments of an environment: a dictionary in YAML or Python, or a call of `dict`. Of another form
/// the whole is told.
fn options(text: &str) -> Vec<(String, String)> {
    let text = text.trim();
    if ["", "null", "none", "~", "{}", "dict()"].contains(&text.to_lowercase().as_str()) {
        return vec![];
    }
    let call = text.strip_prefix("dict(").and_then(|inner| inner.strip_suffix(')'));
    let inner = call.unwrap_or(text).trim_start_matches('{').trim_end_matches('}');
    let (between, sign) =
        if inner == text { ('\n', ':') } else { (',', if call.is_some() { '=' } else { ':' }) };
    let parts = inner.split(between).map(str::trim).filter(|part| !part.is_empty());
    let pairs = parts.map(|part| part.split_once(sign).map(|(key, value)| (plain(key), plain(value))));
    pairs.collect::<Option<_>>().unwrap_or_else(|| vec![("env_kwargs".into(), text.into())])
}

/// Whether two words mean the same value, as YAML, Python and JSON write it.
fn is_same(a: &str, b: &str) -> bool {
    let number = |text: &str| text.parse::<f64>().ok();
    a.eq_ignore_ascii_case(b) || number(a).is_some_and(|a| number(b) == Some(a))
}

/// Text without quotes around it.
fn plain(text: &str) -> String {
    text.trim().trim_matches(['"', '\'']).into()
}

/// Whether observations are normalised, by the values of `normalize` and of its arguments.
fn normalises(value: &str, arguments: &str) -> bool {
    let is_off = ["", "false", "null", "none", "no", "off", "~"].contains(&value.to_lowercase().as_str());
    let said: String = [value, arguments].concat().to_lowercase();
    let said: String = said.chars().filter(|c| !c.is_whitespace() && !"'\"".contains(*c)).collect();
    let leaves = ["norm_obs=false", "norm_obs:false"].iter().any(|text| said.contains(text));
    !is_off && !leaves
}

/// The names of classes in a text.
fn classes(text: &str) -> Vec<String> {
    let words = text.split(|c: char| !c.is_alphanumeric() && !"._".contains(c));
    let is_class = |word: &&str| word.contains('.') && word.starts_with(|c: char| c.is_alphabetic());
    words.filter(is_class).map(String::from).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn around(config: &str) -> Result<Training> {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("Env-v1")).unwrap();
        fs::write(folder.path().join("Env-v1/config.yml"), config).unwrap();
        Ok(Training::around(&folder.path().join("best_model.zip"))?.unwrap())
    }

    const PAIRS: &str = "!!python/object/apply:collections.OrderedDict\n- - - ";

    #[test]
    fn each_way_of_writing_it_says_the_same() {
        for on in ["true", "'dict(norm_obs=True, norm_reward=False)'", "\"{'norm_reward': False}\""] {
            assert!(around(&format!("{PAIRS}normalize\n    - {on}\n")).unwrap().normalises, "{on}");
            assert!(around(&format!("normalize: {on}\npolicy: MlpPolicy\n")).unwrap().normalises, "{on}");
        }
        assert!(around("normalize:\n  norm_reward: false\n").unwrap().normalises);
        assert!(around("algo: ppo\nhyperparams:\n  normalize: true\n").unwrap().normalises);
        for off in ["false", "null", "dict(norm_obs=False, norm_reward=True)", "\"{'norm_obs': False}\""] {
            assert!(!around(&format!("{PAIRS}normalize\n    - {off}\n")).unwrap().normalises, "{off}");
            assert!(!around(&format!("normalize: {off}\n")).unwrap().normalises, "{off}");
        }
        assert!(!around("normalize:\n  norm_obs: false\n").unwrap().normalises);
        assert!(!around("policy: MlpPolicy\n").unwrap().normalises);
    }

    #[test]
    fn stacks_and_wrappers_are_read() {
        let pairs = format!("{PAIRS}env_wrapper\n    - - a.b.AtariWrapper\n  - - frame_stack\n    - 4\n");
        for config in [&*pairs, "env_wrapper:\n  - a.b.AtariWrapper\nframe_stack: 4\n"] {
            let found = around(config).unwrap();
            assert_eq!((found.frames, found.apart("ale")), (Some(4), vec!["a.b.AtariWrapper".to_string()]));
        }
        let error = format!("{:#}", around("frame_stack: many\n").unwrap_err());
        assert!(error.contains("expected a number of frames, found \"many\""), "{error}");
    }

    #[test]
    fn options_of_the_environment_are_told_unless_it_has_them() {
        let forms = [
            &format!("{PAIRS}env_kwargs\n    - g: 9.0\n      is_wide: true\n  - - eval_freq\n    - 5\n"),
            "env_kwargs:\n  g: 9.0\n  is_wide: true\n",
            "env_kwargs: {g: 9.0, is_wide: true}\n",
            "env_kwargs: \"{'g': 9.0, 'is_wide': True}\"\n",
            "env_kwargs: dict(g=9.0, is_wide=True)\n",
        ];
        for form in forms {
            let found = around(form).unwrap();
            let apart = |id: &str| found.apart(id).join(", ").replace("True", "true");
            assert_eq!(apart("gymnasium:A-v1?g=9&is_wide=True"), "", "{form}");
            assert_eq!(
                apart("gymnasium:A-v1?is_wide=false&g=9"),
                "is_wide=true where it is false here",
                "{form}"
            );
            let said =
                "g=9.0 (--env 'gymnasium:A-v1?g=9.0'), is_wide=true (--env 'gymnasium:A-v1?is_wide=true')";
            assert_eq!(apart("gymnasium:A-v1"), said, "{form}");
            assert_eq!(apart("pendulum"), "g=9.0, is_wide=true", "{form}");
        }
        for none in ["env_kwargs: null\n", "env_kwargs: {}\n", &format!("{PAIRS}env_kwargs\n    - null\n")] {
            assert!(around(none).unwrap().apart("gymnasium:A-v1").is_empty(), "{none}");
        }
        let other = around("env_kwargs:\n  !!python/tuple\n").unwrap();
        assert_eq!(other.apart("pendulum"), ["env_kwargs=!!python/tuple"]);
    }

    #[test]
    fn another_form_is_refused() {
        let error = format!("{:#}", around("{policy: MlpPolicy, normalize: true}\n").unwrap_err());
        assert!(error.contains("expected normalize as a key of its own"), "{error}");
    }
}
