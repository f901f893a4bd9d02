//! The live page in a real browser, where one is installed: it shows the state, and its button acknowledges.

use crate::browser::{find, visit};
use crate::live::{Running, ask};
use crate::monitor::small;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::thread::{sleep, spawn};
use std::time::Duration;

/// How long the browser looks: the page is not loaded, and so not given back, before its last image is.
const LOOK: Duration = Duration::from_secs(6);

/// Appended to the page: presses the button when it may be pressed, and writes down what came of it.
const VISIT: &str = r##"<img src="/wait" alt=""><script>
const seen = {};
addEventListener("error", (event) => (seen.error = event.message));
const look = setInterval(() => {
  const button = document.getElementById("acknowledge");
  document.body.dataset.button = button.disabled ? "off" : "on";
  if (!button.disabled && !seen.pressed) { seen.pressed = true; seen.state = document.getElementById("state").firstChild.textContent; button.click(); }
  seen.events = [...document.querySelectorAll("#events li:not(#none)")].map((item) => item.firstChild.textContent);
  seen.lines = document.querySelectorAll("#chart path").length;
  seen.steps = document.body.dataset.steps;
  seen.now = document.getElementById("state").firstChild.textContent;
  seen.link = document.getElementById("link").textContent;
  document.documentElement.dataset.seen = JSON.stringify(seen);
}, 50);
</script>"##;

/// A server that hands everything on, and appends a script to the page.
fn proxy(to: String) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let at = listener.local_addr().unwrap().to_string();
    spawn(move || {
        listener.incoming().flatten().for_each(|from| {
            drop(spawn({
                let to = to.clone();
                move || pass(from, &to)
            }))
        })
    });
    at
}

fn pass(mut from: TcpStream, to: &str) {
    let (mut head, mut some) = (Vec::new(), [0; 4096]);
    while !head.windows(4).any(|four| four == b"\r\n\r\n") {
        match from.read(&mut some) {
            Ok(n) if n > 0 => head.extend_from_slice(&some[..n]),
            _ => return,
        }
    }
    if head.starts_with(b"GET / ") {
        let page = ask(to, "GET /", "");
        let body = page.split_once("\r\n\r\n").unwrap().1.replace("</body>", &format!("{VISIT}</body>"));
        let head =
            format!("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: {}\r\n", body.len());
        let _ = write!(from, "{head}Connection: close\r\n\r\n{body}");
        return;
    }
    if head.starts_with(b"GET /wait ") {
        sleep(LOOK);
        let _ = from.write_all(b"HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n");
        return;
    }
    let mut there = TcpStream::connect(to).unwrap();
    there.write_all(&head).unwrap();
    while let Ok(n) = there.read(&mut some) {
        if n == 0 || from.write_all(&some[..n]).is_err() {
            return;
        }
    }
}

#[test]
fn a_browser_shows_the_state_and_acknowledges() {
    let Some(browser) = find() else { return };
    let folder = tempfile::tempdir().unwrap();
    let mut running = Running::start(&small(folder.path()), &["--serve", "127.0.0.1:0"]);
    let at = proxy(running.address());
    (0..4).for_each(|_| drop(running.tick(0.1)));
    let mut size = 50.0;
    while running.tick(size).is_none_or(|verdict| verdict["state"] != "raised") {
        size *= 2.0;
        assert!(size < 1e30, "no alarm");
    }
    let profile = folder.path().join("profile");
    let visiting = spawn(move || visit(&browser, &format!("http://{at}/"), &profile, &[]));
    // Steps go on while the browser looks; one of them answers the button.
    let acknowledged = (0..120).any(|_| {
        sleep(Duration::from_millis(100));
        running.tick(0.1).is_some_and(|verdict| verdict["acknowledged"] == true)
    });
    sleep(LOOK / 4);
    let ended = running.end();
    let shown = visiting.join().unwrap();
    let (dom, log) = (String::from_utf8_lossy(&shown.stdout), String::from_utf8_lossy(&shown.stderr));
    assert!(!log.contains("CONSOLE"), "the console is not empty: {log}");
    let seen = dom.split("data-seen=\"").nth(1).and_then(|s| s.split('"').next()).unwrap_or("nothing");
    let seen = seen.replace("&quot;", "\"");
    assert!(acknowledged, "the button did nothing: {seen}");
    assert_eq!(ended.0, 0, "{}", ended.1);
    assert!(seen.contains("\"state\":\"raised\"") && seen.contains("Alarm acknowledged"), "{seen}");
    assert!(seen.contains("\"lines\":2") && seen.contains("Alarm raised"), "{seen}");
    assert!(!seen.contains("error"), "{seen}");
}
