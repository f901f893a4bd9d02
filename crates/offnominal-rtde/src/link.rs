//! The way to a controller: bytes of RTDE there and back, and the program that it shall run.

use super::package::Malformed;
use super::recipe::RecipeError;
use std::io::{ErrorKind, Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::time::Duration;
use thiserror::Error;

/// What a link needs to do. It never waits longer than its time-out.
pub trait Link: Send + Sync {
    /// Sends all bytes.
    ///
    /// # Errors
    /// If the link is broken, here and below.
    fn send(&mut self, bytes: &[u8]) -> Result<(), LinkError>;

    /// Waits for bytes and appends them.
    fn receive(&mut self, into: &mut Vec<u8>) -> Result<(), LinkError>;

    /// Appends bytes that have come already, without waiting; whether there were any. In lock step nothing piles up.
    fn poll(&mut self, _into: &mut Vec<u8>) -> Result<bool, LinkError> {
        Ok(false)
    }

    /// Has the controller run a program in URScript.
    fn play(&mut self, script: &str) -> Result<(), LinkError>;

    /// A copy with its own controller in the same state; `None` for a real robot, of which there is only one.
    fn fork(&self) -> Option<Box<dyn Link>>;
}

/// Why a robot cannot be used, or not any longer.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum LinkError {
    /// Nobody is there.
    #[error("{host}:{port} does not answer ({why}); is the robot switched on, and is this its address?")]
    NoAnswer {
        /// The host that was asked.
        host: String,
        /// The port.
        port: u16,
        /// What the operating system says.
        why: String,
    },
    /// The connection ended.
    #[error("the connection to the robot broke: {0}")]
    Broken(String),
    /// Nothing came for too long.
    #[error("the robot was silent for {0} s")]
    Silent(f64),
    /// Packages come, but the robot's time stands still.
    #[error("the robot's clock stands still at {0} s")]
    Frozen(f64),
    /// What came is no RTDE.
    #[error("the robot sent what is no message of RTDE: {0}")]
    Garbage(#[from] Malformed),
    /// What came is RTDE, but not now.
    #[error("expected {expected} from the robot, found {found}")]
    OutOfTurn {
        /// The message that was due.
        expected: &'static str,
        /// What came.
        found: String,
    },
    /// It speaks another version.
    #[error("the robot refuses version 2 of RTDE; it needs software 3.10 or newer")]
    OldProtocol,
    /// A variable cannot be had.
    #[error(transparent)]
    Recipe(#[from] RecipeError),
    /// It does not begin to send.
    #[error("the robot refuses to send data")]
    RefusesStart,
    /// The safety system stopped it.
    #[error("the robot stopped: {0}; free it at its panel before the next run")]
    Stopped(&'static str),
    /// The program does not run.
    #[error("the robot does not run our program ({0}); is it in remote control, powered and released?")]
    NotPlaying(&'static str),
    /// A movement took too long.
    #[error("the robot did not arrive within {0} s")]
    NotArrived(f64),
    /// A command is beyond what the arm can do.
    #[error("the command is out of the arm's reach or would make it jump: {0}")]
    OutOfReach(String),
    /// The robot is somewhere it must not be.
    #[error("the robot left its workspace: {0}")]
    LeftWorkspace(String),
    /// The simulated controller cannot be made.
    #[error("the simulated robot cannot be made: {0}")]
    NoSimulation(String),
}

offnominal_core::with_defaults! {
    /// Ports of a controller; if not given, those of every controller of Universal Robots.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub struct Ports {
        /// Real-Time Data Exchange.
        pub rtde: u16 = 30004,
        /// Programs in URScript.
        pub script: u16 = 30003,
        /// Texts for switching on, playing and releasing.
        pub dashboard: u16 = 29999,
    }
}

/// A link over the network.
pub struct Tcp {
    host: String,
    ports: Ports,
    rtde: TcpStream,
    /// Open as long as the link: some controllers end a program with the connection that brought it.
    script: Option<TcpStream>,
}

impl Tcp {
    /// Longest wait for bytes. Controllers send at least 125 packages per second.
    pub const TIMEOUT: Duration = Duration::from_secs(1);

    /// Longest wait for a connection.
    const PATIENCE: Duration = Duration::from_secs(3);

    /// Connects to a controller.
    ///
    /// # Errors
    /// If it does not answer within three seconds.
    pub fn connect(host: &str, ports: Ports) -> Result<Tcp, LinkError> {
        Ok(Tcp { rtde: Tcp::open(host, ports.rtde)?, script: None, host: host.into(), ports })
    }

    fn open(host: &str, port: u16) -> Result<TcpStream, LinkError> {
        let no_answer =
            |e: std::io::Error| LinkError::NoAnswer { host: host.into(), port, why: e.to_string() };
        let unknown = || std::io::Error::new(ErrorKind::NotFound, "no such host");
        let address = (host, port).to_socket_addrs().map_err(no_answer)?.next();
        let address = address.ok_or_else(unknown).map_err(no_answer)?;
        let stream = TcpStream::connect_timeout(&address, Tcp::PATIENCE).map_err(no_answer)?;
        stream.set_nodelay(true).map_err(no_answer)?;
        stream.set_read_timeout(Some(Tcp::TIMEOUT)).map_err(no_answer)?;
        stream.set_write_timeout(Some(Tcp::TIMEOUT)).map_err(no_answer)?;
        Ok(stream)
    }
}

fn broken(error: std::io::Error) -> LinkError {
    match error.kind() {
        ErrorKind::WouldBlock | ErrorKind::TimedOut => LinkError::Silent(Tcp::TIMEOUT.as_secs_f64()),
        _ => LinkError::Broken(error.to_string()),
    }
}

impl Link for Tcp {
    fn send(&mut self, bytes: &[u8]) -> Result<(), LinkError> {
        self.rtde.write_all(bytes).map_err(broken)
    }

    fn receive(&mut self, into: &mut Vec<u8>) -> Result<(), LinkError> {
        let mut chunk = [0; 4096];
        match self.rtde.read(&mut chunk).map_err(broken)? {
            0 => Err(LinkError::Broken("the robot closed it".into())),
            n => {
                into.extend_from_slice(&chunk[..n]);
                Ok(())
            }
        }
    }

    fn poll(&mut self, into: &mut Vec<u8>) -> Result<bool, LinkError> {
        let mut byte = [0];
        self.rtde.set_nonblocking(true).map_err(broken)?;
        let waiting = self.rtde.peek(&mut byte);
        self.rtde.set_nonblocking(false).map_err(broken)?;
        match waiting {
            Err(e) if e.kind() == ErrorKind::WouldBlock => Ok(false),
            Err(e) => Err(broken(e)),
            Ok(_) => self.receive(into).map(|()| true),
        }
    }

    fn play(&mut self, script: &str) -> Result<(), LinkError> {
        let mut stream = Tcp::open(&self.host, self.ports.script)?;
        stream.write_all(script.as_bytes()).map_err(broken)?;
        self.script = Some(stream);
        Ok(())
    }

    fn fork(&self) -> Option<Box<dyn Link>> {
        None
    }
}
