//! Packages: how messages lie on the wire.
//!
//! A package is its size in bytes, header included (u16), its kind (u8), and the payload; all numbers are big-endian.
//! A stream of bytes is cut into packages by [`Inbox`], whose memory is bounded, since a size cannot exceed 65,535.

use thiserror::Error;

/// Bytes before the payload.
pub const HEADER: usize = 3;

/// What kind of message a package carries; the value is the byte on the wire, an ASCII letter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum PackageType {
    /// `V`: which version of the protocol both sides speak.
    ProtocolVersion = b'V',
    /// `v`: the version of the controller's software.
    ControllerVersion = b'v',
    /// `M`: a text for people.
    Text = b'M',
    /// `O`: which variables the controller shall send.
    SetupOutputs = b'O',
    /// `I`: which variables the client is going to send.
    SetupInputs = b'I',
    /// `S`: begin to send.
    Start = b'S',
    /// `P`: cease to send.
    Pause = b'P',
    /// `U`: values of the variables of a recipe.
    Data = b'U',
}

impl PackageType {
    const ALL: [PackageType; 8] = [
        PackageType::ProtocolVersion,
        PackageType::ControllerVersion,
        PackageType::Text,
        PackageType::SetupOutputs,
        PackageType::SetupInputs,
        PackageType::Start,
        PackageType::Pause,
        PackageType::Data,
    ];

    fn of(byte: u8) -> Result<PackageType, Malformed> {
        PackageType::ALL.into_iter().find(|&k| k as u8 == byte).ok_or(Malformed::Kind(byte))
    }
}

/// Why bytes are not a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Malformed {
    /// The size cannot be.
    #[error("expected a package of at least 3 bytes, found the size {0}")]
    Size(u16),
    /// There is no such kind.
    #[error("expected one of the kinds V, v, M, O, I, S, P, U, found the byte {0}")]
    Kind(u8),
    /// The payload ends too early.
    #[error("{what}: expected {expected} bytes more, found {found}")]
    TooShort {
        /// What was being read.
        what: &'static str,
        /// How many bytes it needs.
        expected: usize,
        /// How many are left.
        found: usize,
    },
    /// The payload goes on after its end.
    #[error("expected the end of the package, found {0} bytes more")]
    TooLong(usize),
    /// A text is no text.
    #[error("{0}: expected UTF-8")]
    NotText(&'static str),
    /// A number has no meaning.
    #[error("{what}: expected {expected}, found {found}")]
    Value {
        /// What was being read.
        what: &'static str,
        /// What it may be.
        expected: &'static str,
        /// What it is.
        found: u64,
    },
}

/// One package of a stream, still encoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Package<'a> {
    /// What kind of message it carries.
    pub kind: PackageType,
    /// The message.
    pub payload: &'a [u8],
}

impl<'a> Package<'a> {
    /// The first package of `bytes` and its size; `None` while it is incomplete.
    ///
    /// # Errors
    /// If the bytes cannot begin a package; what follows in the stream is then lost.
    pub fn first(bytes: &'a [u8]) -> Result<Option<(Package<'a>, usize)>, Malformed> {
        let [high, low, rest @ ..] = bytes else { return Ok(None) };
        let size = u16::from_be_bytes([*high, *low]);
        if usize::from(size) < HEADER {
            return Err(Malformed::Size(size));
        }
        let Some(&kind) = rest.first() else { return Ok(None) };
        let kind = PackageType::of(kind)?;
        let payload = bytes.get(HEADER..usize::from(size));
        Ok(payload.map(|payload| (Package { kind, payload }, size.into())))
    }

    /// Appends a package whose payload `fill` appends.
    ///
    /// # Panics
    /// If the payload is larger than a package can be.
    pub fn write(kind: PackageType, out: &mut Vec<u8>, fill: impl FnOnce(&mut Vec<u8>)) {
        let start = out.len();
        out.extend_from_slice(&[0, 0, kind as u8]);
        fill(out);
        let size = u16::try_from(out.len() - start).expect("a payload fits its package");
        out[start..start + 2].copy_from_slice(&size.to_be_bytes());
    }
}

/// Received bytes, cut into packages.
#[derive(Debug, Clone, Default)]
pub struct Inbox {
    bytes: Vec<u8>,
    /// Bytes at the front that were taken already.
    taken: usize,
}

impl Inbox {
    /// The buffer at whose end received bytes are put.
    pub fn buffer(&mut self) -> &mut Vec<u8> {
        self.bytes.drain(..self.taken);
        self.taken = 0;
        &mut self.bytes
    }

    /// Takes the next whole package; `None` if more bytes are needed.
    ///
    /// # Errors
    /// If the stream is no stream of packages.
    pub fn take(&mut self) -> Result<Option<Package<'_>>, Malformed> {
        let Some((package, size)) = Package::first(&self.bytes[self.taken..])? else { return Ok(None) };
        self.taken += size;
        Ok(Some(package))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(payload: &[u8]) -> Vec<u8> {
        let mut out = Vec::new();
        Package::write(PackageType::Text, &mut out, |out| out.extend_from_slice(payload));
        out
    }

    #[test]
    fn a_package_is_size_kind_and_payload() {
        assert_eq!(written(b"ab"), [0, 5, b'M', b'a', b'b']);
        let bytes = [0, 5, b'U', 1, 2, 0, 4];
        let package = Package { kind: PackageType::Data, payload: &[1, 2] };
        assert_eq!(Package::first(&bytes), Ok(Some((package, 5))));
    }

    #[test]
    fn an_inbox_waits_for_the_rest_and_gives_packages_in_order() {
        let mut inbox = Inbox::default();
        let stream = [written(b"first"), written(b""), written(b"third")].concat();
        let mut found = Vec::new();
        for byte in stream {
            inbox.buffer().push(byte);
            while let Some(package) = inbox.take().unwrap() {
                found.push(String::from_utf8(package.payload.to_vec()).unwrap());
            }
        }
        assert_eq!(found, ["first", "", "third"]);
        assert!(inbox.buffer().is_empty());
    }

    #[test]
    fn impossible_headers_are_told_at_once() {
        assert_eq!(Package::first(&[0, 2]), Err(Malformed::Size(2)));
        assert_eq!(Package::first(&[0, 9, b'x']), Err(Malformed::Kind(b'x')));
        assert_eq!(Package::first(&[255, 255]), Ok(None));
    }
}
