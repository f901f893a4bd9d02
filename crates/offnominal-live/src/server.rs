//! Answers requests: the page, its events, metrics, and the acknowledgement of an alarm. One thread listens, and each
//! connection has one; there are at most [`MOST`].

use super::address::{Address, Refusal};
use super::http::{self, Request};
use super::hub::{Hub, Message, Next};
use super::{metrics, page};
use anyhow::{Context, Result};
use offnominal_monitor::About;
use offnominal_work::progress::Progress;
use std::io::Write;
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// Connections at a time.
const MOST: usize = 32;

/// Streams of events at a time, which last for ever: a probe of health always finds a connection that is free.
const MOST_STREAMS: usize = MOST - 8;

/// Without a message for so long, a browser is told that there is none, so that a connection that is gone is noticed.
const HEARTBEAT: Duration = Duration::from_secs(5);

/// After messages a thread rests, so that a fast monitor does not wake it for each step.
const REST: Duration = Duration::from_millis(20);

/// How long a command that is done waits for browsers.
const GOODBYE: Duration = Duration::from_secs(2);

const TEXT: &str = "text/plain; charset=utf-8";

/// A server until the end of the process.
pub struct Server {
    hub: Arc<Hub>,
}

/// What each connection needs.
struct Service {
    hub: Arc<Hub>,
    address: Address,
    page: String,
    /// The name of the monitor's file.
    file: String,
    connections: AtomicUsize,
    streams: AtomicUsize,
}

impl Server {
    /// Listens, and tells where.
    ///
    /// # Errors
    /// If the address cannot be had.
    pub fn start(address: &Address, file: &Path, about: &About, notes: &Arc<dyn Progress>) -> Result<Server> {
        let listener = TcpListener::bind(address.at())
            .with_context(|| format!("serve: cannot listen at {:?}", address.at()))?;
        let file = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let hub = Arc::new(Hub::new());
        let page = page::render(&file, about)?;
        let at = listener.local_addr().context("serve: the address is unknown")?;
        let address = address.clone();
        let query = if address.has_token() { "?token=TOKEN" } else { "" };
        let (connections, streams) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let service = Service { hub: Arc::clone(&hub), address, page, file, connections, streams };
        let service = Arc::new(service);
        let listen = move || listener.incoming().flatten().for_each(|from| service.take(from));
        let thread = std::thread::Builder::new().name("page".into()).spawn(listen);
        thread.context("serve: cannot start a thread")?;
        notes.note(&format!("the page is at http://{at}/{query}"));
        Ok(Server { hub })
    }

    /// What the page knows.
    pub fn hub(&self) -> &Hub {
        &self.hub
    }

    /// Tells the browsers that nothing comes any more, and waits a moment until they have everything.
    pub fn finish(self) {
        self.hub.end(GOODBYE);
    }
}

impl Service {
    /// Begins to answer a connection.
    fn take(self: &Arc<Service>, mut from: TcpStream) {
        let service = Arc::clone(self);
        let is_full = self.connections.fetch_add(1, Ordering::Relaxed) >= MOST;
        let mut work = move || {
            // What the other side does wrong is no matter of this side.
            let _ = if is_full {
                let full = b"expected fewer connections\n";
                from.set_write_timeout(Some(REST)).and_then(|()| http::answer(&mut from, 503, TEXT, "", full))
            } else {
                service.serve(&mut from)
            };
            service.connections.fetch_sub(1, Ordering::Relaxed);
        };
        if is_full {
            work();
        } else if std::thread::Builder::new().name("browser".into()).spawn(work).is_err() {
            self.connections.fetch_sub(1, Ordering::Relaxed);
        }
    }

    fn serve(&self, from: &mut TcpStream) -> std::io::Result<()> {
        from.set_nodelay(true)?;
        from.set_write_timeout(Some(http::WRITE_PATIENCE))?;
        match http::read(from) {
            Ok(None) => Ok(()),
            Ok(Some(request)) => self.answer(&request, from),
            Err((status, why)) => {
                http::answer(from, status, TEXT, "", format!("{why}\n").as_bytes())?;
                http::drain(from);
                Ok(())
            }
        }
    }

    fn answer(&self, request: &Request, to: &mut TcpStream) -> std::io::Result<()> {
        let mut say = |status, more: &str, text: &str| http::answer(to, status, TEXT, more, text.as_bytes());
        match self.address.admits(request) {
            Ok(()) => {}
            Err(Refusal::ForeignHost) => return say(421, "", "expected a Host of this machine\n"),
            Err(Refusal::NoToken) => {
                return say(401, "WWW-Authenticate: Bearer\r\n", "expected the token of --token\n");
            }
        }
        // A link elsewhere may lead to the page; nothing else is another site's business.
        if request.path != "/" && is_of_another_site(request) {
            return say(403, "", "expected a request of the page itself, or of a program\n");
        }
        match (request.path.as_str(), request.method.as_str()) {
            ("/", "GET") => {
                http::answer(to, 200, "text/html; charset=utf-8", page::POLICY, self.page.as_bytes())
            }
            ("/events", "GET") => self.stream(request, to),
            ("/metrics", "GET") => {
                let text = metrics::text(&self.hub.counts(), &self.file);
                http::answer(to, 200, metrics::KIND, "", text.as_bytes())
            }
            ("/healthz", "GET") => say(200, "", "ok\n"),
            ("/acknowledge", "POST") => match self.acknowledge(request) {
                Ok(()) => say(202, "", "the alarm is taken back before the next step\n"),
                Err((status, why)) => say(status, "", why),
            },
            ("/" | "/events" | "/metrics" | "/healthz", _) => say(405, "Allow: GET\r\n", "expected GET\n"),
            ("/acknowledge", _) => say(405, "Allow: POST\r\n", "expected POST\n"),
            _ => say(404, "", "expected /, /events, /metrics, /healthz or /acknowledge\n"),
        }
    }

    /// Takes an alarm back. A page of another origin can make a browser of this machine send a request without asking, but
    /// not one with a header of its own: before that the browser asks, and this server does not agree. So the header
    /// `X-Offnominal` shows that the request is of our page, or of a program.
    fn acknowledge(&self, request: &Request) -> Result<(), http::Fault> {
        if request.header("x-offnominal") != Some("acknowledge") {
            return Err((403, "expected the header X-Offnominal: acknowledge\n"));
        }
        if self.hub.acknowledge() { Ok(()) } else { Err((409, "expected an alarm, found none\n")) }
    }

    /// A stream of events, if there are not too many.
    fn stream(&self, request: &Request, to: &mut TcpStream) -> std::io::Result<()> {
        let is_full = self.streams.fetch_add(1, Ordering::Relaxed) >= MOST_STREAMS;
        let told = if is_full {
            http::answer(to, 503, TEXT, "", b"expected fewer streams of events\n")
        } else {
            self.events(request, to)
        };
        self.streams.fetch_sub(1, Ordering::Relaxed);
        told
    }

    /// Tells the verdicts as they come, after the one that the browser had last.
    fn events(&self, request: &Request, to: &mut TcpStream) -> std::io::Result<()> {
        let _reader = self.hub.reader();
        let run = self.hub.run();
        // Ids of an earlier run mean nothing here.
        let had = request.header("last-event-id").and_then(|id| id.split_once('-'));
        let had = had.filter(|(of, _)| of.parse() == Ok(run)).and_then(|(_, id)| id.parse().ok());
        let mut last = had.unwrap_or(0);
        write!(to, "{}\r\nretry: 1000\n\n", http::head(200, "text/event-stream"))?;
        let (mut messages, mut text) = (Vec::new(), Vec::new());
        loop {
            match self.hub.after(last, HEARTBEAT, &mut messages) {
                Next::Nothing => text.extend_from_slice(b":\n\n"),
                Next::Over => return to.write_all(b"event: end\ndata: {}\n\n"),
                Next::Messages => {}
            }
            for Message { id, is_past, line } in messages.drain(..) {
                let kind = if is_past { "past" } else { "step" };
                write!(text, "id: {run}-{id}\nevent: {kind}\ndata: ")?;
                text.extend_from_slice(&line);
                text.extend_from_slice(b"\n\n");
                last = id;
            }
            to.write_all(&text)?;
            text.clear();
            std::thread::sleep(REST);
        }
    }
}

/// Whether a browser says that a page of another site made it ask. Programs say nothing of the kind.
fn is_of_another_site(request: &Request) -> bool {
    let origin = request.header("origin").map(|origin| origin.split_once("://").map_or("", |(_, at)| at));
    let is_foreign = origin.is_some_and(|origin| Some(origin) != request.header("host"));
    is_foreign || matches!(request.header("sec-fetch-site"), Some("cross-site" | "same-site"))
}

#[cfg(test)]
mod tests;
