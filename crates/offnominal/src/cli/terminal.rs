//! Progress on standard error, with the time left: a bar where somebody watches, else a plain line now and then; JSON
//! events for programs.

use indicatif::{HumanDuration, ProgressBar, ProgressStyle};
use offnominal_core::outside;
use offnominal_engine::progress::{Progress, Tracker};
use serde_json::{Value, json};
use std::io::Write;
use std::ops::Range;
use std::sync::Mutex;
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::time::{Duration, Instant};

/// Time between the lines where standard error is no terminal.
const LINE_EVERY: Duration = Duration::from_secs(10);

/// Least time between two events of a task.
const EVENT_EVERY: Duration = Duration::from_millis(500);

/// How a bar looks; a message takes what is left of the line.
const BAR: &str = "{prefix} [{bar:28}] {pos}/{len} · {elapsed} · {eta} left  {wide_msg}";

/// Shows tasks to a person.
pub struct Terminal;

/// A task as a bar, or as lines; it disappears when it is dropped.
struct Bar {
    bar: ProgressBar,
    /// Ends the lines when it goes away; only where there are lines.
    lines: Option<Sender<()>>,
}

impl Progress for Terminal {
    fn begin(&self, what: &str, work: Range<u64>) -> Box<dyn Tracker> {
        let style = ProgressStyle::with_template(BAR).expect("the template is sound");
        let bar = ProgressBar::new(work.end).with_style(style.progress_chars("█▉▊▋▌▍▎▏ "));
        bar.set_prefix(outside::line(what).into_owned());
        bar.set_position(work.start);
        bar.reset_eta();
        let lines = bar.is_hidden().then(|| lines(&bar, LINE_EVERY, say));
        if lines.is_none() {
            bar.enable_steady_tick(Duration::from_millis(200));
        }
        Box::new(Bar { bar, lines })
    }

    fn note(&self, line: &str) {
        say(line);
    }
}

impl Tracker for Bar {
    fn update(&self, done: u64, total: u64) {
        self.bar.set_length(total);
        self.bar.set_position(done);
    }

    fn message(&self, text: &str) {
        self.bar.set_message(outside::line(text).into_owned());
    }

    fn milestone(&self, line: &str) {
        if self.lines.is_some() {
            say(line);
        }
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

/// Tells a program of tasks: one JSON object a line, with `task`, `done` and `total`, or with `note`.
pub struct Events;

/// A task whose events are not too many.
struct Task {
    what: String,
    last: Mutex<Instant>,
}

impl Progress for Events {
    fn begin(&self, what: &str, work: Range<u64>) -> Box<dyn Tracker> {
        event(&json!({ "task": what, "done": work.start, "total": work.end }));
        Box::new(Task { what: what.into(), last: Mutex::new(Instant::now()) })
    }

    fn note(&self, line: &str) {
        event(&json!({ "note": line }));
    }
}

impl Task {
    /// Whether it is time for another event.
    fn is_due(&self) -> bool {
        let mut last = self.last.lock().expect("no thread panics while it holds the lock");
        let due = last.elapsed() >= EVENT_EVERY;
        if due {
            *last = Instant::now();
        }
        due
    }
}

impl Tracker for Task {
    fn update(&self, done: u64, total: u64) {
        if done == total || self.is_due() {
            event(&json!({ "task": self.what, "done": done, "total": total }));
        }
    }

    fn message(&self, text: &str) {
        if self.is_due() {
            event(&json!({ "task": self.what, "message": text }));
        }
    }
}

fn event(event: &Value) {
    say(event.to_string());
}

/// Lines on standard error, without what a terminal would obey; that nobody can read them is no reason to stop.
pub fn say(line: impl AsRef<str>) {
    let _ = writeln!(std::io::stderr(), "{}", outside::lines(line.as_ref()));
}

/// Writes a line at each interval until the bar is finished or what is returned is dropped.
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
    fn events_of_a_task_are_not_too_many() {
        let task = Task { what: "episodes".into(), last: Mutex::new(Instant::now()) };
        assert!(!task.is_due());
        std::thread::sleep(EVENT_EVERY);
        assert!(task.is_due() && !task.is_due());
    }
}
