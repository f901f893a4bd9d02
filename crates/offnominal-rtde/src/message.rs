//! Messages of the protocol, version 2: what a client asks and what a controller answers.
//!
//! Messages borrow their texts and values from the package that they were read from, so reading allocates nothing.

use super::package::{Kind, Malformed, Package};
use super::value::Fields;

/// The version of the protocol that is spoken here.
pub const PROTOCOL: u16 = 2;

/// Bytes of a list of names at most, as controllers have it.
pub const LONGEST_NAMES: usize = 2048;

/// A text for people, with its origin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Text<'a> {
    /// What is said.
    pub message: &'a str,
    /// Who says it.
    pub source: &'a str,
    /// How bad it is: 0 exception, 1 error, 2 warning, 3 information.
    pub level: u8,
}

impl<'a> Text<'a> {
    fn read(from: &mut Fields<'a>) -> Result<Text<'a>, Malformed> {
        let length = from.u8("length of the text")?;
        let message = from.text(length.into(), "text")?;
        let length = from.u8("length of the source")?;
        Ok(Text { message, source: from.text(length.into(), "source")?, level: from.u8("level")? })
    }

    fn write(&self, out: &mut Vec<u8>) {
        for text in [self.message, self.source] {
            let text = head(text);
            out.push(text.len() as u8);
            out.extend_from_slice(text.as_bytes());
        }
        out.push(self.level);
    }
}

/// What fits of a text, whose length is one byte.
pub(super) fn head(text: &str) -> &str {
    let mut end = text.len().min(u8::MAX.into());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

/// What a client sends.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Request<'a> {
    /// Let us speak this version.
    Protocol(u16),
    /// Which version is your software?
    ControllerVersion,
    /// A text for people.
    Text(Text<'a>),
    /// Send these variables that often.
    Outputs {
        /// Packages per second.
        frequency_hz: f64,
        /// Names, separated by commas.
        names: &'a str,
    },
    /// I am going to send these variables.
    Inputs {
        /// Names, separated by commas.
        names: &'a str,
    },
    /// Begin to send.
    Start,
    /// Cease to send.
    Pause,
    /// Values of the variables of a recipe.
    Data(Data<'a>),
}

/// Values of the variables of a recipe, packed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Data<'a> {
    /// Which recipe.
    pub recipe: u8,
    /// The values, in its order.
    pub packed: &'a [u8],
}

impl<'a> Data<'a> {
    fn read(from: &mut Fields<'a>) -> Result<Data<'a>, Malformed> {
        let recipe = from.u8("recipe")?;
        Ok(Data { recipe, packed: from.bytes(from.0.len(), "values")? })
    }

    fn write(&self, out: &mut Vec<u8>) {
        out.push(self.recipe);
        out.extend_from_slice(self.packed);
    }
}

impl<'a> Request<'a> {
    /// Reads what a client sent.
    ///
    /// # Errors
    /// If the payload is not of its kind.
    pub fn read(package: Package<'a>) -> Result<Request<'a>, Malformed> {
        let mut from = Fields(package.payload);
        let request = match package.kind {
            Kind::ProtocolVersion => Request::Protocol(from.u16("version")?),
            Kind::ControllerVersion => Request::ControllerVersion,
            Kind::Text => Request::Text(Text::read(&mut from)?),
            Kind::SetupOutputs => {
                Request::Outputs { frequency_hz: from.f64("frequency")?, names: from.rest("names")? }
            }
            Kind::SetupInputs => Request::Inputs { names: from.rest("names")? },
            Kind::Start => Request::Start,
            Kind::Pause => Request::Pause,
            Kind::Data => Request::Data(Data::read(&mut from)?),
        };
        from.end().map(|()| request)
    }

    /// Appends the message as a package.
    ///
    /// # Panics
    /// If the names or values are longer than a package can be.
    pub fn write(&self, out: &mut Vec<u8>) {
        Package::write(self.kind(), out, |out| match self {
            Request::Protocol(version) => out.extend_from_slice(&version.to_be_bytes()),
            Request::Text(text) => text.write(out),
            Request::Outputs { frequency_hz, names } => {
                out.extend_from_slice(&frequency_hz.to_be_bytes());
                out.extend_from_slice(names.as_bytes());
            }
            Request::Inputs { names } => out.extend_from_slice(names.as_bytes()),
            Request::Data(data) => data.write(out),
            Request::ControllerVersion | Request::Start | Request::Pause => {}
        });
    }

    fn kind(&self) -> Kind {
        match self {
            Request::Protocol(_) => Kind::ProtocolVersion,
            Request::ControllerVersion => Kind::ControllerVersion,
            Request::Text(_) => Kind::Text,
            Request::Outputs { .. } => Kind::SetupOutputs,
            Request::Inputs { .. } => Kind::SetupInputs,
            Request::Start => Kind::Start,
            Request::Pause => Kind::Pause,
            Request::Data(_) => Kind::Data,
        }
    }
}

/// What a controller sends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reply<'a> {
    /// Whether it speaks the version that was asked for.
    Protocol(bool),
    /// Major, minor, bug fix and build number of its software.
    ControllerVersion([u32; 4]),
    /// A text for people.
    Text(Text<'a>),
    /// The recipe of its data packages.
    Outputs(Setup<'a>),
    /// The recipe of the client's data packages.
    Inputs(Setup<'a>),
    /// Whether it begins to send.
    Start(bool),
    /// Whether it ceases to send.
    Pause(bool),
    /// Values of the variables that were asked for.
    Data(Data<'a>),
}

/// The answer to a list of names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Setup<'a> {
    /// The recipe's number; 0 if it cannot be used.
    pub recipe: u8,
    /// Types, separated by commas; `NOT_FOUND` or `IN_USE` in place of a type.
    pub types: &'a str,
}

impl<'a> Setup<'a> {
    fn read(from: &mut Fields<'a>) -> Result<Setup<'a>, Malformed> {
        Ok(Setup { recipe: from.u8("recipe")?, types: from.rest("types")? })
    }

    fn write(&self, out: &mut Vec<u8>) {
        out.push(self.recipe);
        out.extend_from_slice(self.types.as_bytes());
    }
}

impl<'a> Reply<'a> {
    /// Reads what a controller sent.
    ///
    /// # Errors
    /// If the payload is not of its kind.
    pub fn read(package: Package<'a>) -> Result<Reply<'a>, Malformed> {
        let mut from = Fields(package.payload);
        let reply = match package.kind {
            Kind::ProtocolVersion => Reply::Protocol(accepted(&mut from)?),
            Kind::ControllerVersion => Reply::ControllerVersion(version(&mut from)?),
            Kind::Text => Reply::Text(Text::read(&mut from)?),
            Kind::SetupOutputs => Reply::Outputs(Setup::read(&mut from)?),
            Kind::SetupInputs => Reply::Inputs(Setup::read(&mut from)?),
            Kind::Start => Reply::Start(accepted(&mut from)?),
            Kind::Pause => Reply::Pause(accepted(&mut from)?),
            Kind::Data => Reply::Data(Data::read(&mut from)?),
        };
        from.end().map(|()| reply)
    }

    /// Appends the message as a package.
    ///
    /// # Panics
    /// If the types or values are longer than a package can be.
    pub fn write(&self, out: &mut Vec<u8>) {
        Package::write(self.kind(), out, |out| match self {
            Reply::Protocol(yes) | Reply::Start(yes) | Reply::Pause(yes) => out.push(u8::from(*yes)),
            Reply::ControllerVersion(v) => v.iter().for_each(|n| out.extend_from_slice(&n.to_be_bytes())),
            Reply::Text(text) => text.write(out),
            Reply::Outputs(setup) | Reply::Inputs(setup) => setup.write(out),
            Reply::Data(data) => data.write(out),
        });
    }

    fn kind(&self) -> Kind {
        match self {
            Reply::Protocol(_) => Kind::ProtocolVersion,
            Reply::ControllerVersion(_) => Kind::ControllerVersion,
            Reply::Text(_) => Kind::Text,
            Reply::Outputs(_) => Kind::SetupOutputs,
            Reply::Inputs(_) => Kind::SetupInputs,
            Reply::Start(_) => Kind::Start,
            Reply::Pause(_) => Kind::Pause,
            Reply::Data(_) => Kind::Data,
        }
    }
}

fn accepted(from: &mut Fields<'_>) -> Result<bool, Malformed> {
    match from.u8("acceptance")? {
        0 => Ok(false),
        1 => Ok(true),
        other => Err(Malformed::Value { what: "acceptance", expected: "0 or 1", found: other.into() }),
    }
}

fn version(from: &mut Fields<'_>) -> Result<[u32; 4], Malformed> {
    let mut version = [0; 4];
    for number in &mut version {
        *number = from.u32("version of the controller")?;
    }
    Ok(version)
}
