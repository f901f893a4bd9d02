//! Progress bars on standard error, with the time left; hidden when quiet or when nobody watches.

use indicatif::{ProgressBar, ProgressStyle};
use std::time::Duration;

/// A bar that counts to `n`.
///
/// # Panics
/// Never: the template is fixed.
pub fn bar(quiet: bool, n: usize, what: &str) -> ProgressBar {
    if quiet {
        return ProgressBar::hidden();
    }
    let style = ProgressStyle::with_template("{msg:<28} [{bar:32}] {pos}/{len} · {elapsed} · {eta} left")
        .expect("the template is sound")
        .progress_chars("█▉▊▋▌▍▎▏ ");
    let bar = ProgressBar::new(n as u64).with_style(style).with_message(what.to_string());
    bar.enable_steady_tick(Duration::from_millis(200));
    bar
}
