//! A real browser, where one is installed.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const NAMES: [&str; 4] = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];

/// `None`, with a message, if no browser is installed.
pub fn find() -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders: Vec<PathBuf> = std::env::split_paths(&path).collect();
    let found = NAMES.iter().find_map(|name| folders.iter().map(|f| f.join(name)).find(|p| p.is_file()));
    if found.is_none() {
        skips::skip("chromium", format!("none of {} is installed", NAMES.join(", ")));
    }
    found
}

/// Looks at an address, with a profile of its own and more options: the page as it is then, and what the console said.
pub fn visit(browser: &Path, address: &str, profile: &Path, more: &[&str]) -> Output {
    Command::new(browser)
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"])
        .args(["--disable-background-networking", "--disable-component-update", "--disable-sync"])
        .args(["--enable-logging=stderr", "--log-level=0", "--dump-dom"])
        .args(more)
        .arg(format!("--user-data-dir={}", profile.display()))
        .arg(address)
        .output()
        .unwrap()
}
