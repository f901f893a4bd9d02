//! The commands as data, told by their declarations: what makes functions of them needs no list of its own.

use super::command::{Command, Reply, is_of_terminal};
use super::commands::{FAMILIES, GROUPS};
use clap::{Arg, ArgAction};
use offnominal_core::anomaly::Channels;
use offnominal_engine::detector_choice::DetectorChoice;
use serde::Serialize;
use serde_json::Value;
use std::any::TypeId;
use std::collections::BTreeMap;
use std::num::{NonZeroU32, NonZeroUsize};
use std::path::PathBuf;

/// All commands.
#[derive(Debug, Serialize)]
pub struct Declarations {
    /// What the commands do that have a first word in common.
    pub families: BTreeMap<&'static str, &'static str>,
    /// The commands, in the order of the help.
    pub commands: Vec<Declaration>,
}

/// A command.
#[derive(Debug, Serialize)]
pub struct Declaration {
    /// Its words, such as `risk estimate`.
    pub name: &'static str,
    /// The heading under which the help has it.
    pub group: &'static str,
    /// What it does, in one sentence.
    pub about: &'static str,
    /// What it answers.
    pub reply: Reply,
    /// What a request may hold, in the order of the help.
    pub arguments: Vec<Argument>,
}

/// An argument of a command.
#[derive(Debug, Serialize)]
pub struct Argument {
    /// Its key in a request.
    pub id: String,
    /// Its name on the command line, unless it is told by its place.
    pub flag: Option<String>,
    /// What it means.
    pub help: String,
    /// What its values are.
    pub kind: &'static str,
    /// The words that there are, and what each means.
    pub choices: Vec<(String, String)>,
    /// Its value if none is given, as the help has it.
    pub default: Option<String>,
    /// Whether there is no request without it.
    pub required: bool,
    /// Whether it may have several values.
    pub many: bool,
    /// What the help calls its value.
    pub value: Option<String>,
    /// The heading under which the help of the command has it.
    pub heading: Option<String>,
}

/// Texts that name an environment or a policy, for which a program may have an object.
const NAMES: [(&str, &[&str]); 2] = [
    ("environment", &["env", "cheap"]),
    ("policy", &["policy", "policies", "old", "new", "more", "demonstrator"]),
];

/// What the commands are and take.
pub fn declarations() -> Declarations {
    let of_group = |(group, commands): &(&'static str, &'static [Command])| {
        let group = *group;
        commands.iter().map(move |command| declaration(group, command))
    };
    Declarations {
        families: FAMILIES.iter().copied().collect(),
        commands: GROUPS.iter().flat_map(of_group).collect(),
    }
}

fn declaration(group: &'static str, command: &Command) -> Declaration {
    let line = command.line();
    let own = line.get_arguments().filter(|arg| !is_of_terminal(&line, arg));
    let arguments = own.map(argument).collect();
    Declaration { name: command.name, group, about: command.about, reply: command.reply, arguments }
}

fn argument(arg: &Arg) -> Argument {
    let choices = arg.get_possible_values().into_iter().map(|value| {
        let help = value.get_help().map(ToString::to_string);
        (value.get_name().to_string(), help.unwrap_or_default())
    });
    let kind = kind(arg);
    let defaults: Vec<_> = arg.get_default_values().iter().map(|value| value.to_string_lossy()).collect();
    let is_given = arg.get_action().takes_values();
    Argument {
        id: arg.get_id().to_string(),
        flag: arg.get_long().map(|long| format!("--{long}")),
        help: arg.get_long_help().or(arg.get_help()).map(ToString::to_string).unwrap_or_default(),
        kind,
        choices: if kind == "choice" { choices.collect() } else { Vec::new() },
        default: (is_given && !defaults.is_empty()).then(|| defaults.join(",")),
        required: arg.is_required_set(),
        many: matches!(arg.get_action(), ArgAction::Append),
        value: arg.get_value_names().filter(|_| is_given).map(|names| names.join(" ")),
        heading: arg.get_help_heading().map(String::from),
    }
}

/// What the values of an argument are; a `word` is a text or a number, whose meaning the command alone knows.
fn kind(arg: &Arg) -> &'static str {
    let is_of = |(_, ids): &&(&str, &[&str])| ids.contains(&arg.get_id().as_str());
    match (of_type(arg).unwrap_or("word"), NAMES.iter().find(is_of)) {
        ("flag", _) => "flag",
        _ if !arg.get_possible_values().is_empty() => "choice",
        ("text", Some((kind, _))) => kind,
        (kind, _) => kind,
    }
}

/// What values are by the type that they are read as.
fn of_type(arg: &Arg) -> Option<&'static str> {
    let kinds = [
        (TypeId::of::<bool>(), "flag"),
        (TypeId::of::<String>(), "text"),
        (TypeId::of::<PathBuf>(), "path"),
        (TypeId::of::<f64>(), "number"),
        (TypeId::of::<u8>(), "whole number"),
        (TypeId::of::<u16>(), "whole number"),
        (TypeId::of::<u32>(), "whole number"),
        (TypeId::of::<u64>(), "whole number"),
        (TypeId::of::<usize>(), "whole number"),
        (TypeId::of::<NonZeroU32>(), "whole number"),
        (TypeId::of::<NonZeroUsize>(), "whole number"),
        (TypeId::of::<(f64, f64)>(), "two numbers"),
        (TypeId::of::<(u32, u32)>(), "two whole numbers"),
        (TypeId::of::<(String, f64)>(), "number by name"),
        (TypeId::of::<BTreeMap<String, Value>>(), "object"),
        (TypeId::of::<DetectorChoice>(), "detector"),
        (TypeId::of::<Channels>(), "channels"),
    ];
    let read = arg.get_value_parser().type_id();
    kinds.into_iter().find(|(known, _)| read == *known).map(|(_, kind)| kind)
}
