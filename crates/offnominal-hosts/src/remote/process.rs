//! A command of the shell that acts: a line in, a line out.

use super::lines::{self, LONGEST};
use super::name;
use super::wait::Deadline;
use crate::foreign::said::OutputTail;
use anyhow::{Context, Result, anyhow, bail, ensure};
use offnominal_core::spec::Channel;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, SyncSender, channel, sync_channel};
use std::time::{Duration, Instant};

/// How long a command may take to end by itself when its input ends.
const FAREWELL: Duration = Duration::from_millis(500);

/// How long is waited for the last words of a command that ended.
const LAST_WORDS: Duration = Duration::from_millis(200);

/// A process of a command. Threads of their own write and read, so that neither side waits for the other for ever.
pub(super) struct Process {
    child: Child,
    /// Lines for it; nothing when its input has ended.
    to: Option<Sender<Vec<u8>>>,
    from: Receiver<Result<Vec<u8>>>,
    said: OutputTail,
    limit: Duration,
    channels: Vec<Channel>,
    line: Vec<u8>,
}

impl Process {
    /// Starts it.
    ///
    /// # Errors
    /// If there is no shell.
    pub(super) fn start(command: &name::Command, channels: Vec<Channel>) -> Result<Process> {
        let (reader, writer) = std::io::pipe()?;
        let mut shell = Command::new("sh");
        shell.arg("-c").arg(&command.line).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(writer);
        // A group of its own, which is ended as a whole; Ctrl-C is the engine's business.
        shell.process_group(0);
        let mut child = shell.spawn().context("cannot start the shell sh")?;
        // What the shell has of the pipe is closed with this.
        drop(shell);
        let (Some(input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
            bail!("expected pipes to the command, found none");
        };
        let (to, lines) = channel();
        let (answers, from) = sync_channel(1);
        std::thread::spawn(move || write_all(&lines, input));
        std::thread::spawn(move || read_all(output, &answers));
        let said = OutputTail::listen(reader);
        Ok(Process { child, to: Some(to), from, said, limit: command.limit, channels, line: Vec::new() })
    }

    /// Writes the action for an observation, the first one of an episode or a later one.
    ///
    /// # Errors
    /// If there is no answer, or none that is an action.
    pub(super) fn act(&mut self, obs: &[f32], is_first: bool, action: &mut [f32]) -> Result<()> {
        if let Ok(early) = self.from.try_recv() {
            let early = early.map(|line| String::from_utf8_lossy(&line).chars().take(80).collect::<String>());
            bail!("expected one line for each observation, found another one: {:?}", early?);
        }
        lines::write_request(obs, is_first, &mut self.line);
        if let Some(to) = &self.to {
            // Who does not read any longer is found at the answer.
            let _ = to.send(self.line.clone());
        }
        let line = self.answer()?;
        lines::read_answer(&line, &self.channels, action)
    }

    /// The next line, when it comes in time.
    fn answer(&mut self) -> Result<Vec<u8>> {
        let deadline = Deadline::after(self.limit);
        loop {
            match self.from.recv_timeout(deadline.slice()?) {
                Ok(line) => return line,
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Err(self.ended()),
            }
        }
    }

    /// That the command ended, how, and what it said last.
    fn ended(&mut self) -> anyhow::Error {
        let (began, mut how) = (Instant::now(), None);
        while (how.is_none() || self.said.last_line().is_none()) && began.elapsed() < LAST_WORDS {
            how = self.child.try_wait().ok().flatten();
            std::thread::sleep(Duration::from_millis(5));
        }
        let how = how.map_or("closed its output".into(), |status| status.to_string());
        match self.said.last_line() {
            Some(line) => {
                anyhow!("expected an action, found that the command ended ({how}); it said last: {line}")
            }
            None => anyhow!("expected an action, found that the command ended ({how})"),
        }
    }
}

impl Drop for Process {
    /// Ends its input, and then the group, if it does not end by itself.
    fn drop(&mut self) {
        self.to = None;
        let began = Instant::now();
        while began.elapsed() < FAREWELL {
            if let Ok(Some(_)) = self.child.try_wait() {
                return;
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        let group = format!("-{}", self.child.id());
        let _ = Command::new("kill").args(["-KILL", "--", &group]).stderr(Stdio::null()).status();
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn write_all(lines: &Receiver<Vec<u8>>, mut input: ChildStdin) {
    while let Ok(line) = lines.recv() {
        if input.write_all(&line).and_then(|()| input.flush()).is_err() {
            return;
        }
    }
}

fn read_all(output: ChildStdout, answers: &SyncSender<Result<Vec<u8>>>) {
    let mut output = BufReader::new(output);
    loop {
        let line = next_line(&mut output).and_then(|line| alone(line, output.buffer()));
        let is_last = !matches!(line, Ok(Some(_)));
        if let Some(line) = line.transpose()
            && answers.send(line).is_err()
        {
            return;
        }
        if is_last {
            return;
        }
    }
}

/// A line; nothing at the end.
fn next_line(output: &mut impl BufRead) -> Result<Option<Vec<u8>>> {
    let mut line = Vec::new();
    output.take(LONGEST as u64 + 1).read_until(b'\n', &mut line)?;
    ensure!(line.len() <= LONGEST, "expected a line of at most {LONGEST} bytes, found a longer one");
    Ok((!line.is_empty()).then_some(line))
}

/// A line, if nothing stands behind it: the next observation was not told yet, so whatever does is no answer.
fn alone(line: Option<Vec<u8>>, rest: &[u8]) -> Result<Option<Vec<u8>>> {
    let shown = || String::from_utf8_lossy(rest).chars().take(80).collect::<String>();
    ensure!(rest.is_empty(), "expected one line for each observation, found another one: {:?}", shown());
    Ok(line)
}
