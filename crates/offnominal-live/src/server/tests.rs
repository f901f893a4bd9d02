//! A server asked over a socket.

use super::*;
use crate::testing::{Notes, about, verdict};
use offnominal_monitor::Verdict;
use std::io::Read;
use std::net::SocketAddr;
use std::time::Instant;

const TOKEN: &str = "0123456789abcdef";

fn start(token: Option<&str>) -> (Server, SocketAddr) {
    let notes = Arc::new(Notes::default());
    let shown: Arc<dyn Progress> = Arc::clone(&notes) as Arc<dyn Progress>;
    let address = Address::new("127.0.0.1:0", token).unwrap();
    let server = Server::start(&address, Path::new("runs/tank.monitor"), &about(), &shown).unwrap();
    let line = &notes.lines()[0];
    let at = line.strip_prefix("the page is at http://").unwrap().split('/').next().unwrap().parse().unwrap();
    (server, at)
}

fn open(at: SocketAddr, request: &str) -> TcpStream {
    let mut stream = TcpStream::connect(at).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    stream.write_all(request.as_bytes()).unwrap();
    stream
}

/// Status and everything that was answered.
fn ask(at: SocketAddr, first: &str, headers: &str) -> (u16, String) {
    let mut text = String::new();
    let _ = open(at, &format!("{first} HTTP/1.1\r\n{headers}\r\n")).read_to_string(&mut text);
    (text.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0), text)
}

fn get(at: SocketAddr, path: &str) -> (u16, String) {
    ask(at, &format!("GET {path}"), &format!("Host: {at}\r\n"))
}

fn say(server: &Server, verdict: &Verdict) {
    server.hub().say(verdict, 0, &serde_json::to_vec(verdict).unwrap());
}

/// The numbers of the steps of an event stream, by the kind of the event.
fn steps(text: &str, kind: &str) -> Vec<u64> {
    let event = format!("event: {kind}\ndata: ");
    let of = |part: &str| {
        let line = part.split("\n\n").next()?;
        serde_json::from_str::<serde_json::Value>(line).ok()?["step"].as_u64()
    };
    text.split(&event).skip(1).filter_map(of).collect()
}

#[test]
fn every_address_has_its_answer() {
    let (server, at) = start(None);
    say(&server, &verdict(0, false));
    let (status, page) = get(at, "/");
    assert!(
        status == 200
            && page.contains("tank.monitor")
            && page.contains("Content-Security-Policy: default-src 'none'")
    );
    assert!(!page.contains("src=") && !page.contains("href=\"http"), "the page is whole in itself");
    assert_eq!(get(at, "/healthz").0, 200);
    let (status, metrics) = get(at, "/metrics");
    assert!(status == 200 && metrics.contains("text/plain; version=0.0.4"));
    assert!(metrics.contains("offnominal_score{monitor=\"tank.monitor\"} 0.1\n"), "{metrics}");
    assert_eq!(get(at, "/other").0, 404);
    assert_eq!(ask(at, "POST /", &format!("Host: {at}\r\nContent-Length: 0\r\n")).0, 405);
    assert_eq!(ask(at, "GET /", "Host: evil.example\r\n").0, 421);
    assert_eq!(ask(at, "nonsense", "").0, 400);
    assert_eq!(get(at, &format!("/{}", "a".repeat(9000))).0, 431);
}

#[test]
fn a_token_is_asked_for() {
    let (_server, at) = start(Some(TOKEN));
    for path in ["/", "/events", "/metrics", "/healthz", "/?token=wrong"] {
        let (status, text) = get(at, path);
        assert!(status == 401 && text.contains("WWW-Authenticate: Bearer"), "{path}: {text}");
    }
    assert_eq!(get(at, &format!("/healthz?token={TOKEN}")).0, 200);
    assert_eq!(ask(at, "GET /healthz", &format!("Host: {at}\r\nAuthorization: Bearer {TOKEN}\r\n")).0, 200);
}

#[test]
fn events_come_in_order_and_go_on_where_they_ended() {
    let (server, at) = start(None);
    (0..5).for_each(|t| say(&server, &verdict(t, false)));
    let reading = std::thread::spawn(move || get(at, "/events").1);
    std::thread::sleep(Duration::from_millis(100));
    (5..9).for_each(|t| say(&server, &verdict(t, false)));
    let id = format!("{}-6", server.hub().run());
    let hub = Arc::clone(&server.hub);
    server.finish();
    let text = reading.join().unwrap();
    assert_eq!(steps(&text, "step"), (0..9).collect::<Vec<u64>>());
    assert!(
        text.contains("Content-Type: text/event-stream") && text.contains(&format!("id: {id}\n")),
        "{text}"
    );
    assert!(text.ends_with("event: end\ndata: {}\n\n"));
    let again = |id: &str| ask(at, "GET /events", &format!("Host: {at}\r\nLast-Event-ID: {id}\r\n")).1;
    assert_eq!(steps(&again(&id), "step"), [6, 7, 8]);
    assert_eq!(steps(&again("1-6"), "step").len(), 9, "the id of another run");
    assert_eq!(steps(&again("nonsense"), "step").len(), 9);
    assert_eq!(hub.counts().steps, 9);
}

#[test]
fn an_alarm_is_told_though_it_is_no_longer_recent() {
    let (server, at) = start(None);
    (0..2000).for_each(|t| say(&server, &verdict(t, t == 7)));
    server.finish();
    let text = get(at, "/events").1;
    assert_eq!(steps(&text, "past"), [7]);
    assert_eq!(steps(&text, "step"), (1400..2000).collect::<Vec<u64>>());
}

#[test]
fn a_browser_that_takes_nothing_holds_up_nobody() {
    let (server, at) = start(None);
    let idle: Vec<TcpStream> =
        (0..3).map(|_| open(at, &format!("GET /events HTTP/1.1\r\nHost: {at}\r\n\r\n"))).collect();
    let line = vec![b' '; 20_000];
    let begun = Instant::now();
    (0..5000).for_each(|t| server.hub().say(&verdict(t, false), 0, &line));
    assert!(begun.elapsed() < Duration::from_secs(2), "{:?}", begun.elapsed());
    assert_eq!(get(at, "/healthz").0, 200);
    drop(idle);
}

#[test]
fn a_header_that_never_ends_and_too_many_connections_are_turned_away() {
    let (_server, at) = start(None);
    let held: Vec<TcpStream> = (0..MOST).map(|_| open(at, "GET / HTTP/1.1\r\n")).collect();
    std::thread::sleep(Duration::from_millis(300));
    assert_eq!(get(at, "/healthz").0, 503);
    drop(held);
    let until = Instant::now() + Duration::from_secs(10);
    while get(at, "/healthz").0 != 200 {
        assert!(Instant::now() < until, "connections that are gone make place");
        std::thread::sleep(Duration::from_millis(50));
    }
}

#[test]
fn another_site_gets_no_stream_and_streams_leave_room_for_probes() {
    let (_server, at) = start(None);
    let host = format!("Host: {at}\r\n");
    for foreign in ["Sec-Fetch-Site: cross-site", "Sec-Fetch-Site: same-site", "Origin: http://evil.example"]
    {
        for path in ["/events", "/metrics", "/healthz"] {
            assert_eq!(
                ask(at, &format!("GET {path}"), &format!("{host}{foreign}\r\n")).0,
                403,
                "{foreign} {path}"
            );
        }
    }
    assert_eq!(
        ask(at, "GET /", &format!("{host}Sec-Fetch-Site: cross-site\r\n")).0,
        200,
        "a link leads to the page"
    );
    let streams: Vec<TcpStream> =
        (0..MOST + 8).map(|_| open(at, &format!("GET /events HTTP/1.1\r\n{host}\r\n"))).collect();
    std::thread::sleep(Duration::from_millis(300));
    assert_eq!(get(at, "/healthz").0, 200);
    drop(streams);
}

#[test]
fn only_the_page_itself_acknowledges() {
    let (server, at) = start(None);
    let host = format!("Host: {at}\r\nContent-Length: 0\r\n");
    let post = |more: &str| ask(at, "POST /acknowledge", &format!("{host}{more}")).0;
    let own = "X-Offnominal: acknowledge\r\n";
    assert_eq!(post(own), 409, "no alarm is on");
    say(&server, &verdict(0, true));
    assert_eq!([post(""), post(&format!("{own}Origin: http://evil.example\r\n"))], [403, 403]);
    assert_eq!(post(&format!("{own}Origin: null\r\n")), 403);
    assert!(!server.hub().is_acknowledged());
    assert_eq!(post(&format!("{own}Origin: http://{at}\r\n")), 202);
    assert!(server.hub().is_acknowledged() && !server.hub().is_acknowledged(), "it is asked once");
    assert_eq!(get(at, "/acknowledge").0, 405);
}
