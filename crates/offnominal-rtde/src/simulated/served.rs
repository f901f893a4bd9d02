//! A simulated robot at the sockets of this machine, in a thread: what tests of clients talk to.

use super::controller::Controller;
use super::station::{Settings, Station};
use crate::link::Ports;
use std::io::{Error, Result};
use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

/// A simulated robot that is served until this value is dropped.
pub struct Served {
    /// Where it listens, at 127.0.0.1.
    pub ports: Ports,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Served {
    /// Serves a new controller at any free ports, `speed` times as fast as the clock on the wall.
    ///
    /// # Errors
    /// If MuJoCo or a port cannot be had.
    pub fn locally(speed: f64, settings: Settings) -> Result<Served> {
        let any = Ports { rtde: 0, script: 0, dashboard: 0 };
        let controller = Controller::new().map_err(Error::other)?;
        let mut station = Station::open(IpAddr::V4(Ipv4Addr::LOCALHOST), any, controller, settings)?;
        let (ports, stop) = (station.ports()?, Arc::new(AtomicBool::new(false)));
        let signal = Arc::clone(&stop);
        let thread = Some(std::thread::spawn(move || station.serve(speed, &signal)));
        Ok(Served { ports, stop, thread })
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(Err(panic)) = self.thread.take().map(JoinHandle::join)
            && !std::thread::panicking()
        {
            std::panic::resume_unwind(panic);
        }
    }
}
