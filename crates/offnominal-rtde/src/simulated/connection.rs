//! One client of a simulated controller: its recipes, and the bytes there and back.

use super::controller::Controller;
use super::outputs::Output;
use super::registers::{Input, sane};
use crate::message::{Data, LONGEST_NAMES, PROTOCOL, Reply, Request, Setup, Text};
use crate::package::{Inbox, Malformed};
use crate::recipe::names;
use crate::value::{Fields, Type, Value};

/// Ticks per second.
const RATE_HZ: f64 = 500.0;

/// The software that is simulated: an e-Series controller that existing clients know.
pub const VERSION: [u32; 4] = [5, 12, 0, 1_101_319];

/// Recipes of inputs that a client may have; their numbers are one byte.
const MOST_RECIPES: usize = 254;

/// A client's view of the controller.
#[derive(Debug, Clone, Default)]
pub struct Connection {
    inbox: Inbox,
    outputs: Vec<Output>,
    period_ticks: u64,
    inputs: Vec<Vec<Input>>,
    is_sending: bool,
    notices: u32,
    packed: Vec<u8>,
}

impl Connection {
    /// A client that is not told of notices before its time.
    pub fn new(to: &Controller) -> Connection {
        Connection { notices: to.notice.0, period_ticks: 1, ..Connection::default() }
    }

    /// Takes bytes of the client and appends the answers.
    ///
    /// # Errors
    /// If they are no messages; the connection is then of no more use.
    pub fn receive(&mut self, bytes: &[u8], to: &mut Controller, out: &mut Vec<u8>) -> Result<(), Malformed> {
        self.inbox.buffer().extend_from_slice(bytes);
        let mut inbox = std::mem::take(&mut self.inbox);
        let answered = self.answer_all(&mut inbox, to, out);
        self.inbox = inbox;
        answered
    }

    fn answer_all(
        &mut self,
        inbox: &mut Inbox,
        to: &mut Controller,
        out: &mut Vec<u8>,
    ) -> Result<(), Malformed> {
        while let Some(package) = inbox.take()? {
            self.answer(Request::read(package)?, to, out)?;
        }
        Ok(())
    }

    /// Appends what the controller has to say after a tick.
    pub fn publish(&mut self, of: &Controller, out: &mut Vec<u8>) {
        if self.notices != of.notice.0 {
            self.notices = of.notice.0;
            Reply::Text(Text { message: &of.notice.1, source: "simulation", level: 2 }).write(out);
        }
        if self.is_sending && of.ticks.is_multiple_of(self.period_ticks) {
            self.packed.clear();
            self.outputs.iter().for_each(|o| o.value(of).write(&mut self.packed));
            Reply::Data(Data { recipe: 1, packed: &self.packed }).write(out);
        }
    }

    fn answer(
        &mut self,
        request: Request<'_>,
        to: &mut Controller,
        out: &mut Vec<u8>,
    ) -> Result<(), Malformed> {
        match request {
            Request::Protocol(version) => Reply::Protocol(version == PROTOCOL).write(out),
            Request::ControllerVersion => Reply::ControllerVersion(VERSION).write(out),
            Request::Text(text) => to.say(text.message.into()),
            Request::Outputs { frequency_hz, names } => self.setup_outputs(frequency_hz, names, to, out),
            Request::Inputs { names } => self.setup_inputs(names, out),
            Request::Start => {
                self.is_sending = !self.outputs.is_empty();
                Reply::Start(self.is_sending).write(out);
            }
            Request::Pause => {
                self.is_sending = false;
                Reply::Pause(true).write(out);
            }
            Request::Data(data) => self.write(data, to)?,
        }
        Ok(())
    }

    fn setup_outputs(&mut self, frequency_hz: f64, list: &str, of: &Controller, out: &mut Vec<u8>) {
        let (outputs, types) = agreed(list, Output::of, |output| output.value(of).of_type());
        self.outputs = outputs;
        // What is no frequency counts as the lowest.
        self.period_ticks = (RATE_HZ / sane(frequency_hz, 1.0, RATE_HZ)).round() as u64;
        let recipe = u8::from(!self.outputs.is_empty());
        Reply::Outputs(Setup { recipe, types: &types }).write(out);
    }

    fn setup_inputs(&mut self, list: &str, out: &mut Vec<u8>) {
        let list = if self.inputs.len() < MOST_RECIPES { list } else { "" };
        let (inputs, types) = agreed(list, Input::of, Input::of_type);
        let mut recipe = 0;
        if !inputs.is_empty() {
            self.inputs.push(inputs);
            recipe = self.inputs.len() as u8;
        }
        Reply::Inputs(Setup { recipe, types: &types }).write(out);
    }

    /// Writes a client's values. A recipe that was never agreed is ignored, as controllers do.
    fn write(&self, data: Data<'_>, to: &mut Controller) -> Result<(), Malformed> {
        let Some(inputs) = usize::from(data.recipe).checked_sub(1).and_then(|i| self.inputs.get(i)) else {
            return Ok(());
        };
        let needed: usize = inputs.iter().map(|i| i.of_type().size()).sum();
        if data.packed.len() < needed {
            return Err(Malformed::TooShort { what: "values", expected: needed, found: data.packed.len() });
        }
        let (mut from, mut mask) = (Fields(data.packed), 0);
        for input in inputs {
            input.set(Value::read(input.of_type(), &mut from)?, &mut to.registers, &mut mask);
        }
        from.end()
    }
}

/// The variables of a list of names, none if one is not known, and what is answered: their types.
fn agreed<T: Copy>(list: &str, of: fn(&str) -> Option<T>, of_type: impl Fn(T) -> Type) -> (Vec<T>, String) {
    let list = if list.len() <= LONGEST_NAMES { list } else { "" };
    let known: Vec<Option<T>> = names(list).map(of).collect();
    let types: Vec<&str> = known.iter().map(|v| v.map_or("NOT_FOUND", |v| of_type(v).name())).collect();
    (known.into_iter().collect::<Option<_>>().unwrap_or_default(), types.join(","))
}
