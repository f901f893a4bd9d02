//! Names of detectors, as commands and files write them.

use super::{Accumulator, Detector};
use anyhow::{Context as _, Result, bail, ensure};
use std::fmt::{self, Display, Formatter};
use std::str::FromStr;

/// Bytes of a detector's name.
const LONGEST: usize = 4096;
/// Levels of detectors in detectors.
const MOST_LEVELS: usize = 4;
/// Detectors that are asked together.
const MOST_TOGETHER: usize = 10;

impl Detector {
    fn parse(text: &str, level: usize) -> Result<Detector> {
        ensure!(level < MOST_LEVELS, "expected at most {MOST_LEVELS} levels of detectors, found more");
        let text = text.trim();
        if let Some(of) = text.strip_prefix('-') {
            return Ok(Detector::Negative(Box::new(Detector::parse(of, level + 1)?)));
        }
        let Some((name, rest)) = text.split_once('(') else {
            return Ok(match text {
                "clock" => Detector::Clock,
                "random" => Detector::Random,
                "task-prior" => Detector::TaskPrior,
                "actprobe" => Detector::ActProbe,
                "hazard" => Detector::Hazard(vec![]),
                "" => bail!("expected a detector, found nothing"),
                signal => Detector::Signal(Accumulator::Last, signal.into()),
            });
        };
        let of = rest.strip_suffix(')').with_context(|| format!("{text:?}: expected ) at the end"))?;
        match name {
            "odds" => {
                let all = list(of).into_iter().map(|of| Detector::parse(of, level + 1));
                let all: Vec<Detector> = all.collect::<Result<_>>()?;
                ensure!(
                    (2..=MOST_TOGETHER).contains(&all.len()),
                    "{text:?}: expected 2 to {MOST_TOGETHER} detectors"
                );
                let other = all.iter().find(|of| !of.is_probability());
                other.map_or(Ok(()), |of| bail!("{text:?}: expected probabilities to fail, found {of}"))?;
                Ok(Detector::Odds(all))
            }
            "hazard" if !of.contains(['(', ')']) => {
                Ok(Detector::Hazard(of.split(',').map(|signal| signal.trim().into()).collect()))
            }
            other => match (Accumulator::named(other), of.contains(['(', ')', ','])) {
                (Some(accumulator), false) => Ok(Detector::Signal(accumulator, of.trim().into())),
                _ => bail!(
                    "{text:?}: expected max, mean, sum, ewma or reversals of a signal, hazard(SIGNAL, …) or odds(…, …)"
                ),
            },
        }
    }
}

/// What stands between the commas that are in no brackets.
fn list(text: &str) -> Vec<&str> {
    let (mut level, mut from, mut found) = (0, 0, Vec::new());
    for (at, c) in text.char_indices() {
        level += i32::from(c == '(') - i32::from(c == ')');
        if c == ',' && level == 0 {
            found.push(&text[from..at]);
            from = at + 1;
        }
    }
    found.push(&text[from..]);
    found
}

impl FromStr for Detector {
    type Err = anyhow::Error;

    fn from_str(text: &str) -> Result<Detector> {
        ensure!(
            text.len() <= LONGEST,
            "expected a detector of at most {LONGEST} bytes, found {}",
            text.len()
        );
        Detector::parse(text, 0)
    }
}

impl TryFrom<String> for Detector {
    type Error = anyhow::Error;

    fn try_from(text: String) -> Result<Detector> {
        text.parse()
    }
}

impl Display for Detector {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Detector::Clock => write!(f, "clock"),
            Detector::Random => write!(f, "random"),
            Detector::TaskPrior => write!(f, "task-prior"),
            Detector::Signal(Accumulator::Last, signal) => write!(f, "{signal}"),
            Detector::Signal(accumulator, signal) => write!(f, "{}({signal})", accumulator.name()),
            Detector::Negative(of) => write!(f, "-{of}"),
            Detector::ActProbe => write!(f, "actprobe"),
            Detector::Odds(all) => {
                write!(f, "odds({})", all.iter().map(Detector::to_string).collect::<Vec<_>>().join(","))
            }
            Detector::Hazard(signals) if signals.is_empty() => write!(f, "hazard"),
            Detector::Hazard(signals) => write!(f, "hazard({})", signals.join(",")),
        }
    }
}
