//! A link to a simulated controller in the same process, in lock step.
//!
//! The controller's time passes only while the client waits for data: each wait is ticks until there are some. So it
//! runs as fast as it can be computed, the same commands give the same bits, and a copy is a copy. What passes between
//! the two is still the bytes of the protocol.

use super::connection::Connection;
use super::controller::Controller;
use crate::link::{Link, LinkError};

/// Ticks that a wait lasts at most: a second of the controller's time.
const LONGEST_WAIT_TICKS: usize = 500;

/// A client's link with a controller of its own at the other end.
#[derive(Clone)]
pub struct Loopback {
    controller: Controller,
    connection: Connection,
    to_client: Vec<u8>,
}

impl Loopback {
    /// A link to a controller.
    pub fn new(controller: Controller) -> Loopback {
        Loopback { connection: Connection::new(&controller), controller, to_client: Vec::new() }
    }
}

impl Link for Loopback {
    fn send(&mut self, bytes: &[u8]) -> Result<(), LinkError> {
        Ok(self.connection.receive(bytes, &mut self.controller, &mut self.to_client)?)
    }

    fn receive(&mut self, into: &mut Vec<u8>) -> Result<(), LinkError> {
        for _ in 0..LONGEST_WAIT_TICKS {
            if !self.to_client.is_empty() {
                into.append(&mut self.to_client);
                return Ok(());
            }
            self.controller.tick();
            self.connection.publish(&self.controller, &mut self.to_client);
        }
        Err(LinkError::Silent(1.0))
    }

    fn play(&mut self, _script: &str) -> Result<(), LinkError> {
        self.controller.play();
        Ok(())
    }

    fn fork(&self) -> Option<Box<dyn Link>> {
        Some(Box::new(self.clone()))
    }
}
