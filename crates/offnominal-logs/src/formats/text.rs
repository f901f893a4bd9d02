//! Text as it lies in files: in UTF-8, UTF-16 or Latin-1, with blanks between its fields, and without an end.

use std::cell::Cell;
use std::io::{self, BufRead, BufReader, Read};
use std::rc::Rc;

/// What comes before UTF-8.
const MARK: &[u8] = b"\xef\xbb\xbf";

/// Whether the first bytes are those of a text in UTF-16, and whether the larger byte comes first.
pub fn utf16(head: &[u8]) -> Option<bool> {
    let zeros = |from: usize| head.iter().take(64).skip(from).step_by(2).filter(|&&b| b == 0).count();
    let half = head.len().min(64) / 2;
    match head {
        [0xff, 0xfe, ..] => Some(false),
        [0xfe, 0xff, ..] => Some(true),
        // Latin letters, digits and separators have one byte that is zero.
        _ if half >= 4 && zeros(1) * 10 >= half * 9 && zeros(0) == 0 => Some(false),
        _ if half >= 4 && zeros(0) * 10 >= half * 9 && zeros(1) == 0 => Some(true),
        _ => None,
    }
}

/// The text in UTF-8, without a mark in front. What is neither UTF-8 nor UTF-16 stays as it is.
pub fn open<'a>(mut from: impl BufRead + 'a) -> io::Result<Box<dyn BufRead + 'a>> {
    let head = from.fill_buf()?;
    if let Some(is_big) = utf16(head) {
        return Ok(Box::new(BufReader::with_capacity(
            1 << 16,
            Utf16 { from, is_big, is_first: true, ready: Vec::new() },
        )));
    }
    if head.starts_with(MARK) {
        from.consume(MARK.len());
    }
    Ok(Box::new(from))
}

/// UTF-16 as UTF-8.
struct Utf16<R> {
    from: R,
    is_big: bool,
    is_first: bool,
    /// What was decoded and not yet taken.
    ready: Vec<u8>,
}

impl<R: BufRead> Read for Utf16<R> {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        if self.ready.is_empty() {
            self.decode()?;
        }
        let n = self.ready.len().min(to.len());
        to[..n].copy_from_slice(&self.ready[..n]);
        self.ready.drain(..n);
        Ok(n)
    }
}

impl<R: BufRead> Utf16<R> {
    /// Decodes what there is, up to the end of a line at least: no character is torn there.
    fn decode(&mut self) -> io::Result<()> {
        let mut units = Vec::new();
        let mut pair = [0; 2];
        while units.len() < 1 << 12 || units.last().is_some_and(|unit| (0xd800..0xdc00).contains(unit)) {
            match self.from.read_exact(&mut pair) {
                Ok(()) => {
                    units.push(if self.is_big { u16::from_be_bytes(pair) } else { u16::from_le_bytes(pair) })
                }
                Err(why) if why.kind() == io::ErrorKind::UnexpectedEof => break,
                Err(why) => return Err(why),
            }
            if units.last() == Some(&u16::from(b'\n')) {
                break;
            }
        }
        let skip = usize::from(std::mem::take(&mut self.is_first) && units.first() == Some(&0xfeff));
        let mut bytes = [0; 4];
        for found in char::decode_utf16(units.into_iter().skip(skip)) {
            let found = found.unwrap_or(char::REPLACEMENT_CHARACTER);
            self.ready.extend_from_slice(found.encode_utf8(&mut bytes).as_bytes());
        }
        Ok(())
    }
}

/// Bytes as text: UTF-8, else Latin-1.
pub fn decoded(bytes: &[u8]) -> String {
    match std::str::from_utf8(bytes) {
        Ok(text) => text.into(),
        Err(_) => bytes.iter().map(|&b| char::from(b)).collect(),
    }
}

/// Runs of blanks and tabs as one blank, and none at the ends of a line.
pub struct Blanks<R> {
    from: R,
    is_begin: bool,
    is_due: bool,
    ready: Vec<u8>,
}

impl<R: BufRead> Blanks<R> {
    /// Those of a text.
    pub fn new(from: R) -> Blanks<R> {
        Blanks { from, is_begin: true, is_due: false, ready: Vec::new() }
    }
}

impl<R: BufRead> Read for Blanks<R> {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        while self.ready.is_empty() {
            let found = self.from.fill_buf()?;
            let n = found.len();
            if n == 0 {
                return Ok(0);
            }
            for &byte in found {
                match byte {
                    b' ' | b'\t' => self.is_due = !self.is_begin,
                    b'\n' | b'\r' => {
                        (self.is_begin, self.is_due) = (true, false);
                        self.ready.push(byte);
                    }
                    _ => {
                        if std::mem::take(&mut self.is_due) {
                            self.ready.push(b' ');
                        }
                        self.is_begin = false;
                        self.ready.push(byte);
                    }
                }
            }
            self.from.consume(n);
        }
        let n = self.ready.len().min(to.len());
        to[..n].copy_from_slice(&self.ready[..n]);
        self.ready.drain(..n);
        Ok(n)
    }
}

/// A text whose records have an end: an error comes before one that is too long is in memory.
pub struct Bounded<R> {
    from: R,
    left: Rc<Cell<usize>>,
}

impl<R> Bounded<R> {
    /// A text of which so many bytes are read before somebody sets the number anew.
    pub fn new(from: R, left: Rc<Cell<usize>>) -> Bounded<R> {
        Bounded { from, left }
    }
}

impl<R: Read> Read for Bounded<R> {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        if self.left.get() == 0 {
            return Err(io::Error::other("expected the end of a record, found more bytes than one may have"));
        }
        let most = to.len().min(self.left.get());
        let n = self.from.read(&mut to[..most])?;
        self.left.set(self.left.get() - n);
        Ok(n)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_in_any_encoding_is_the_same() {
        let plain = "time,Temperatur [°C]\n0.1,5\n0.2,😀\n";
        let read = |bytes: Vec<u8>| {
            let mut text = String::new();
            open(&bytes[..]).unwrap().read_to_string(&mut text).unwrap();
            text
        };
        let little =
            |mark: &str| format!("{mark}{plain}").encode_utf16().flat_map(u16::to_le_bytes).collect();
        let big = |mark: &str| format!("{mark}{plain}").encode_utf16().flat_map(u16::to_be_bytes).collect();
        for bytes in [
            plain.into(),
            [MARK, plain.as_bytes()].concat(),
            little("\u{feff}"),
            big("\u{feff}"),
            little(""),
            big(""),
        ] {
            assert_eq!(read(bytes), plain);
        }
        assert_eq!(decoded(b"T [\xb0C]"), "T [°C]");
    }

    #[test]
    fn blanks_are_one_and_none_at_the_ends() {
        let mut text = String::new();
        Blanks::new(&b"  a \t b\n c   d  \n"[..]).read_to_string(&mut text).unwrap();
        assert_eq!(text, "a b\nc d\n");
    }
}
