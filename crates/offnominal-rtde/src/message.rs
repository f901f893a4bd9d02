//! Messages of the protocol, version 2: what a client asks and what a controller answers.
//!
//! Messages borrow their texts and values from the package that they were read from, so reading allocates nothing.

use super::package::{Malformed, Package, PackageType};
use super::value::{Fields, Packed};

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
        let length: u8 = from.get("length of the text")?;
        let message = from.text(length.into(), "text")?;
        let length: u8 = from.get("length of the source")?;
        Ok(Text { message, source: from.text(length.into(), "source")?, level: from.get("level")? })
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
        let recipe = from.get("recipe")?;
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
            PackageType::ProtocolVersion => Request::Protocol(from.get("version")?),
            PackageType::ControllerVersion => Request::ControllerVersion,
            PackageType::Text => Request::Text(Text::read(&mut from)?),
            PackageType::SetupOutputs => {
                Request::Outputs { frequency_hz: from.get("frequency")?, names: from.rest("names")? }
            }
            PackageType::SetupInputs => Request::Inputs { names: from.rest("names")? },
            PackageType::Start => Request::Start,
            PackageType::Pause => Request::Pause,
            PackageType::Data => Request::Data(Data::read(&mut from)?),
        };
        from.end().map(|()| request)
    }

    /// Appends the message as a package.
    ///
    /// # Panics
    /// If the names or values are longer than a package can be.
    pub fn write(&self, out: &mut Vec<u8>) {
        match self {
            Request::Protocol(version) => {
                Package::write(PackageType::ProtocolVersion, out, |out| version.write(out))
            }
            Request::ControllerVersion => Package::write(PackageType::ControllerVersion, out, |_| ()),
            Request::Text(text) => Package::write(PackageType::Text, out, |out| text.write(out)),
            Request::Outputs { frequency_hz, names } => {
                Package::write(PackageType::SetupOutputs, out, |out| {
                    frequency_hz.write(out);
                    out.extend_from_slice(names.as_bytes());
                })
            }
            Request::Inputs { names } => {
                Package::write(PackageType::SetupInputs, out, |out| out.extend_from_slice(names.as_bytes()));
            }
            Request::Start => Package::write(PackageType::Start, out, |_| ()),
            Request::Pause => Package::write(PackageType::Pause, out, |_| ()),
            Request::Data(data) => Package::write(PackageType::Data, out, |out| data.write(out)),
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
        Ok(Setup { recipe: from.get("recipe")?, types: from.rest("types")? })
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
            PackageType::ProtocolVersion => Reply::Protocol(accepted(&mut from)?),
            PackageType::ControllerVersion => {
                Reply::ControllerVersion(from.get("version of the controller")?)
            }
            PackageType::Text => Reply::Text(Text::read(&mut from)?),
            PackageType::SetupOutputs => Reply::Outputs(Setup::read(&mut from)?),
            PackageType::SetupInputs => Reply::Inputs(Setup::read(&mut from)?),
            PackageType::Start => Reply::Start(accepted(&mut from)?),
            PackageType::Pause => Reply::Pause(accepted(&mut from)?),
            PackageType::Data => Reply::Data(Data::read(&mut from)?),
        };
        from.end().map(|()| reply)
    }

    /// Appends the message as a package.
    ///
    /// # Panics
    /// If the types or values are longer than a package can be.
    pub fn write(&self, out: &mut Vec<u8>) {
        match self {
            Reply::Protocol(yes) => Package::write(PackageType::ProtocolVersion, out, |out| yes.write(out)),
            Reply::ControllerVersion(v) => {
                Package::write(PackageType::ControllerVersion, out, |out| v.write(out))
            }
            Reply::Text(text) => Package::write(PackageType::Text, out, |out| text.write(out)),
            Reply::Outputs(setup) => Package::write(PackageType::SetupOutputs, out, |out| setup.write(out)),
            Reply::Inputs(setup) => Package::write(PackageType::SetupInputs, out, |out| setup.write(out)),
            Reply::Start(yes) => Package::write(PackageType::Start, out, |out| yes.write(out)),
            Reply::Pause(yes) => Package::write(PackageType::Pause, out, |out| yes.write(out)),
            Reply::Data(data) => Package::write(PackageType::Data, out, |out| data.write(out)),
        }
    }
}

fn accepted(from: &mut Fields<'_>) -> Result<bool, Malformed> {
    match from.get::<u8>("acceptance")? {
        0 => Ok(false),
        1 => Ok(true),
        other => Err(Malformed::Value { what: "acceptance", expected: "0 or 1", found: other.into() }),
    }
}
