//! What a comparison found, and how it is said.

use super::channel::ChannelDrift;
use crate::recordings;
use offnominal_core::estimate::Estimate;
use serde::Serialize;
use std::fmt::{self, Display, Formatter};

/// Channels that have a line of their own on a terminal.
const MOST: usize = 20;

/// How recordings differ from those of a reference.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Compared {
    /// Recordings of the reference, and recordings that are compared with it.
    pub recordings: [usize; 2],
    /// The channels that all logs have; those at the largest distance come first.
    pub channels: Vec<ChannelDrift>,
    /// Columns that are not compared, each with the reason.
    pub not_compared: Vec<(String, String)>,
    /// What could not be done, and what is taken for granted.
    pub remarks: Vec<String>,
}

impl Compared {
    /// The result in a sentence.
    pub fn decision(&self) -> String {
        let [reference, others] = self.recordings;
        let n = self.channels.len();
        let s = if others == 1 { "" } else { "s" };
        let sizes = format!("{others} recording{s} against {reference} of the reference");
        if self.channels.iter().all(|channel| channel.p.is_none()) {
            return format!("{sizes}: {n} channels, without a test");
        }
        let different = self.channels.iter().filter(|channel| channel.differs()).count();
        let alpha = super::ALPHA;
        format!("{sizes}: {different} of {n} channels differ (p ≤ {alpha}, for all channels together)")
    }
}

impl ChannelDrift {
    /// Whether it differs by more than chance.
    pub fn differs(&self) -> bool {
        self.p.is_some_and(|p| p <= super::ALPHA)
    }

    /// Its numbers in words: distance, change of the mean, share of steps with a value, p, and in what it differs most.
    pub fn cells(&self) -> [String; 5] {
        let interval = |of: &Estimate| {
            let is_none = of.method == "no interval";
            if is_none { format!("{:.3}", of.value) } else { of.to_string() }
        };
        let [before, now] = self.read.map(|share| 100.0 * share);
        [
            interval(&self.distance),
            self.mean_change.as_ref().map_or_else(|| "–".into(), interval),
            format!("{before:.1} → {now:.1} %"),
            self.p.map_or_else(|| "–".into(), |p| format!("{p:.3}")),
            self.most_in.filter(|_| self.differs()).unwrap_or("–").into(),
        ]
    }
}

/// What the numbers are.
pub const LEGEND: &str = "distance: Kolmogorov-Smirnov, each recording counting the same; change of mean: in standard deviations of \
     the reference; read: steps with a new value; 95 % intervals over whole recordings, none where there are too few; p: \
     permutations of whole recordings, corrected for the number of channels";

impl Display for Compared {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        writeln!(out, "{}", self.decision())?;
        let shown = &self.channels[..self.channels.len().min(MOST)];
        let wide = shown.iter().map(|channel| channel.name.chars().count()).max().unwrap_or(0).max(7);
        let mut line = |name: &str, [distance, change, read, p, most]: [&str; 5]| {
            let text = format!("  {name:<wide$}  {distance:<20}  {change:<23}  {read:<18}  {p:<5}  {most}");
            writeln!(out, "{}", text.trim_end())
        };
        line("channel", ["distance", "change of mean", "read", "p", "most in"])?;
        shown
            .iter()
            .try_for_each(|channel| line(&channel.name, channel.cells().each_ref().map(String::as_str)))?;
        if self.channels.len() > MOST {
            writeln!(out, "  and {} channels more, which `--json` has", self.channels.len() - MOST)?;
        }
        writeln!(out, "  {LEGEND}")?;
        let left_out = |(name, why): &(String, String)| format!("not compared: {name}: {why}");
        let all: Vec<String> =
            self.remarks.iter().cloned().chain(self.not_compared.iter().map(left_out)).collect();
        recordings::write(&all, out)
    }
}
