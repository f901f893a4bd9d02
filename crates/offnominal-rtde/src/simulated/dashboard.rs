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
        "robotmode" => {
            format!("Robotmode: {}", if controller.has_power() { "RUNNING" } else { "POWER_OFF" })
        }
        "running" => format!("Program running: {}", controller.runtime() == Runtime::Playing),
        "programState" => format!("{} simulated.urp", runtime(controller)),
        "safetymode" | "safetystatus" => {
            let word = if line == "safetymode" { "Safetymode" } else { "Safetystatus" };
            format!("{word}: {}", safety(controller))
        }
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

/// Orders.
fn order(line: &str, controller: &mut Controller) -> Option<String> {
    let said = match line {
        "play" if controller.has_power() && controller.safety == Safety::Normal => {
            controller.play();
            "Starting program"
        }
        "play" => "Failed to execute: play",
        "stop" => {
            controller.stop();
            "Stopped"
        }
        "power on" => {
            controller.switch(true);
            "Powering on"
        }
        "power off" => {
            controller.switch(false);
            "Powering off"
        }
        "brake release" => {
            controller.switch(true);
            "Brake releasing"
        }
        "unlock protective stop" => {
            controller.release();
            "Protective stop releasing"
        }
        "restart safety" => {
            controller.release();
            "Restarting safety"
        }
        "close popup" => "closing popup",
        "close safety popup" => "closing safety popup",
        _ => return None,
    };
    Some(said.into())
}
