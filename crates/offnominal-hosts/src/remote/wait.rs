//! Waiting for an answer, not longer than is allowed, and not when the work was asked to stop.

use anyhow::{Result, bail};
use offnominal_work::stop;
use std::time::{Duration, Instant};

/// How long is waited before it is asked whether to stop.
pub(super) const SLICE: Duration = Duration::from_millis(50);

/// Until when an answer is waited for.
#[derive(Debug, Clone, Copy)]
pub(super) struct Deadline {
    until: Instant,
    limit: Duration,
}

impl Deadline {
    pub(super) fn after(limit: Duration) -> Deadline {
        Deadline { until: Instant::now() + limit, limit }
    }

    /// How long may be waited now.
    ///
    /// # Errors
    /// If time is over, or the work was asked to stop.
    pub(super) fn slice(&self) -> Result<Duration> {
        if stop::is_requested() {
            bail!("stopped while an answer was waited for");
        }
        let left = self.until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            bail!("expected an answer within {} s, found none", self.limit.as_secs_f64());
        }
        Ok(left.min(SLICE))
    }
}
