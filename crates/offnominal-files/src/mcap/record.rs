//! The frames of MCAP's records, and the numbers and texts in them.

pub const HEADER: u8 = 0x01;
pub const FOOTER: u8 = 0x02;
pub const SCHEMA: u8 = 0x03;
pub const CHANNEL: u8 = 0x04;
pub const MESSAGE: u8 = 0x05;
pub const CHUNK: u8 = 0x06;
pub const MESSAGE_INDEX: u8 = 0x07;
pub const CHUNK_INDEX: u8 = 0x08;
pub const STATISTICS: u8 = 0x0b;
pub const SUMMARY_OFFSET: u8 = 0x0e;
pub const DATA_END: u8 = 0x0f;

/// Adds a record: its kind, its length in eight bytes, and what it says.
pub fn frame(to: &mut Vec<u8>, opcode: u8, body: &Body) {
    to.push(opcode);
    to.extend_from_slice(&(body.0.len() as u64).to_le_bytes());
    to.extend_from_slice(&body.0);
}

/// What a record says, field by field; numbers have their lowest byte first.
#[derive(Default)]
pub struct Body(Vec<u8>);

impl Body {
    pub fn u8(self, x: u8) -> Body {
        self.rest(&[x])
    }

    pub fn u16(self, x: u16) -> Body {
        self.rest(&x.to_le_bytes())
    }

    pub fn u32(self, x: u32) -> Body {
        self.rest(&x.to_le_bytes())
    }

    pub fn u64(self, x: u64) -> Body {
        self.rest(&x.to_le_bytes())
    }

    pub fn text(self, text: &str) -> Body {
        self.bytes(text.as_bytes())
    }

    /// Bytes after their number in four bytes; arrays and maps are written so too.
    ///
    /// # Panics
    /// If there are 4 GiB or more.
    pub fn bytes(self, bytes: &[u8]) -> Body {
        self.u32(u32::try_from(bytes.len()).expect("fewer than 4 GiB")).rest(bytes)
    }

    /// Bytes without their number, up to the end of the record.
    pub fn rest(mut self, bytes: &[u8]) -> Body {
        self.0.extend_from_slice(bytes);
        self
    }
}

impl AsRef<[u8]> for Body {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}
