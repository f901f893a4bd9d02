//! A request as a declaration: one struct is the flags of a command, their help and defaults, and its JSON.
//!
//! The structs derive [`clap::Args`]. A JSON request is read as the words of the command line that mean the same, so both have
//! the same names, defaults and checks; the line that a result is recorded with is made of what was given, so it lacks nothing.

use anyhow::{Result, anyhow, bail, ensure};
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches};
use offnominal_core::suggest::did_you_mean;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use std::str::FromStr;
use strum::{EnumMessage, VariantArray};

/// Reads one of the words of `T`; help lists them with what their documentation says.
pub fn one_of<T>() -> impl TypedValueParser<Value = T>
where
    T: FromStr + VariantArray + EnumMessage + Copy + Send + Sync + 'static,
    &'static str: From<T>,
{
    parsed(T::VARIANTS.iter().map(|&value| {
        let word = PossibleValue::new(<&'static str>::from(value));
        value.get_documentation().map_or(word.clone(), |help| word.help(help.trim_end_matches('.')))
    }))
}

/// The same for words that need no explanation.
pub fn word_of<T>() -> impl TypedValueParser<Value = T>
where
    T: FromStr + VariantArray + Copy + Send + Sync + 'static,
    &'static str: From<T>,
{
    parsed(T::VARIANTS.iter().map(|&value| PossibleValue::new(<&'static str>::from(value))))
}

fn parsed<T: FromStr + Clone + Send + Sync + 'static>(
    words: impl Iterator<Item = PossibleValue>,
) -> impl TypedValueParser<Value = T> {
    PossibleValuesParser::new(words)
        .map(|word| word.parse().unwrap_or_else(|_| unreachable!("clap has checked the word")))
}

/// Reads a value by its word, as JSON has it.
///
/// # Errors
/// If there is no such word; the words that there are are named.
pub fn word<T: DeserializeOwned>(text: &str) -> Result<T, String> {
    serde_json::from_value(text.into()).map_err(|e| e.to_string())
}

/// Reads a share, which may not be mistaken for a percentage.
///
/// # Errors
/// If the text is no number.
pub fn share(text: &str) -> Result<f64, String> {
    let percent = text.trim().strip_suffix('%').and_then(|number| number.trim().parse::<f64>().ok());
    match (text.trim().parse(), percent) {
        (Ok(share), _) => Ok(share),
        (_, Some(percent)) => Err(format!("expected a share: {} is {percent} %", percent / 100.0)),
        _ => Err("expected a share, a number such as 0.05".into()),
    }
}

/// Reads a finite number.
///
/// # Errors
/// If the text is none.
pub fn finite(text: &str) -> Result<f64, String> {
    let number: f64 = text.parse().map_err(|_| "expected a number".to_string())?;
    if number.is_finite() { Ok(number) } else { Err(format!("expected a finite number, found {number}")) }
}

/// Reads two values with a comma between, such as `5,10`.
///
/// # Errors
/// If the text is something else.
pub fn pair<T: FromStr>(text: &str) -> Result<(T, T), String> {
    let both = text.split_once(',').and_then(|(a, b)| Some((a.trim().parse().ok()?, b.trim().parse().ok()?)));
    both.ok_or_else(|| "expected two numbers with a comma between, such as 5,10".into())
}

/// The request that JSON describes.
///
/// # Errors
/// As [`words`], or as the command line would refuse it.
pub fn request<R: Args>(json: &Value) -> Result<R> {
    let line = R::augment_args(Command::new("request").no_binary_name(true));
    read(&matched(&line, words(&line, json)?)?)
}

/// The request that arguments are.
///
/// # Errors
/// What is wrong with them, without the usage.
pub fn read<R: FromArgMatches>(matches: &ArgMatches) -> Result<R> {
    R::from_arg_matches(matches).map_err(refused)
}

/// The request in which nothing is given, where nothing is required.
pub fn defaults<R: Args>() -> R {
    request(&Value::Object(Map::new()))
        .unwrap_or_else(|why| unreachable!("the defaults are a request: {why}"))
}

/// What words say by a declaration.
///
/// # Errors
/// What is wrong with them, without the usage.
pub fn matched(line: &Command, words: Vec<String>) -> Result<ArgMatches> {
    line.clone().try_get_matches_from(words).map_err(refused)
}

/// What clap says, without the usage.
fn refused(error: clap::Error) -> anyhow::Error {
    let text = error.to_string();
    let end = text.find("\n\nUsage:").or_else(|| text.find("\n\nFor more")).unwrap_or(text.len());
    anyhow!("{}", text[..end].trim_start_matches("error: ").trim_end())
}

/// The words of the command line that mean the same as a JSON object, whose keys are the names of the arguments. A group of
/// settings may be an object of its own.
///
/// # Errors
/// If a key is no argument, or a value is none of its kind.
pub fn words(line: &Command, json: &Value) -> Result<Vec<String>> {
    let Some(asked) = json.as_object() else { bail!("request: expected an object, found {json}") };
    let (mut options, mut places) = (Vec::new(), Vec::new());
    write(line, asked, &mut options, &mut places)?;
    places.sort_by_key(|(index, _)| *index);
    let places = places.into_iter().map(|(_, word)| word);
    Ok(options.into_iter().chain(["--".into()]).chain(places).collect())
}

/// Words of options, and those that stand alone with their places.
fn write(
    line: &Command,
    asked: &Map<String, Value>,
    options: &mut Vec<String>,
    places: &mut Vec<(usize, String)>,
) -> Result<()> {
    let named = |key: &str| line.get_arguments().enumerate().find(|(_, arg)| arg.get_id() == key);
    for (key, value) in asked.iter().filter(|(_, value)| !value.is_null()) {
        match (named(key), value) {
            // A group: its keys are arguments, and one of them may be the group's own name.
            (found, Value::Object(inner)) if found.is_none() || inner.contains_key(key) => {
                ensure!(inner.keys().all(|key| named(key).is_some()), unknown(line, inner, key));
                write(line, inner, options, places)?;
            }
            (Some((place, arg)), value) => {
                let texts = texts(arg, value)?;
                match arg.is_positional() {
                    true => places.extend(texts.into_iter().map(|text| (place, text))),
                    false => options.extend(texts),
                }
            }
            (None, _) => bail!(unknown(line, asked, key)),
        }
    }
    Ok(())
}

/// The words of one argument.
fn texts(arg: &Arg, value: &Value) -> Result<Vec<String>> {
    if matches!(arg.get_action(), ArgAction::SetTrue) {
        let Some(is_given) = value.as_bool() else {
            bail!("{}: expected true or false, found {value}", arg.get_id())
        };
        return Ok(is_given.then(|| flag(arg)).into_iter().collect());
    }
    let texts: Vec<String> = match value {
        Value::Array(all) => all.iter().map(|one| text(arg, one)).collect::<Result<_>>()?,
        // A mapping stands for NAME=VALUE of each entry.
        Value::Object(all) if matches!(arg.get_action(), ArgAction::Append) => all
            .iter()
            .map(|(name, value)| Ok(format!("{name}={}", text(arg, value)?)))
            .collect::<Result<_>>()?,
        value => vec![text(arg, value)?],
    };
    ensure!(
        !texts.is_empty() || arg.get_default_values().is_empty(),
        "{}: expected one value at least, or none of it for the default, found an empty list",
        arg.get_id()
    );
    let is_list = matches!(arg.get_action(), ArgAction::Append) || texts.len() <= 1;
    let texts = if is_list { texts } else { vec![texts.join(",")] };
    let word = |text| if arg.is_positional() { text } else { format!("{}={text}", flag(arg)) };
    Ok(texts.into_iter().map(word).collect())
}

/// A value as a word.
fn text(arg: &Arg, value: &Value) -> Result<String> {
    let text = match value {
        Value::String(text) => text.clone(),
        value => value.to_string(),
    };
    ensure!(!text.contains('\0'), "{}: expected text without a zero byte, found one", arg.get_id());
    Ok(text)
}

fn flag(arg: &Arg) -> String {
    format!("--{}", arg.get_long().unwrap_or(arg.get_id().as_str()))
}

fn unknown(line: &Command, asked: &Map<String, Value>, group: &str) -> String {
    let known: Vec<&str> = line.get_arguments().map(|arg| arg.get_id().as_str()).collect();
    let wrong = asked.keys().find(|key| !known.contains(&key.as_str())).map_or(group, String::as_str);
    let hint = did_you_mean(wrong, known.iter().copied());
    format!("{wrong}: expected one of the arguments {}, found another{hint}", known.join(", "))
}

/// What does not change a result: where it goes, and how it is shown.
const NOT_RECORDED: [&str; 4] = ["out", "jobs", "json", "quiet"];

/// The command line that makes the same result: all that was given, and the seed.
///
/// # Errors
/// If a word is no text.
pub fn recorded(name: &str, line: &Command, matches: &ArgMatches) -> Result<String> {
    let (mut options, mut places) = (Vec::new(), Vec::new());
    for arg in line.get_arguments().filter(|arg| !NOT_RECORDED.contains(&arg.get_id().as_str())) {
        let id = arg.get_id().as_str();
        let is_given = matches.value_source(id) == Some(ValueSource::CommandLine);
        if !is_given && id != "seed" {
            continue;
        }
        if matches!(arg.get_action(), ArgAction::SetTrue) {
            options.push(flag(arg));
            continue;
        }
        for given in matches.get_raw_occurrences(id).into_iter().flatten() {
            let words = given.map(|word| word.to_str().map(String::from)).collect::<Option<Vec<_>>>();
            let Some(words) = words else {
                bail!("{id}: expected text that is UTF-8, so that it can be recorded")
            };
            match arg.is_positional() {
                true => places.extend(words),
                false => option(arg, words.join(","), &mut options),
            }
        }
    }
    let is_odd = places.iter().any(|word| word.starts_with('-'));
    let name = std::iter::once("offnominal").chain(name.split(' ')).map(String::from);
    let line: Vec<String> = match is_odd {
        true => name.chain(options).chain(["--".into()]).chain(places).collect(),
        false => name.chain(places).chain(options).collect(),
    };
    Ok(shlex::try_join(line.iter().map(String::as_str))?)
}

/// An option and its value: two words, unless the value looks like an option.
fn option(arg: &Arg, value: String, into: &mut Vec<String>) {
    match value.starts_with('-') {
        true => into.push(format!("{}={value}", flag(arg))),
        false => into.extend([flag(arg), value]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use std::path::PathBuf;

    /// Arguments of every kind.
    #[derive(Debug, PartialEq, Args)]
    struct Asked {
        /// Alone
        files: Vec<PathBuf>,
        #[arg(long)]
        env: String,
        #[arg(long, default_value_t = 3)]
        n: u32,
        #[arg(long = "detector")]
        detectors: Vec<String>,
        #[arg(long, value_delimiter = ',')]
        sigma: Vec<f64>,
        #[arg(long, value_parser = pair::<f64>, allow_hyphen_values = true)]
        range: Option<(f64, f64)>,
        #[arg(long)]
        all: bool,
        #[arg(long, allow_negative_numbers = true)]
        below: Option<f64>,
        #[arg(long, default_value_t = 0)]
        seed: u64,
    }

    fn line() -> Command {
        Asked::augment_args(Command::new("asked").no_binary_name(true))
    }

    fn all() -> Value {
        json!({
            "files": ["a b", "-c"], "env": "e", "n": 5, "detectors": ["{\"id\":\"knn\",\"k\":3}", "x"], "sigma": [0.1, 1e-7],
            "range": [-3.5, 1000.0], "all": true, "group": { "below": -2.5 },
        })
    }

    #[test]
    fn json_is_the_request_of_the_line_that_means_the_same() {
        let asked: Asked = request(&all()).unwrap();
        let expected = Asked {
            files: vec!["a b".into(), "-c".into()],
            env: "e".into(),
            n: 5,
            detectors: vec!["{\"id\":\"knn\",\"k\":3}".into(), "x".into()],
            sigma: vec![0.1, 1e-7],
            range: Some((-3.5, 1000.0)),
            all: true,
            below: Some(-2.5),
            seed: 0,
        };
        assert_eq!(asked, expected);
        let few: Asked = request(&json!({ "env": "e", "all": false, "below": null })).unwrap();
        assert!(few.n == 3 && !few.all && few.below.is_none());
    }

    #[test]
    fn a_recorded_line_makes_the_same_request_again() {
        let line = line();
        for left_out in ["files", "n", "detectors", "sigma", "range", "all", "group", ""] {
            let mut json = all();
            json.as_object_mut().unwrap().remove(left_out);
            let matches = matched(&line, words(&line, &json).unwrap()).unwrap();
            let text = recorded("one two", &line, &matches).unwrap();
            let words = shlex::split(&text).unwrap();
            assert_eq!(words[..3], ["offnominal", "one", "two"], "{text}");
            let again = matched(&line, words[3..].to_vec()).unwrap();
            let read =
                |matches: &ArgMatches| <Asked as clap::FromArgMatches>::from_arg_matches(matches).unwrap();
            assert_eq!(read(&again), read(&matches), "{text}");
            assert!(text.contains("--seed 0"), "{text}");
        }
    }

    #[test]
    fn what_is_no_argument_is_named() {
        let refused = |json| request::<Asked>(&json).unwrap_err().to_string();
        let text = refused(json!({ "env": "e", "detector": ["x"] }));
        assert!(
            text.starts_with("detector: expected one of") && text.contains("did you mean \"detectors\""),
            "{text}"
        );
        assert!(refused(json!({ "env": "e", "all": 1 })).contains("all: expected true or false, found 1"));
        assert!(refused(json!({ "env": "e", "n": "many" })).contains("invalid value 'many' for '--n"));
        assert!(refused(json!({ "n": 1 })).contains("--env"), "a required one is missing");
        assert!(refused(json!({ "env": "e", "group": { "belw": 1 } })).contains("did you mean \"below\""));
    }

    #[test]
    fn values_are_read_or_refused() {
        assert_eq!((share("0.05"), pair("5, 10")), (Ok(0.05), Ok((5, 10))));
        assert!(share("5%").unwrap_err().contains("0.05 is 5 %") && share("few").is_err());
        assert_eq!(finite("nan"), Err("expected a finite number, found NaN".into()));
        assert!(finite("-0.5") == Ok(-0.5) && pair::<f64>("1").is_err() && pair::<u32>("a,b").is_err());
    }
}
