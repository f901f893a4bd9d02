//! Whether a disturbed episode is its nominal twin until the onset. Ours are by construction; what Python hosts, or another
//! program commands, may draw what no seed reaches, later than any check of its beginning looks.

use crate::subject::Subject;
use anyhow::{Result, bail};
use offnominal_core::channel::spans;
use offnominal_core::prelude::*;

/// Insists on a twin of a pair; a robot is never the same twice, and `check=false` says that of an environment.
///
/// # Errors
/// If they differ before the onset, with the first difference.
pub(crate) fn check(subject: &Subject, episode: &Episode, twin: &Episode) -> Result<()> {
    let spec = subject.env.spec();
    let is_left_alone = subject.robot.is_some() || spec.id.contains("check=false");
    let Some((step, what)) = first_difference(spec, episode, twin).filter(|_| !is_left_alone) else {
        return Ok(());
    };
    bail!(
        "environment {}: expected the episode of seed {} and its nominal twin to be the same until the onset in step {}, found \
         {what} in step {step}. Something in the environment or in the policy {} is drawn that no seed reaches; the option \
         check=false of a hosted environment goes on without",
        spec.id,
        episode.seed.0,
        episode.onset.unwrap_or_default(),
        subject.name.label()
    )
}

/// The first step before the onset in which something differs, and what.
fn first_difference(spec: &EnvSpec, episode: &Episode, twin: &Episode) -> Option<(usize, String)> {
    let steps = (episode.onset? as usize).min(episode.len()).min(twin.len());
    (0..steps).find_map(|t| {
        let numbers = |of: fn(&Episode) -> &[f32], width: usize, channels: &[Channel]| {
            let [one, other] = [episode, twin].map(|played| &of(played)[t * width..][..width]);
            let i = (0..width).find(|&i| one[i].to_bits() != other[i].to_bits())?;
            let named = channels.iter().zip(spans(channels)).find(|(_, span)| span.contains(&i));
            Some(format!("{} {} and {}", named.map_or("", |(channel, _)| &channel.name), one[i], other[i]))
        };
        let [one, other] = [episode, twin].map(|played| played.rewards[t]);
        let what = numbers(|e| &e.observations, episode.obs_width, &spec.observation)
            .or_else(|| numbers(|e| &e.actions, episode.act_width, &spec.action))
            .or_else(|| (one.to_bits() != other.to_bits()).then(|| format!("reward {one} and {other}")));
        what.map(|what| (t, what))
    })
}
