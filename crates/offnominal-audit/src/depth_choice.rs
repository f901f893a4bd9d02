//! A depth with counts in place of its own, as somebody states it or a requirement needs them. Written `quick` or
//! `quick,test=96,failures=368`, which stands in the command that makes an audit again.

use crate::counts::{Count, Counts};
use crate::depth::Depth;
use anyhow::{Context as _, Result, bail, ensure};
use offnominal_core::suggest::did_you_mean;
use std::fmt::{self, Display, Formatter};
use std::str::FromStr;
use strum::VariantArray;

/// A depth with counts in place of its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DepthChoice {
    /// The depth.
    pub depth: Depth,
    /// What somebody stated.
    pub counts: Vec<(Count, usize)>,
}

impl DepthChoice {
    /// A depth as it is.
    pub fn plain(depth: Depth) -> DepthChoice {
        DepthChoice { depth, counts: vec![] }
    }

    /// The counts of a depth that differ from its own, so that the depth says all.
    pub fn of(depth: Depth, counts: &Counts) -> DepthChoice {
        DepthChoice::stating(depth, counts, |_| false)
    }

    /// The same, and the counts that are to be stated in any case.
    pub fn stating(depth: Depth, counts: &Counts, always: impl Fn(Count) -> bool) -> DepthChoice {
        let own = depth.effort().counts;
        let all = Count::ALL.map(|(count, _)| (count, counts.of(count)));
        let is_stated = |(count, n): &(Count, usize)| own.of(*count) != *n || always(*count);
        DepthChoice { depth, counts: all.into_iter().filter(is_stated).collect() }
    }
}

/// The fewest and the most episodes of a count.
const RANGE: (usize, usize) = (2, 10_000_000);

impl FromStr for DepthChoice {
    type Err = String;

    fn from_str(text: &str) -> Result<DepthChoice, String> {
        read(text).map_err(|why| format!("{why:#}"))
    }
}

fn read(text: &str) -> Result<DepthChoice> {
    let mut parts = text.split(',').map(str::trim);
    let name = parts.next().unwrap_or_default();
    let names = Depth::VARIANTS.iter().map(<&str>::from);
    let depth: Depth = name.parse().ok().with_context(|| {
        let hint = did_you_mean(name, names.clone());
        format!("expected one of {}, found {name:?}{hint}", names.clone().collect::<Vec<_>>().join(", "))
    })?;
    let mut counts: Vec<(Count, usize)> = vec![];
    for part in parts {
        let Some((key, n)) = part.split_once('=') else {
            bail!("expected a count such as test=96 after the depth, found {part:?}");
        };
        let count = Count::named(key.trim())?;
        let n: usize =
            n.trim().parse().ok().filter(|n| (RANGE.0..=RANGE.1).contains(n)).with_context(|| {
                format!("{key}: expected {} to {} episodes, found {n:?}", RANGE.0, RANGE.1)
            })?;
        ensure!(counts.iter().all(|(other, _)| *other != count), "{key}: expected one number, found two");
        counts.push((count, n));
    }
    Ok(DepthChoice { depth, counts })
}

impl Display for DepthChoice {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        out.write_str(self.depth.into())?;
        self.counts.iter().try_for_each(|(count, n)| write!(out, ",{}={n}", count.name()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_depth_with_counts_is_read_as_it_is_written() {
        for text in ["glance", "quick,test=96", "standard,evaluation=300,test=96,failures=3688"] {
            assert_eq!(read(text).unwrap().to_string(), text);
        }
        let own = Depth::Quick.effort().counts;
        assert_eq!(DepthChoice::of(Depth::Quick, &own), DepthChoice::plain(Depth::Quick));
        let more = Counts { failures: 368, ..own };
        assert_eq!(DepthChoice::of(Depth::Quick, &more).to_string(), "quick,failures=368");
    }

    #[test]
    fn what_is_wrong_is_named() {
        let refused = |text: &str| format!("{:#}", read(text).unwrap_err());
        assert!(refused("quik").contains("did you mean \"quick\""));
        assert!(refused("quick,tests=3").contains("did you mean \"test\""));
        assert!(refused("quick,96").contains("such as test=96"));
        assert!(refused("quick,test=1").contains("test: expected 2 to 10000000 episodes, found \"1\""));
        assert!(refused("quick,test=9,test=8").contains("found two"));
    }
}
