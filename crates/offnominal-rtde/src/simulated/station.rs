//! A simulated controller at its sockets.
//!
//! One thread serves all clients: in each round it accepts, reads what there is, ticks, and writes. No client can hold
//! up the others: sockets never block, a slow reader misses data packages, and one that sends garbage is dropped.

use super::connection::Connection;
use super::controller::{Controller, Runtime};
use super::dashboard;
use super::network::{Network, Way};
use crate::link::Ports;
use offnominal_core::Rng;
use std::io::{ErrorKind, Read, Result, Write};
use std::net::{IpAddr, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Clients of one kind at a time.
const MOST_CLIENTS: usize = 16;

/// Length of a program or of a line at most, in bytes.
const LONGEST_TEXT: usize = 1 << 20;

/// Bytes that wait for a slow reader before data packages are left out.
const LARGEST_BACKLOG: usize = 1 << 16;

/// Rounds of the clock are at least that long, so that a fast simulation does not poll its sockets all the time.
const SHORTEST_ROUND: Duration = Duration::from_micros(500);

/// A controller and its clients.
pub struct Station {
    controller: Controller,
    network: Network,
    stop_after_secs: Option<f64>,
    playing_secs: f64,
    rng: Rng,
    listeners: [TcpListener; 3],
    data: Vec<DataClient>,
    scripts: Vec<TextClient>,
    dashboards: Vec<TextClient>,
}

/// How a station behaves.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Settings {
    /// The network to its clients.
    pub network: Network,
    /// Seconds of playing after which a protective stop comes, once.
    pub stop_after_secs: Option<f64>,
    /// Seed of jitter and loss.
    pub seed: u64,
}

impl Station {
    /// Opens the three ports at an address; a port of 0 becomes any free one.
    ///
    /// # Errors
    /// If a port cannot be had.
    pub fn open(
        address: IpAddr,
        ports: Ports,
        controller: Controller,
        settings: Settings,
    ) -> Result<Station> {
        let listen = |port: u16| -> Result<TcpListener> {
            let at = SocketAddr::new(address, port);
            let listener = TcpListener::bind(at)
                .map_err(|e| std::io::Error::new(e.kind(), format!("port {port} of {address}: {e}")))?;
            listener.set_nonblocking(true)?;
            Ok(listener)
        };
        Ok(Station {
            controller,
            network: settings.network,
            stop_after_secs: settings.stop_after_secs,
            playing_secs: 0.0,
            rng: Rng::new(settings.seed),
            listeners: [listen(ports.rtde)?, listen(ports.script)?, listen(ports.dashboard)?],
            data: Vec::new(),
            scripts: Vec::new(),
            dashboards: Vec::new(),
        })
    }

    /// The ports that are open.
    ///
    /// # Errors
    /// If the operating system does not say.
    pub fn ports(&self) -> Result<Ports> {
        let port = |i: usize| self.listeners[i].local_addr().map(|a| a.port());
        Ok(Ports { rtde: port(0)?, script: port(1)?, dashboard: port(2)? })
    }

    /// The controller.
    pub fn controller(&mut self) -> &mut Controller {
        &mut self.controller
    }

    /// Serves until `stop` is set, `speed` times as fast as the clock on the wall.
    pub fn serve(&mut self, speed: f64, stop: &AtomicBool) {
        let (start, first) = (Instant::now(), self.controller.time_secs());
        let mut behind_secs = 0.0;
        while !stop.load(Ordering::Relaxed) {
            let due_secs = first + start.elapsed().as_secs_f64() * speed - behind_secs;
            let late_secs = due_secs - self.controller.time_secs();
            // After a pause of the machine the clock goes on from where it stood: it does not race to catch up.
            if late_secs > 0.1 * speed.max(1.0) {
                behind_secs += late_secs;
            }
            self.round(due_secs);
            std::thread::sleep(SHORTEST_ROUND);
        }
    }

    /// One round: clients, then ticks up to a time of the controller.
    pub fn round(&mut self, until_secs: f64) {
        self.accept();
        self.listen();
        while self.controller.time_secs() < until_secs {
            self.tick();
        }
        self.data.iter_mut().for_each(|c| c.socket.flush());
        self.data.retain(|c| c.socket.is_open);
    }

    fn tick(&mut self) {
        let now = self.controller.ticks;
        for client in &mut self.data {
            client.arrive(now, &mut self.controller);
        }
        self.inject_stop();
        self.controller.tick();
        for client in &mut self.data {
            client.publish(&self.controller, self.network, &mut self.rng);
        }
    }

    fn inject_stop(&mut self) {
        self.playing_secs += if self.controller.runtime() == Runtime::Playing { 0.002 } else { 0.0 };
        if self.stop_after_secs.is_some_and(|after| self.playing_secs >= after) {
            self.stop_after_secs = None;
            self.controller.protective_stop("injected");
        }
    }

    fn accept(&mut self) {
        let [data, scripts, dashboards] = &self.listeners;
        while let Some(socket) = accepted(data, self.data.len()) {
            self.data.push(DataClient::new(socket, &self.controller));
        }
        while let Some(socket) = accepted(scripts, self.scripts.len()) {
            self.scripts.push(TextClient { socket, text: Vec::new() });
        }
        while let Some(mut socket) = accepted(dashboards, self.dashboards.len()) {
            socket.say(dashboard::GREETING);
            self.dashboards.push(TextClient { socket, text: Vec::new() });
        }
    }

    fn listen(&mut self) {
        let now = self.controller.ticks;
        for client in &mut self.data {
            client.depart(now, self.network, &mut self.rng);
        }
        for client in &mut self.scripts {
            if client.program() {
                self.controller.play();
            }
        }
        for client in &mut self.dashboards {
            client.talk(&mut self.controller);
        }
        self.scripts.retain(|c| c.socket.is_open);
        self.dashboards.retain(|c| c.socket.is_open);
    }
}

/// The next client that waits, if there is room.
fn accepted(listener: &TcpListener, clients: usize) -> Option<Socket> {
    let (stream, _) = listener.accept().ok()?;
    let usable = stream.set_nonblocking(true).and_then(|()| stream.set_nodelay(true)).is_ok();
    (usable && clients < MOST_CLIENTS).then_some(Socket { stream, out: Vec::new(), is_open: true })
}

/// A socket that never blocks.
struct Socket {
    stream: TcpStream,
    out: Vec<u8>,
    is_open: bool,
}

impl Socket {
    /// What has come since the last time.
    fn read(&mut self) -> Vec<u8> {
        let (mut bytes, mut chunk) = (Vec::new(), [0; 4096]);
        while self.is_open && bytes.len() < LARGEST_BACKLOG {
            match self.stream.read(&mut chunk) {
                Ok(0) => self.is_open = false,
                Ok(n) => bytes.extend_from_slice(&chunk[..n]),
                Err(e) if e.kind() == ErrorKind::Interrupted => {}
                Err(e) if e.kind() == ErrorKind::WouldBlock => break,
                Err(_) => self.is_open = false,
            }
        }
        bytes
    }

    /// Writes what can be written now.
    fn flush(&mut self) {
        while self.is_open && !self.out.is_empty() {
            match self.stream.write(&self.out) {
                Ok(0) => self.is_open = false,
                Ok(n) => drop(self.out.drain(..n)),
                Err(e) if e.kind() == ErrorKind::Interrupted => {}
                Err(e) if e.kind() == ErrorKind::WouldBlock => break,
                Err(_) => self.is_open = false,
            }
        }
    }

    fn say(&mut self, line: &str) {
        self.out.extend_from_slice(line.as_bytes());
        self.out.push(b'\n');
        self.flush();
    }
}

/// A client of RTDE.
struct DataClient {
    socket: Socket,
    connection: Connection,
    to_controller: Way,
    to_client: Way,
}

impl DataClient {
    fn new(socket: Socket, to: &Controller) -> DataClient {
        let connection = Connection::new(to);
        DataClient { socket, connection, to_controller: Way::default(), to_client: Way::default() }
    }

    /// Takes what the client sent and sets it on its way.
    fn depart(&mut self, now: u64, network: Network, rng: &mut Rng) {
        let bytes = self.socket.read();
        if !bytes.is_empty() {
            let fits = self.to_controller.send(bytes, now, network.latency_secs, network.jitter_secs, rng);
            self.socket.is_open &= fits;
        }
    }

    /// Hands what has arrived to the controller, and takes its answers.
    fn arrive(&mut self, now: u64, controller: &mut Controller) {
        while let Some(bytes) = self.to_controller.receive(now) {
            let answered = self.connection.receive(&bytes, controller, &mut self.socket.out);
            self.socket.is_open &= answered.is_ok() && self.socket.out.len() < LONGEST_TEXT;
        }
    }

    /// Sets what the controller says after a tick on its way to the client.
    fn publish(&mut self, controller: &Controller, network: Network, rng: &mut Rng) {
        let mut bytes = Vec::new();
        self.connection.publish(controller, &mut bytes);
        let is_lost = network.loss > 0.0 && rng.uniform() < network.loss;
        if !bytes.is_empty() && !is_lost && self.socket.out.len() < LARGEST_BACKLOG {
            self.socket.is_open &=
                self.to_client.send(bytes, controller.ticks, 0.0, network.jitter_secs, rng);
        }
        while let Some(bytes) = self.to_client.receive(controller.ticks) {
            self.socket.out.extend_from_slice(&bytes);
        }
    }
}

/// A client of programs or of the dashboard.
struct TextClient {
    socket: Socket,
    text: Vec<u8>,
}

impl TextClient {
    /// The next whole line.
    fn line(&mut self) -> Option<String> {
        let end = self.text.iter().position(|&b| b == b'\n')?;
        let line: Vec<u8> = self.text.drain(..=end).collect();
        Some(String::from_utf8_lossy(&line).trim_end().to_string())
    }

    fn read(&mut self) {
        self.text.extend(self.socket.read());
        self.socket.is_open &= self.text.len() < LONGEST_TEXT;
    }

    /// Whether a program was sent to its end: it begins with `def` and ends with an `end` that is not indented.
    fn program(&mut self) -> bool {
        self.read();
        let mut is_complete = false;
        while let Some(line) = self.line() {
            is_complete |= line == "end";
        }
        is_complete
    }

    fn talk(&mut self, controller: &mut Controller) {
        self.read();
        while let Some(line) = self.line() {
            let answer = dashboard::answer(&line, controller);
            self.socket.say(answer.as_deref().unwrap_or(dashboard::FAREWELL));
            self.socket.is_open &= answer.is_some();
        }
    }
}
