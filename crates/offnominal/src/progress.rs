//! Progress on standard error, with the time left: a bar where somebody watches, else a plain line now and then.

use indicatif::{HumanDuration, ProgressBar, ProgressStyle};
use std::io::Write;
use std::ops::{Deref, Range};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::time::{Duration, Instant};

/// Time between the lines where standard error is no terminal.
const LINE_EVERY: Duration = Duration::from_secs(10);

/// How a bar looks; a message takes what is left of the line.
const BAR: &str = "{prefix} [{bar:28}] {pos}/{len} · {elapsed} · {eta} left  {wide_msg}";

/// Work that is counted and shown until the value is dropped or finished.
pub struct Bar {
    bar: ProgressBar,
    /// Ends the lines when it goes away; only where there are lines.
    lines: Option<Sender<()>>,
}

/// A bar that counts to `n`.
pub fn bar(quiet: bool, n: usize, what: &str) -> Bar {
    Bar::new(quiet, 0..n as u64, what)
}

impl Bar {
    /// A bar that begins where the work was left before.
    pub fn new(quiet: bool, work: Range<u64>, what: &str) -> Bar {
        if quiet {
            return Bar { bar: ProgressBar::hidden(), lines: None };
        }
        let style = ProgressStyle::with_template(BAR).expect("the template is sound");
        let bar = ProgressBar::new(work.end).with_style(style.progress_chars("█▉▊▋▌▍▎▏ "));
        bar.set_prefix(what.to_string());
        bar.set_position(work.start);
        bar.reset_eta();
        if bar.is_hidden() {
            let lines = Some(lines(&bar, LINE_EVERY, say));
            return Bar { bar, lines };
        }
        bar.enable_steady_tick(Duration::from_millis(200));
        Bar { bar, lines: None }
    }

    /// Whether lines are written instead of a bar.
    pub fn is_plain(&self) -> bool {
        self.lines.is_some()
    }
}

impl Deref for Bar {
    type Target = ProgressBar;

    fn deref(&self) -> &ProgressBar {
        &self.bar
    }
}

/// One line on standard error; that nobody can read it is no reason to stop.
fn say(line: String) {
    let _ = writeln!(std::io::stderr(), "{line}");
}

/// Says a line at each interval until the bar is finished or what is returned is dropped.
fn lines(bar: &ProgressBar, every: Duration, mut say: impl FnMut(String) + Send + 'static) -> Sender<()> {
    let (stop, stopped) = mpsc::channel();
    let (bar, first, begun) = (bar.clone(), bar.position(), Instant::now());
    std::thread::spawn(move || {
        while stopped.recv_timeout(every) == Err(RecvTimeoutError::Timeout) && !bar.is_finished() {
            say(line(&bar, first, begun.elapsed()));
        }
    });
    stop
}

/// What is done of how much, the message if there is one, the time spent, and the time left once it can be told.
fn line(bar: &ProgressBar, first: u64, spent: Duration) -> String {
    let (done, all) = (bar.position(), bar.length().unwrap_or_default());
    let message = Some(bar.message()).filter(|m| !m.is_empty()).map_or(String::new(), |m| format!(" · {m}"));
    let left = time_left(done - first.min(done), all.saturating_sub(done), spent);
    let left = left.map_or(String::new(), |left| format!(" · {:#} left", HumanDuration(left)));
    format!("{}: {done}/{all}{message} · {:#}{left}", bar.prefix(), HumanDuration(spent))
}

/// The time left at the pace so far.
fn time_left(done: u64, open: u64, spent: Duration) -> Option<Duration> {
    (done > 0).then(|| spent.mul_f64(open as f64 / done as f64))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ten() -> ProgressBar {
        let bar = ProgressBar::hidden();
        bar.set_length(10);
        bar.set_prefix("episodes");
        bar
    }

    #[test]
    fn a_line_says_what_is_done_and_how_long_the_rest_takes() {
        let (bar, spent) = (ten(), Duration::from_secs(120));
        assert_eq!(line(&bar, 0, spent), "episodes: 0/10 · 2m");
        bar.set_position(6);
        assert_eq!(line(&bar, 0, spent), "episodes: 6/10 · 2m · 80s left");
        bar.set_message("return 3.0");
        assert_eq!(line(&bar, 5, spent), "episodes: 6/10 · return 3.0 · 2m · 8m left");
    }

    #[test]
    fn lines_come_again_and_again_until_the_work_is_finished() {
        let (bar, (send, said)) = (ten(), mpsc::channel());
        let _lines = lines(&bar, Duration::from_millis(1), move |line| drop(send.send(line)));
        assert!(said.recv().unwrap().starts_with("episodes: 0/10"));
        assert!(said.recv().is_ok());
        bar.finish_and_clear();
        said.iter().for_each(drop); // returns only if the lines end
    }

    #[test]
    fn quiet_work_is_not_shown() {
        let quiet = bar(true, 10, "episodes");
        assert!(!quiet.is_plain() && quiet.is_hidden());
    }
}
