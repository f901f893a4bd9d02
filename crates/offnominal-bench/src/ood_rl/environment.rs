//! The environments of the suite: those of the publication, and the game that ours is a re-implementation of.

use anyhow::Result;
use offnominal_core::env::Env;
use offnominal_engine::catalogues;

/// The environments in which there are policies.
pub(super) const ENVIRONMENTS: [&str; 4] = ["cartpole", "pendulum", "pong", ALE_PONG];

/// Pong of the Arcade Learning Environment, which Python plays.
pub(super) const ALE_PONG: &str = "ale-pong";

/// Its id; `python/offnominal/atari.py` makes it.
const ALE_PONG_ID: &str = "gymnasium:offnominal.atari:pong?horizon=3000";

/// Opens an environment.
///
/// # Errors
/// If Python has not what it needs.
pub(super) fn open(env: &str) -> Result<Box<dyn Env>> {
    Ok(catalogues::environment(if env == ALE_PONG { ALE_PONG_ID } else { env }, None)?)
}

/// The environment of the publication whose variants it has.
pub(super) fn published(env: &str) -> &str {
    if env == ALE_PONG { "pong" } else { env }
}

/// Whether policies see images there.
pub(super) fn shows_images(env: &str) -> bool {
    published(env) == "pong"
}
