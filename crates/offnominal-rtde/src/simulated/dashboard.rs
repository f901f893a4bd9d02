//! The dashboard of a simulated controller: one line of text per question, one per answer.
//!
//! Reference: Universal Robots, *Dashboard Server e-Series*.

use super::connection::VERSION;
use super::controller::{Controller, Runtime, Safety};

/// What a client reads first.
pub const GREETING: &str = "Connected: Universal Robots Dashboard Server";

/// Answers a line; `None` after a farewell, which is answered by [`FAREWELL`].
pub fn answer(line: &str, controller: &mut Controller) -> Option<String> {
    let line = line.trim();
    let (first, rest) = line.split_once(' ').unwrap_or((line, ""));
    Some(match (first.to_ascii_lowercase().as_str(), rest) {
        ("quit", _) => return None,
        ("polyscopeversion", _) => polyscope_version(),
        ("version", _) => format!("{}.{}.{}", VERSION[0], VERSION[1], VERSION[2]),
        ("popup", _) => "showing popup".into(),
        ("addtolog", _) => "Added log message".into(),
        ("load", name) => format!("File not found: {name}"),
        _ => state(line, controller).or_else(|| order(line, controller)).unwrap_or_else(|| unknown(line)),
    })
}

/// The answer to a farewell.
pub const FAREWELL: &str = "Disconnected";

fn unknown(line: &str) -> String {
    format!("could not understand: '{}'", line.escape_debug())
}

fn polyscope_version() -> String {
    let [major, minor, fix, build] = VERSION;
    format!("URSoftware {major}.{minor}.{fix}.{build} (simulated)")
}

/// Questions.
fn state(line: &str, controller: &Controller) -> Option<String> {
    Some(match line {
        "robotmode" if controller.has_power => "Robotmode: RUNNING".into(),
        "robotmode" => "Robotmode: POWER_OFF".into(),
        "running" => format!("Program running: {}", controller.runtime() == Runtime::Playing),
        "programState" => format!("{} simulated.urp", runtime(controller)),
        "safetymode" => format!("Safetymode: {}", safety(controller)),
        "safetystatus" => format!("Safetystatus: {}", safety(controller)),
        "get loaded program" => "No program loaded".into(),
        "get serial number" => "20225300001".into(),
        "get robot model" => "UR3".into(),
        "get operational mode" => "NONE".into(),
        "is in remote control" => "true".into(),
        "isProgramSaved" => "true simulated.urp".into(),
        _ => return None,
    })
}

fn runtime(controller: &Controller) -> &'static str {
    match controller.runtime() {
        Runtime::Stopped => "STOPPED",
        Runtime::Playing => "PLAYING",
        Runtime::Paused => "PAUSED",
    }
}

fn safety(controller: &Controller) -> &'static str {
    match controller.safety {
        Safety::Normal => "NORMAL",
        Safety::ProtectiveStop => "PROTECTIVE_STOP",
        Safety::EmergencyStop => "ROBOT_EMERGENCY_STOP",
    }
}

/// An order, what it does, and what is answered.
type Order = (&'static str, fn(&mut Controller), &'static str);

const ORDERS: [Order; 8] = [
    ("stop", Controller::stop, "Stopped"),
    ("power on", |c| c.switch(true), "Powering on"),
    ("power off", |c| c.switch(false), "Powering off"),
    ("brake release", |c| c.switch(true), "Brake releasing"),
    ("unlock protective stop", Controller::release, "Protective stop releasing"),
    ("restart safety", Controller::release, "Restarting safety"),
    ("close popup", |_| (), "closing popup"),
    ("close safety popup", |_| (), "closing safety popup"),
];

fn order(line: &str, controller: &mut Controller) -> Option<String> {
    if line == "play" {
        let can_play = controller.has_power && controller.safety == Safety::Normal;
        controller.play();
        return Some(if can_play { "Starting program" } else { "Failed to execute: play" }.into());
    }
    let (_, act, answer) = ORDERS.iter().find(|order| order.0 == line)?;
    act(controller);
    Some((*answer).into())
}
