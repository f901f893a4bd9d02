//! Ctrl-C: the first asks the work to stop where it can go on later, the second ends the program at once.

use anyhow::Result;
use clap::ArgMatches;
use signal_hook::consts::SIGINT;
use signal_hook::flag as signal;
use std::ffi::OsString;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

/// The exit code of a command that was interrupted: 128 and the number of the signal, as shells have it.
pub const CODE: u8 = 130;

/// Set by the first Ctrl-C.
pub fn flag() -> &'static Arc<AtomicBool> {
    static STOP: OnceLock<Arc<AtomicBool>> = OnceLock::new();
    STOP.get_or_init(|| {
        let stop = Arc::default();
        // Where signals cannot be watched, Ctrl-C ends the program at once, as it would without us.
        if signal::register_conditional_default(SIGINT, Arc::clone(&stop)).is_ok() {
            let _ = signal::register(SIGINT, Arc::clone(&stop));
        }
        stop
    })
}

/// Whether somebody pressed Ctrl-C.
pub fn is_requested() -> bool {
    flag().load(Ordering::Relaxed)
}

/// What became of a command that was interrupted; of one that resumes, the line that goes on, as it was typed.
pub fn said((name, resumes): (&str, bool), matches: &ArgMatches, typed: &[OsString]) -> String {
    let line = if resumes { goes_on(name, matches, typed).ok() } else { None };
    let Some(line) = line else {
        return "offnominal: interrupted; this command begins anew when it is given again".into();
    };
    format!(
        "offnominal: interrupted; what is finished is saved. This goes on, with the same result:\n  {line}"
    )
}

fn goes_on(name: &str, matches: &ArgMatches, typed: &[OsString]) -> Result<String> {
    let words = match name {
        "train" => training(matches),
        _ => typed.iter().filter_map(|word| word.to_str()).map(String::from).collect(),
    };
    Ok(shlex::try_join(words.iter().map(String::as_str))?)
}

/// A training that goes on reads from its folder what it was asked for.
fn training(matches: &ArgMatches) -> Vec<String> {
    let mut words = vec!["offnominal".into(), "train".into(), "--resume".into()];
    for option in ["env", "out"] {
        let given = matches.get_raw(option).into_iter().flatten();
        words.extend(given.flat_map(|word| [format!("--{option}"), word.to_string_lossy().into_owned()]));
    }
    words
}
