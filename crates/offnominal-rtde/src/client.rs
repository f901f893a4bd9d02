//! A client of RTDE: agrees on version and recipes, then sends and receives values.

use super::link::{Link, LinkError};
use super::message::{Data, PROTOCOL, Reply, Request, Setup};
use super::package::Inbox;
use super::recipe::RtdeRecipe;
use super::value::Value;
use std::time::{Duration, Instant};

/// Longest wait for the message that is due, whatever else comes in the meantime.
const PATIENCE: Duration = Duration::from_secs(2);

/// A connection with recipes agreed and data flowing.
pub struct Client {
    link: Box<dyn Link>,
    inbox: Inbox,
    outputs: RtdeRecipe,
    values: Vec<Value>,
    inputs: RtdeRecipe,
    packed: Vec<u8>,
    message: Vec<u8>,
}

/// What a client wants to exchange.
#[derive(Debug, Clone, Copy)]
pub struct Wishes {
    /// Variables to receive, separated by commas.
    pub outputs: &'static str,
    /// Variables to send.
    pub inputs: &'static str,
    /// Packages to receive per second.
    pub frequency_hz: f64,
}

impl Client {
    /// Agrees with the controller at the other end of the link, and has it begin to send.
    ///
    /// # Errors
    /// If it does not answer, refuses, or is no controller.
    pub fn open(link: Box<dyn Link>, wishes: Wishes) -> Result<Client, LinkError> {
        let mut talk = Talk { link, inbox: Inbox::default() };
        talk.version()?;
        let outputs = talk.outputs(wishes)?;
        let inputs = talk.inputs(wishes)?;
        talk.start()?;
        let (values, packed) = (vec![Value::Bool(false); outputs.types.len()], Vec::new());
        Ok(Client {
            link: talk.link,
            inbox: talk.inbox,
            outputs,
            values,
            inputs,
            packed,
            message: Vec::new(),
        })
    }

    /// Sends values of all inputs, in the order of the wishes.
    ///
    /// # Errors
    /// If the link is broken.
    ///
    /// # Panics
    /// If their types are not those that were agreed.
    pub fn send(&mut self, values: &[Value]) -> Result<(), LinkError> {
        assert!(
            values.iter().map(Value::of_type).eq(self.inputs.types.iter().copied()),
            "types of the inputs"
        );
        self.packed.clear();
        values.iter().for_each(|v| v.write(&mut self.packed));
        self.message.clear();
        Request::Data(Data { recipe: self.inputs.id, packed: &self.packed }).write(&mut self.message);
        self.link.send(&self.message)
    }

    /// Waits for values of all outputs, in the order of the wishes.
    ///
    /// # Errors
    /// If the link is broken, silent, or carries garbage.
    pub fn receive(&mut self) -> Result<&[Value], LinkError> {
        let deadline = Instant::now() + PATIENCE;
        while !self.take()? {
            fill(&mut self.inbox, self.link.as_mut(), deadline)?;
        }
        Ok(&self.values)
    }

    /// Passes over values that piled up while nobody waited for them.
    ///
    /// # Errors
    /// If the link is broken or carries garbage.
    pub fn catch_up(&mut self) -> Result<(), LinkError> {
        let deadline = Instant::now() + PATIENCE;
        while Instant::now() < deadline && self.link.poll(self.inbox.buffer())? {
            while self.take()? {}
        }
        Ok(())
    }

    /// Has the controller run a program.
    ///
    /// # Errors
    /// If it cannot be reached.
    pub fn play(&mut self, script: &str) -> Result<(), LinkError> {
        self.link.play(script)
    }

    /// A copy with its own controller; `None` for a real robot.
    pub fn fork(&self) -> Option<Client> {
        Some(Client {
            link: self.link.fork()?,
            inbox: self.inbox.clone(),
            outputs: self.outputs.clone(),
            values: self.values.clone(),
            inputs: self.inputs.clone(),
            packed: self.packed.clone(),
            message: self.message.clone(),
        })
    }

    /// Takes packages up to the next one with values; whether there was one.
    fn take(&mut self) -> Result<bool, LinkError> {
        while let Some(package) = self.inbox.take()? {
            if let Reply::Data(data) = Reply::read(package)?
                && data.recipe == self.outputs.id
            {
                self.outputs.unpack(data.packed, &mut self.values)?;
                return Ok(true);
            }
        }
        Ok(false)
    }
}

fn agreed(names: &str, setup: Setup<'_>) -> Result<RtdeRecipe, LinkError> {
    Ok(RtdeRecipe::agreed(names, setup.recipe, setup.types)?)
}

/// Receives more bytes, unless the time is over.
fn fill(inbox: &mut Inbox, link: &mut dyn Link, deadline: Instant) -> Result<(), LinkError> {
    if Instant::now() > deadline {
        return Err(LinkError::Silent(PATIENCE.as_secs_f64()));
    }
    link.receive(inbox.buffer())
}

/// The questions and answers before data flow.
struct Talk {
    link: Box<dyn Link>,
    inbox: Inbox,
}

impl Talk {
    fn version(&mut self) -> Result<(), LinkError> {
        self.ask(Request::Protocol(PROTOCOL), "the answer to the version", |reply| match reply {
            Reply::Protocol(true) => Some(Ok(())),
            Reply::Protocol(false) => Some(Err(LinkError::OldProtocol)),
            _ => None,
        })
    }

    fn outputs(&mut self, wishes: Wishes) -> Result<RtdeRecipe, LinkError> {
        let request = Request::Outputs { frequency_hz: wishes.frequency_hz, names: wishes.outputs };
        self.ask(request, "the recipe of its data", |reply| match reply {
            Reply::Outputs(setup) => Some(agreed(wishes.outputs, setup)),
            _ => None,
        })
    }

    fn inputs(&mut self, wishes: Wishes) -> Result<RtdeRecipe, LinkError> {
        let request = Request::Inputs { names: wishes.inputs };
        self.ask(request, "the recipe of our data", |reply| match reply {
            Reply::Inputs(setup) => Some(agreed(wishes.inputs, setup)),
            _ => None,
        })
    }

    fn start(&mut self) -> Result<(), LinkError> {
        self.ask(Request::Start, "the start of its data", |reply| match reply {
            Reply::Start(true) => Some(Ok(())),
            Reply::Start(false) => Some(Err(LinkError::RefusesStart)),
            _ => None,
        })
    }

    /// Sends a question and waits for the answer that `read` recognises. Texts may come at any time.
    fn ask<T>(
        &mut self,
        request: Request<'_>,
        expected: &'static str,
        read: impl Fn(Reply<'_>) -> Option<Result<T, LinkError>>,
    ) -> Result<T, LinkError> {
        let mut bytes = Vec::new();
        request.write(&mut bytes);
        self.link.send(&bytes)?;
        let deadline = Instant::now() + PATIENCE;
        loop {
            match self.inbox.take()?.map(Reply::read).transpose()? {
                None => fill(&mut self.inbox, self.link.as_mut(), deadline)?,
                Some(Reply::Text(_)) => {}
                Some(reply) => {
                    let out_of_turn = || LinkError::OutOfTurn { expected, found: format!("{reply:?}") };
                    return read(reply).unwrap_or_else(|| Err(out_of_turn()));
                }
            }
        }
    }
}
