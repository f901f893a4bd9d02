//! Why a call failed: a status, which the caller gets, and a text, which waits in its thread.

use offnominal_monitor::{FileError, MonitorError, StepError, UnknownGroup};
use std::any::Any;
use std::cell::RefCell;
use std::ffi::c_char;
use std::fmt;
use std::io::Write;

/// What a call returns: 0 or more if it did what it should, less than 0 if it failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(i32)]
pub enum Status {
    /// Done; results are written.
    Ok = 0,
    /// Done, but no step has ended yet: nothing is written. So it is at the first step of an episode.
    NoVerdict = 1,
    /// There is no diagnosis: no step has ended yet, or the file was fitted without. Nothing is written.
    NoDiagnosis = 2,
    /// The parts of the score are not known: no step has ended yet, or the detector does not tell them. Nothing is written.
    NoShares = 3,
    /// A pointer is null where it must not be, or is not aligned for its type.
    Pointer = -1,
    /// The file cannot be read, or a text is not UTF-8.
    Unreadable = -2,
    /// The bytes are not a monitor that this version can bring back.
    File = -3,
    /// There are too many or too few numbers. The monitor is as it was.
    Width = -4,
    /// The transition does not begin where the one before it ended. The monitor is as it was.
    Gap = -5,
    /// The step cannot be scored for another reason. The monitor is as it was.
    Refused = -6,
    /// The library failed inside this call, which is a defect of it. The monitor or stream cannot be used any longer.
    Panicked = -7,
    /// The library failed inside an earlier call. Only what closes it and what returns texts or widths can be called.
    Poisoned = -8,
    /// The mapping says something that cannot be, is for another monitor, or there is none.
    Mapping = -9,
    /// A message does not follow its definition, or cannot be placed in time.
    Message = -10,
    /// The file was fitted without a group of this name. The monitor is as it was.
    Group = -11,
}

/// What a call has done, or why it has not.
pub(crate) type Done = Result<Status, Fault>;

/// A failure on its way to the caller.
#[derive(Debug)]
pub(crate) enum Fault {
    /// An argument that is null or not aligned.
    Pointer(&'static str),
    /// More numbers than an address space holds.
    TooMany(&'static str),
    /// A text that is not UTF-8, by its name.
    Utf8(&'static str),
    Open(MonitorError),
    Bytes(FileError),
    Step(StepError),
    Group(UnknownGroup),
    /// What the panic said.
    Panicked(String),
    Poisoned,
    Mapping(anyhow::Error),
    Message(anyhow::Error),
    /// Which monitor of a batch failed, and why.
    At(usize, Box<Fault>),
}

impl Fault {
    /// What was said when a call panicked.
    pub fn panicked(payload: &(dyn Any + Send)) -> Fault {
        let text = payload.downcast_ref::<&str>().map(|text| (*text).to_string());
        let text = text.or_else(|| payload.downcast_ref::<String>().cloned());
        Fault::Panicked(text.unwrap_or_default())
    }

    pub fn status(&self) -> Status {
        match self {
            Fault::Pointer(_) => Status::Pointer,
            Fault::TooMany(_) => Status::Width,
            Fault::Utf8(_) | Fault::Open(MonitorError::Unreadable { .. }) => Status::Unreadable,
            Fault::Open(_) | Fault::Bytes(_) => Status::File,
            Fault::Step(why) => of_step(why),
            Fault::Group(_) => Status::Group,
            Fault::Panicked(_) => Status::Panicked,
            Fault::Poisoned => Status::Poisoned,
            Fault::Mapping(_) => Status::Mapping,
            Fault::Message(_) => Status::Message,
            Fault::At(_, why) => why.status(),
        }
    }

    /// Keeps the text for this thread; the status for the caller.
    pub fn tell(&self) -> Status {
        // A thread that ends has no text any longer; the status is enough then.
        let _ = TEXT.try_with(|text| {
            let mut text = text.borrow_mut();
            text.clear();
            let _ = write!(text, "{self}");
            text.push(0);
        });
        self.status()
    }
}

fn of_step(why: &StepError) -> Status {
    match why {
        StepError::Width { .. } => Status::Width,
        StepError::Gap { .. } => Status::Gap,
        _ => Status::Refused,
    }
}

impl From<StepError> for Fault {
    fn from(why: StepError) -> Fault {
        Fault::Step(why)
    }
}

impl From<UnknownGroup> for Fault {
    fn from(why: UnknownGroup) -> Fault {
        Fault::Group(why)
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Fault::Pointer(what) => {
                write!(f, "{what}: expected an aligned address, found null or another one")
            }
            Fault::TooMany(what) => write!(f, "{what}: expected numbers that fit into memory, found more"),
            Fault::Utf8(what) => write!(f, "{what}: expected UTF-8, found other bytes"),
            Fault::Open(why) => why.fmt(f),
            Fault::Bytes(why) => why.fmt(f),
            Fault::Step(why) => why.fmt(f),
            Fault::Group(why) => why.fmt(f),
            Fault::Panicked(text) => write!(f, "the library failed, which is a defect of it: {text}"),
            Fault::Poisoned => {
                write!(f, "the library failed in an earlier call with this; open it again")
            }
            Fault::Mapping(why) => write!(f, "mapping: {why:#}"),
            Fault::Message(why) => write!(f, "{why:#}"),
            Fault::At(i, why) => write!(f, "monitor {i}: {why}"),
        }
    }
}

thread_local! {
    /// The text of the last failure in this thread, ended by a zero; its memory is used again.
    static TEXT: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// Where the text of the last failure in this thread is; an empty one if there was none.
pub(crate) fn last_text() -> *const c_char {
    let text = TEXT.try_with(|text| {
        let text = text.borrow();
        if text.is_empty() { c"".as_ptr() } else { text.as_ptr().cast() }
    });
    text.unwrap_or(c"".as_ptr())
}
