//! Laws of all commands: each is sound, and a recorded line makes the same request again.

use super::command::Command;
use super::commands::{FAMILIES, GROUPS, find};
use super::{declarations, line, program};
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Arg, ArgAction, ArgMatches};
use offnominal_engine::context::Context;
use offnominal_work::cli::{matched, recorded, words};
use serde_json::{Map, Value, json};

fn all() -> impl Iterator<Item = &'static Command> {
    GROUPS.iter().flat_map(|(_, commands)| *commands)
}

fn help(args: &[&str]) -> String {
    let line = program(Command::line_of_help);
    let refused = line.try_get_matches_from([&["offnominal"], args, &["--help"]].concat());
    refused.unwrap_err().to_string()
}

#[test]
fn the_line_is_sound() {
    line().debug_assert();
}

#[test]
fn the_help_names_every_command_once_in_its_group() {
    let text = help(&[]);
    for (group, commands) in GROUPS {
        assert!(text.contains(&format!("{group}:\n")), "{text}");
        for command in *commands {
            let first = command.name.split(' ').next().unwrap();
            assert_eq!(text.matches(&format!("\n  {first:<12}")).count(), 1, "{first}: {text}");
        }
    }
}

#[test]
fn own_options_come_first_and_then_the_common_ones() {
    let help = help(&["collect"]);
    let at = |text: &str| help.find(text).unwrap_or_else(|| panic!("{text} is missing in {help}"));
    let order = [
        "--env",
        "--policy",
        "--episodes",
        "--out",
        "Anomaly:",
        "--magnitude",
        "Common options: --seed --jobs --json --quiet (see `offnominal --help`)",
    ];
    assert!(order.map(at).is_sorted(), "{help}");
    assert!(!help.contains("--seed <SEED>") && self::help(&[]).contains("--seed <SEED>"), "{help}");
}

/// Most commands, flags of theirs, words of their help in all, and words of the help of one flag or command.
const MOST: (usize, usize, usize, usize) = (45, 550, 10_000, 16);

#[test]
fn the_help_is_short() {
    let words = |text: &str| text.split_whitespace().count();
    let (mut flags, mut in_all, mut long) = (0, words(&help(&[])), Vec::new());
    in_all += FAMILIES.iter().map(|(family, _)| words(&help(&[family]))).sum::<usize>();
    for command in all() {
        in_all += words(&help(&command.name.split(' ').collect::<Vec<_>>()));
        let line = command.line_of_help();
        let shown = line.get_arguments().filter(|arg| !arg.is_hide_set() && !arg.is_positional());
        flags += shown.count();
        let texts = line
            .get_arguments()
            .filter_map(|arg| Some((arg.get_id().to_string(), arg.get_help()?.to_string())));
        let about = [(String::new(), command.about.to_string())];
        // A default is no sentence.
        let is_long = |text: &str| words(text.split(" [default").next().unwrap_or(text)) > MOST.3;
        long.extend(
            texts
                .chain(about)
                .filter(|(_, text)| is_long(text))
                .map(|(arg, _)| format!("{} {arg}", command.name)),
        );
    }
    assert!(long.is_empty(), "more than {} words: {long:#?}", MOST.3);
    let found = (all().count(), flags, in_all);
    assert!(
        found.0 <= MOST.0 && found.1 <= MOST.1 && found.2 <= MOST.2,
        "{found:?}, expected at most {MOST:?}"
    );
}

#[test]
fn what_installs_beside_the_program_knows_the_common_options() {
    let known = line();
    let collect = known.find_subcommand("collect").unwrap();
    assert!(collect.get_arguments().any(|arg| arg.get_id() == "seed" && !arg.is_hide_set()));
}

#[test]
fn a_run_has_its_own_seed_and_an_episode_one_magnitude() {
    let refused = |words: &[&str]| {
        let line = find("render").unwrap();
        let matches = line.line_of_person().no_binary_name(true).try_get_matches_from(words).unwrap();
        line.run(&matches).err().unwrap().to_string()
    };
    assert!(refused(&["runs/none", "--seed", "3"]).starts_with("seed: expected none with a run"));
    let two = ["--env", "sap-goal0", "--policy", "random", "--anomaly", "obs-noise", "--magnitude", "1,2"];
    assert!(refused(&two).starts_with("magnitude: expected one number without --sheet, found 2"));
}

#[test]
fn a_common_option_without_a_use_is_not_offered_and_not_taken() {
    assert!(!help(&["list"]).contains("--seed") && help(&["list"]).contains("--json"));
    let refused = line().try_get_matches_from(["offnominal", "list", "envs", "--seed", "3"]);
    assert!(refused.unwrap_err().to_string().contains("unexpected argument '--seed'"));
}

/// Words of every kind that an argument may want.
const SAMPLES: &str = "3 0.25 some_thing 1,2 90s 7d 12 8 64x48 {} true gamma=0.9 info.key random x -1 always(x<3) 127.0.0.1 -0.5 1e-7 \
                       it's minari 200 2000 by-volume 0.5/hour relative road test usual folds:3 sb3";

/// A word that the argument takes, if one of these is.
fn sample(line: &clap::Command, arg: &Arg) -> Option<String> {
    let own = arg.get_possible_values().into_iter().map(|value| value.get_name().to_string());
    let all = own.chain(SAMPLES.split_whitespace().map(|word| word.replace('_', " ")));
    // A place is filled behind those before it.
    let before =
        line.get_arguments().take_while(|known| known.get_id() != arg.get_id() && arg.is_positional());
    let before: Vec<String> =
        before.filter(|known| known.is_positional()).filter_map(|known| sample(line, known)).collect();
    let takes = |word: &String| {
        let mut words = written(arg, word);
        words.splice(1..1, before.iter().cloned());
        let asked = line.clone().try_get_matches_from(words);
        !asked.is_err_and(|why| {
            matches!(
                why.kind(),
                ErrorKind::InvalidValue | ErrorKind::ValueValidation | ErrorKind::UnknownArgument
            )
        })
    };
    all.into_iter().find(takes)
}

/// The words that give an argument its value.
fn written(arg: &Arg, word: &str) -> Vec<String> {
    match (arg.get_long(), arg.get_action()) {
        (None, _) => vec!["--".into(), word.into()],
        (Some(long), ArgAction::SetTrue) => vec![format!("--{long}")],
        (Some(long), _) => vec![format!("--{long}={word}")],
    }
}

/// The least line with an argument: it, and what it and the command require.
fn least(line: &clap::Command, arg: &Arg) -> Option<ArgMatches> {
    let mut given = vec![arg];
    for _ in 0..8 {
        let (places, options): (Vec<&Arg>, Vec<&Arg>) = given.iter().partition(|arg| arg.is_positional());
        let mut words: Vec<String> = Vec::new();
        for arg in options {
            words.extend(written(arg, &sample(line, arg)?));
        }
        words.push("--".into());
        let in_order =
            line.get_arguments().filter(|arg| places.iter().any(|given| given.get_id() == arg.get_id()));
        for arg in in_order {
            words.push(sample(line, arg)?);
        }
        let why = match line.clone().try_get_matches_from(words) {
            Ok(matches) => return Some(matches),
            Err(why) => why,
        };
        let Some(ContextValue::Strings(missing)) = why.get(ContextKind::InvalidArg) else { return None };
        let is_missing = |arg: &&Arg| missing.iter().any(|text| *text == arg.to_string());
        let more: Vec<&Arg> = line.get_arguments().filter(is_missing).collect();
        if more.is_empty() {
            return None;
        }
        // The alternatives of `required_unless` are not all needed, but no harm.
        given.extend(more);
    }
    None
}

/// What was given, as JSON with the names of the arguments.
fn as_json(line: &clap::Command, matches: &ArgMatches) -> Value {
    let mut all = Map::new();
    for arg in line.get_arguments() {
        let id = arg.get_id().as_str();
        if matches.value_source(id) != Some(clap::parser::ValueSource::CommandLine) {
            continue;
        }
        let texts: Vec<String> =
            matches.get_raw(id).unwrap().map(|word| word.to_str().unwrap().to_string()).collect();
        let value = match arg.get_action() {
            ArgAction::SetTrue => json!(true),
            ArgAction::Append => json!(texts),
            _ => json!(texts.join(",")),
        };
        all.insert(id.into(), value);
    }
    Value::Object(all)
}

/// Everything that was given, by name.
fn raw(line: &clap::Command, matches: &ArgMatches) -> Vec<(String, Vec<String>)> {
    let of = |arg: &Arg| {
        let id = arg.get_id().as_str();
        let words = matches.get_raw(id).into_iter().flatten().map(|word| word.to_str().unwrap().to_string());
        (id.to_string(), words.collect::<Vec<_>>())
    };
    line.get_arguments().map(of).collect()
}

#[test]
fn the_recorded_line_and_json_make_the_same_request_for_every_argument_of_every_command() {
    let shown = ["out", "jobs", "json", "quiet", "help"];
    let (mut n_tried, mut left_out) = (0, Vec::new());
    for command in all() {
        let mut line = command.line().no_binary_name(true);
        line.build();
        for arg in line.get_arguments().filter(|arg| !shown.contains(&arg.get_id().as_str())) {
            let Some(matches) = least(&line, arg) else {
                left_out.push(format!("{} {arg}", command.name));
                continue;
            };
            n_tried += 1;
            let text = recorded(command.name, &line, &matches).unwrap();
            let again = shlex::split(&text).unwrap().split_off(1 + command.name.split(' ').count());
            let again = matched(&line, again).unwrap_or_else(|why| panic!("{text}: {why}"));
            let without = |matches: &ArgMatches| -> Vec<_> {
                raw(&line, matches).into_iter().filter(|(id, _)| !shown.contains(&id.as_str())).collect()
            };
            assert_eq!(without(&again), without(&matches), "{text}");
            let asked = as_json(&line, &matches);
            let read =
                matched(&line, words(&line, &asked).unwrap()).unwrap_or_else(|why| panic!("{asked}: {why}"));
            assert_eq!(raw(&line, &read), raw(&line, &matches), "{asked}");
        }
    }
    assert!(left_out.len() * 20 <= n_tried, "{n_tried} were tried, and these were not: {left_out:#?}");
}

#[test]
fn a_recorded_line_that_lacks_an_argument_is_found() {
    let command = all().find(|command| command.name == "evaluate").unwrap();
    let line = command.line().no_binary_name(true);
    let asked = json!({ "env": "gymnasium:A-v0", "policy": "p", "failure": "return<3", "episodes": 9 });
    let matches = matched(&line, words(&line, &asked).unwrap()).unwrap();
    let short = line.clone().mut_arg("failure", |failure| failure.id("hidden"));
    let text = recorded("evaluate", &line, &matches).unwrap();
    assert!(text.contains("--failure 'return<3'") && text.ends_with("--seed 0"), "{text}");
    assert!(short.get_arguments().all(|arg| arg.get_id() != "failure"));
}

#[test]
fn a_command_tells_what_its_arguments_are() {
    let told = declarations();
    assert!(told.commands.iter().map(|own| own.name).eq(all().map(|command| command.name)));
    let of = |name: &str, id: &str| {
        let command = told.commands.iter().find(|own| own.name == name).unwrap();
        command.arguments.iter().find(|own| own.id == id).unwrap()
    };
    let kinds = [
        ("risk estimate", "env", "environment"),
        ("compare", "old", "policy"),
        ("fit", "detector", "detector"),
        ("fit", "diagnosis", "flag"),
        ("fit", "raise_after", "whole number"),
        ("fit", "run_length", "word"),
        ("compare", "return_range", "two numbers"),
        ("risk estimate", "parameters", "number by name"),
        ("pixels score", "params", "object"),
        ("collect", "channels", "channels"),
        ("metrics", "file", "path"),
    ];
    for (name, id, kind) in kinds {
        assert_eq!(of(name, id).kind, kind, "{name} {id}");
    }
    let goal = of("risk estimate", "goal");
    assert_eq!((goal.flag.as_deref(), goal.default.as_deref()), (Some("--goal"), Some("estimate")));
    assert_eq!(goal.choices[1].0, "gate");
    let wins = &of("compare", "metric").choices[2];
    assert_eq!((wins.0.as_str(), wins.1.as_str()), ("wins", "Share of pairs with the higher return"));
    assert!(of("compare", "old").required && !of("compare", "new").required);
    assert!(of("compare", "new").flag.is_none() && of("compare", "more").many);
    assert!(of("fit", "logs").many && !of("fit", "logs").required);
    let of_terminal =
        |name: &str| told.commands.iter().any(|own| own.arguments.iter().any(|own| own.id == name));
    assert!(!["json", "csv", "new_key", "show", "plan"].into_iter().any(of_terminal));
}

#[test]
fn what_a_terminal_shows_is_no_part_of_a_request() {
    let refused =
        |name: &str, asked: Value| super::call(name, asked, Context::silent(0, 1)).unwrap_err().to_string();
    for (name, option) in [("demo", "show"), ("score", "csv"), ("evidence", "new_key"), ("bench", "cell")] {
        let text = refused(name, json!({ option: true }));
        assert!(text.starts_with(&format!("{option}: expected it on a command line only")), "{text}");
    }
    assert!(
        refused("monitor", json!({})).contains("expected a command that answers, which this one does not")
    );
    let both = line().try_get_matches_from(["offnominal", "demo", "--show", "--json"]).unwrap_err();
    assert!(both.to_string().contains("cannot be used with"), "{both}");
}

#[test]
fn what_would_do_nothing_is_refused() {
    let refused = |words: &str| {
        let words = shlex::split(&format!("offnominal {words}")).unwrap();
        line().try_get_matches_from(words).unwrap_err().to_string()
    };
    let monitor = "fit --recalibrate a.monitor --data b.arrow --out c.monitor";
    for option in ["--faults 3", "--failure terminated", "--allow-diverged 1", "--alpha 0.1", "--until label"]
    {
        assert!(refused(&format!("{monitor} {option}")).contains("cannot be used with"), "{option}");
    }
    for option in ["--until label", "--by-task", "--map map.toml"] {
        let episodes = format!("fit --env driving --policy tqc --out c.monitor {option}");
        assert!(refused(&episodes).contains("cannot be used with"), "{option}");
    }
    for option in ["--faults 3", "--failure terminated", "--allow-diverged 1", "--data b.arrow"] {
        assert!(
            refused(&format!("fit a.csv --out c.monitor {option}")).contains("cannot be used with"),
            "{option}"
        );
    }
    let strict = refused("fit --env sap-goal0 --policy tqc --out c.monitor --strict");
    assert!(strict.contains("cannot be used with"), "{strict}");
    let episodes = refused("risk learn --env driving --history a --episodes 9");
    assert!(episodes.contains("--policy <POLICIES>"), "{episodes}");
    for sheet in ["--onset 3", "--classes", "--out a", "--channels one"] {
        let words = format!("render --env sap-goal0 --sheet a.png {sheet}");
        assert!(refused(&words).contains("cannot be used with"), "{sheet}");
    }
    assert!(refused("render runs/risk --env sap-goal0").contains("cannot be used with"));
    assert!(refused("render --env sap-goal0").contains("--policy <POLICY>"));
    let shown =
        super::call("list", json!({ "what": "envs", "quiet": true }), Context::silent(0, 1)).unwrap_err();
    assert!(shown.to_string().starts_with("quiet: expected it on a command line only"), "{shown}");
}
