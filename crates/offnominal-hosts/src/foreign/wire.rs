//! Messages between the engine and a process that hosts environments; `worker/serve.py` documents them.

use offnominal_work::stop;
use std::io::{Error, ErrorKind, Read, Result, Write};
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

/// The longest description of an environment that is believed.
pub(super) const LONGEST_DESCRIPTION: usize = 1 << 26;

/// The longest account of what went wrong that is believed.
pub(super) const LONGEST_ERROR: usize = 1 << 16;

/// How long one look at the connection takes, between which it is seen whether the work is to stop.
pub(super) const SLICE: Duration = Duration::from_millis(100);

/// A connection from which is read until a moment, or until the work of this thread is asked to stop.
pub(super) struct Patient<'a> {
    /// The connection; each look at it takes no longer than [`SLICE`].
    pub(super) stream: &'a UnixStream,
    /// When the patience ends.
    pub(super) until: Instant,
}

impl Read for Patient<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> Result<usize> {
        loop {
            if stop::is_requested() {
                return Err(ErrorKind::ConnectionAborted.into());
            }
            // Also where something comes all the time.
            if Instant::now() >= self.until {
                return Err(ErrorKind::TimedOut.into());
            }
            let mut stream = self.stream;
            match stream.read(buffer) {
                Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {}
                done => return done,
            }
        }
    }
}

/// What the engine asks for.
#[derive(Debug, Clone, Copy)]
pub(super) enum Request<'a> {
    /// An environment, described as JSON.
    Make(&'a str),
    /// Whether a seed repeats its episode.
    Check,
    /// A policy, described as JSON.
    Seat(&'a str),
    /// The policy forgets the episode before.
    Forget,
    /// The policy's command for an observation.
    Act(&'a [f32]),
    /// Whether a file of the user's modules has changed since it was imported.
    HaveChanged,
    /// The beginning of the episode of a seed, with parameters that were drawn for it by their indices.
    Reset(u64, &'a [(u32, f64)]),
    /// A step under a command.
    Step(&'a [f32]),
    /// So many steps under the commands of the policy with that number, from an observation.
    Play(u32, u32, &'a [f32]),
    /// Another value of the parameter with that index.
    Set(u32, f64),
}

impl Request<'_> {
    /// Sends the message whole; `buffer` is used again and again.
    pub(super) fn send(self, to: &mut impl Write, buffer: &mut Vec<u8>) -> Result<()> {
        buffer.clear();
        buffer.extend_from_slice(&[self.letter(), 0, 0, 0, 0]);
        match self {
            Request::Make(text) | Request::Seat(text) => buffer.extend_from_slice(text.as_bytes()),
            Request::Reset(seed, drawn) => {
                buffer.extend_from_slice(&seed.to_le_bytes());
                drawn.iter().for_each(|(index, value)| set(buffer, *index, *value));
            }
            Request::Step(row) | Request::Act(row) => {
                row.iter().for_each(|x| buffer.extend_from_slice(&x.to_le_bytes()));
            }
            Request::Play(policy, steps, row) => {
                buffer.extend_from_slice(&policy.to_le_bytes());
                buffer.extend_from_slice(&steps.to_le_bytes());
                row.iter().for_each(|x| buffer.extend_from_slice(&x.to_le_bytes()));
            }
            Request::Check | Request::Forget | Request::HaveChanged => {}
            Request::Set(index, value) => set(buffer, index, value),
        }
        let len = u32::try_from(buffer.len() - 5).map_err(|_| Error::from(ErrorKind::InvalidInput))?;
        buffer[1..5].copy_from_slice(&len.to_le_bytes());
        to.write_all(buffer)
    }

    fn letter(self) -> u8 {
        match self {
            Request::Make(_) => b'M',
            Request::Seat(_) => b'Q',
            Request::Check => b'C',
            Request::Forget => b'F',
            Request::Act(_) => b'A',
            Request::HaveChanged => b'V',
            Request::Reset(..) => b'R',
            Request::Step(_) => b'S',
            Request::Play(..) => b'L',
            Request::Set(..) => b'P',
        }
    }
}

/// Adds a parameter by its index with its value.
fn set(buffer: &mut Vec<u8>, index: u32, value: f64) {
    buffer.extend_from_slice(&index.to_le_bytes());
    buffer.extend_from_slice(&value.to_le_bytes());
}

/// Receives a message of at most so many bytes: its letter, and its body in `body`.
pub(super) fn receive(from: &mut impl Read, body: &mut Vec<u8>, longest: usize) -> Result<u8> {
    let mut header = [0; 5];
    from.read_exact(&mut header)?;
    let [letter, len @ ..] = header;
    let len = u32::from_le_bytes(len) as usize;
    if len > longest {
        let why =
            format!("a message of {len} bytes, which is no message of ours: expected at most {longest}");
        return Err(Error::new(ErrorKind::InvalidData, why));
    }
    body.clear();
    // The buffer grows with what comes, not with what is announced.
    if from.take(len as u64).read_to_end(body)? < len {
        return Err(ErrorKind::UnexpectedEof.into());
    }
    Ok(letter)
}

/// What a reset or a step brought.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Reply {
    /// The reward.
    pub(super) reward: f64,
    /// The episode is over.
    pub(super) terminated: bool,
    /// The environment cut it.
    pub(super) truncated: bool,
    /// Whether it counts as a success, where the environment says so.
    pub(super) success: Option<bool>,
    /// What `info` says of the key by which failures are told.
    pub(super) flagged: bool,
    /// How far the state is from failure; infinite where nobody asked or it is not known yet.
    pub(super) margin: f64,
}

impl Reply {
    /// Bytes of it, before the observation.
    pub(super) const BYTES: usize = 17;

    /// Reads the body of an answer; what is left of it is the observation, if that is not in a shared file.
    pub(super) fn read(body: &[u8]) -> Option<(Reply, &[u8])> {
        let (reward, rest) = body.split_first_chunk::<8>()?;
        let (margin, rest) = rest.split_first_chunk::<8>()?;
        let (&flags, obs) = rest.split_first()?;
        let has = |bit: u8| flags & bit != 0;
        let [reward, margin] = [reward, margin].map(|number| f64::from_le_bytes(*number));
        let success = has(4).then(|| has(8));
        Some((
            Reply { reward, terminated: has(1), truncated: has(2), success, flagged: has(16), margin },
            obs,
        ))
    }
}

/// Writes the numbers of an observation, bytes of an image or little-endian floats; false if there are not as many.
pub(super) fn numbers(bytes: &[u8], is_image: bool, obs: &mut [f32]) -> bool {
    if is_image {
        obs.iter_mut().zip(bytes).for_each(|(x, &grey)| *x = f32::from(grey));
        return obs.len() == bytes.len();
    }
    let (floats, rest) = bytes.as_chunks::<4>();
    obs.iter_mut().zip(floats).for_each(|(x, float)| *x = f32::from_le_bytes(*float));
    obs.len() == floats.len() && rest.is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_have_a_letter_a_length_and_a_body() {
        let (mut sent, mut buffer) = (Vec::new(), Vec::new());
        Request::Step(&[1.0, -2.0]).send(&mut sent, &mut buffer).unwrap();
        assert_eq!(sent, b"S\x08\0\0\0\0\0\x80\x3f\0\0\0\xc0");
        let mut body = Vec::new();
        assert_eq!(receive(&mut sent.as_slice(), &mut body, 8).unwrap(), b'S');
        let mut obs = [0.0; 2];
        assert!(numbers(&body, false, &mut obs) && obs == [1.0, -2.0]);
        assert!(!numbers(&body, false, &mut [0.0; 3]) && !numbers(&body[..7], false, &mut [0.0; 1]));
    }

    #[test]
    fn an_image_is_bytes() {
        let mut obs = [0.0; 3];
        assert!(numbers(&[0, 7, 255], true, &mut obs) && obs == [0.0, 7.0, 255.0]);
    }

    #[test]
    fn flags_are_read_and_short_answers_are_none() {
        let mut body = [1.5_f64, 0.25].map(f64::to_le_bytes).concat();
        assert_eq!(Reply::read(&body), None);
        body.push(1 | 4);
        let (success, margin) = (Some(false), 0.25);
        let reply =
            Reply { reward: 1.5, terminated: true, truncated: false, success, flagged: false, margin };
        assert_eq!(Reply::read(&body), Some((reply, [].as_slice())));
    }

    #[test]
    fn garbage_is_not_waited_for() {
        let error = receive(&mut b"X\xff\xff\xff\xff".as_slice(), &mut Vec::new(), 1 << 20).unwrap_err();
        assert!(error.to_string().contains("no message of ours"), "{error}");
        let mut body = Vec::new();
        let error = receive(&mut b"O\xff\xff\0\0abc".as_slice(), &mut body, 1 << 20).unwrap_err();
        assert!(error.kind() == ErrorKind::UnexpectedEof && body.capacity() < 1000, "{error}");
    }
}
