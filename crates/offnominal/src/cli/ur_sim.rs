//! `ur-sim`: a simulated controller of Universal Robots at its sockets, around the MuJoCo model of a UR3e.

use super::command::{Answer, Call, Common, asked};
use super::terminal::say;
use anyhow::{Context, Result};
use clap::{ArgMatches, Args};
use offnominal_rtde::link::Ports;
use offnominal_rtde::simulated::station::Settings;
use offnominal_rtde::simulated::{Controller, Network, Station};
use serde_json::json;
use std::io::Write;
use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Arguments of `ur-sim`.
#[derive(Debug, Args)]
pub struct UrSim {
    /// Address to listen at; each further robot needs its own
    #[arg(long, default_value = "127.0.0.1")]
    address: IpAddr,
    /// Speed relative to the wall clock, 0.01 to 100
    #[arg(long, default_value_t = 1.0, value_parser = speed)]
    speed: f64,
    /// Delay of client messages, in s
    #[arg(long, value_name = "SECS", default_value_t = 0.0, value_parser = secs)]
    latency: f64,
    /// Largest extra delay per message, uniform, in s
    #[arg(long, value_name = "SECS", default_value_t = 0.0, value_parser = secs)]
    jitter: f64,
    /// Time constant of extra smoothing of movements, in s
    #[arg(long, value_name = "SECS", default_value_t = 0.0, value_parser = secs)]
    smoothing: f64,
    /// Probability of dropping a data package
    #[arg(long, value_name = "P", default_value_t = 0.0, value_parser = probability)]
    packet_loss: f64,
    /// Protective stop after a program runs this long, in s
    #[arg(long, value_name = "SECS", value_parser = secs)]
    protective_stop: Option<f64>,
    /// End after this wall-clock time, in s [default: at Ctrl-C]
    #[arg(long, value_name = "SECS", value_parser = secs)]
    duration: Option<f64>,
}

/// Serves clients until it is told to end.
pub fn run(matches: &ArgMatches, call: &Call) -> Result<Answer> {
    let is_quiet = call.json || Common::read(matches).quiet;
    asked::<UrSim>(matches)?.serve(call.context.seed, call.json, is_quiet)
}

impl UrSim {
    fn serve(&self, seed: u64, as_json: bool, is_quiet: bool) -> Result<Answer> {
        let stop = Arc::new(AtomicBool::new(false));
        for signal in [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM] {
            // A second signal ends the process at once.
            signal_hook::flag::register_conditional_default(signal, Arc::clone(&stop))?;
            signal_hook::flag::register(signal, Arc::clone(&stop))?;
        }
        let mut station = self.station(seed)?;
        self.announce(as_json)?;
        if let Some(duration) = self.duration {
            end_after(Duration::from_secs_f64(duration), Arc::clone(&stop));
        }
        station.serve(self.speed, &stop);
        if !is_quiet {
            say(format!("the robot at {} is switched off", self.address));
        }
        Ok(Answer::nothing())
    }

    fn station(&self, seed: u64) -> Result<Station> {
        let mut controller = Controller::new()?;
        controller.smoothing_secs = self.smoothing;
        let network =
            Network { latency_secs: self.latency, jitter_secs: self.jitter, loss: self.packet_loss };
        let settings = Settings { network, stop_after_secs: self.protective_stop, seed };
        Station::open(self.address, Ports::default(), controller, settings)
            .context("cannot be a robot there; give each robot its own --address, such as 127.0.0.2")
    }

    fn announce(&self, as_json: bool) -> Result<()> {
        let ports = Ports::default();
        let mut out = std::io::stdout().lock();
        if as_json {
            let value = json!({
                "address": self.address.to_string(),
                "rtde": ports.rtde,
                "script": ports.script,
                "dashboard": ports.dashboard,
            });
            writeln!(out, "{value}")?;
        } else {
            writeln!(
                out,
                "a simulated UR3e is at {} (RTDE {}, script {}, dashboard {}); Ctrl-C switches it off",
                self.address, ports.rtde, ports.script, ports.dashboard
            )?;
        }
        Ok(out.flush()?)
    }
}

fn end_after(duration: Duration, stop: Arc<AtomicBool>) {
    std::thread::spawn(move || {
        std::thread::sleep(duration);
        stop.store(true, Ordering::Relaxed);
    });
}

fn speed(text: &str) -> Result<f64, String> {
    number(text, 0.01, 100.0)
}

fn secs(text: &str) -> Result<f64, String> {
    number(text, 0.0, 1e6)
}

fn probability(text: &str) -> Result<f64, String> {
    number(text, 0.0, 1.0)
}

fn number(text: &str, low: f64, high: f64) -> Result<f64, String> {
    let found: f64 = text.parse().map_err(|_| format!("expected a number, found {text:?}"))?;
    if (low..=high).contains(&found) {
        Ok(found)
    } else {
        Err(format!("expected a number from {low} to {high}, found {found}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_out_of_range_are_refused() {
        assert_eq!(speed("2.5"), Ok(2.5));
        assert!(speed("0").is_err() && speed("inf").is_err() && speed("NaN").is_err());
        assert!(probability("1.1").unwrap_err().contains("from 0 to 1, found 1.1"));
        assert!(secs("-1").is_err() && secs("soon").unwrap_err().contains("found \"soon\""));
    }
}
