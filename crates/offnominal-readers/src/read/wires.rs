//! Readers of what comes over sockets.

use offnominal_core::spec::Channel;
use offnominal_hosts::{foreign, remote};
use offnominal_live as live;
use offnominal_rtde::client::{Client, Wishes};
use offnominal_rtde::message::{Reply, Request};
use offnominal_rtde::package::Inbox;
use offnominal_rtde::{Link, LinkError};

/// A link on which fixed bytes come, and then nothing.
struct Tape(Option<Vec<u8>>);

impl Link for Tape {
    fn send(&mut self, _: &[u8]) -> Result<(), LinkError> {
        Ok(())
    }

    fn receive(&mut self, into: &mut Vec<u8>) -> Result<(), LinkError> {
        into.extend(self.0.take().ok_or(LinkError::Silent(0.0))?);
        Ok(())
    }

    fn play(&mut self, _: &str) -> Result<(), LinkError> {
        Ok(())
    }

    fn fork(&self) -> Option<Box<dyn Link>> {
        None
    }
}

/// Packages of a robot's controller, and of its client.
pub fn rtde(bytes: &[u8]) -> bool {
    let (mut inbox, mut accepted) = (Inbox::default(), true);
    inbox.buffer().extend_from_slice(bytes);
    while let Ok(Some(package)) = inbox.take() {
        accepted &= Request::read(package).is_ok() | Reply::read(package).is_ok();
    }
    let wishes = Wishes { outputs: "timestamp", inputs: "input_int_register_0", frequency_hz: 125.0 };
    if let Ok(mut client) = Client::open(Box::new(Tape(Some(bytes.to_vec()))), wishes) {
        while client.receive().is_ok() {}
    }
    accepted
}

/// Answers of a process that hosts environments.
pub fn hosted(bytes: &[u8]) -> bool {
    foreign::answers(bytes)
}

/// A line of a command that acts.
pub fn policy_line(bytes: &[u8]) -> bool {
    let real = [Channel::unbounded("u", "an action", "1"), Channel::unbounded("v", "an action", "1")];
    let choice = [Channel::choice("push", "a choice", 3)];
    let read = |channels: &[Channel]| {
        let mut action = vec![0.0; channels.len()];
        remote::lines::read_answer(bytes, channels, &mut action).is_ok()
            && action.iter().all(|x| x.is_finite())
    };
    read(&real) || read(&choice)
}

/// The head of a request for the page of a monitor.
pub fn page_request(bytes: &[u8]) -> bool {
    live::is_request(bytes)
}
