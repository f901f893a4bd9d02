//! The register protocol: how a running program takes commands from input registers and reports in output registers.
//!
//! Output register 0 is 1 while the program awaits a command and 2 when a command is finished. The client writes the
//! command's number to input register 0, its arguments to the double registers, waits for the 2, writes 0, and waits
//! for the 1. Commands of the second table are read again in every cycle, and never finish:
//!
//! | finishing | arguments                 | | repeating | arguments                                       |
//! |-----------|---------------------------|-|-----------|-------------------------------------------------|
//! | 1 movej   | q, speed, acceleration    | | 9 speedj  | rates, acceleration, time                       |
//! | 2 movej   | pose, speed, acceleration | | 10 speedl | twist, acceleration, time                       |
//! | 3 movel   | pose, speed, acceleration | | 11 servoj | q, –, –, time, look-ahead, gain                 |
//! | 4 movel   | q, speed, acceleration    | | 24 servol | pose, –, –, time, look-ahead, gain              |
//! | 15, 16, 33, 34 stop | deceleration    | |           |                                                 |
//! | 29 tool   | pose of the tool          | | 26 period | answered in double output register 0, in s      |
//! | 31 stop for protection | –            | | 255       | ends the program                                |

use super::arm::TICK_SECS;
use super::motion::{Motion, OutOfReach, Path, Reference};
use super::registers::{Registers, sane};
use crate::ur3e::{Joints, Pose, forward, inverse};
use std::f64::consts::TAU;

offnominal_core::with_defaults! {
    /// A running program.
    #[derive(Debug, Clone, Copy, PartialEq)]
    pub struct Program {
        stage: Stage = Stage::Ready,
        /// Ticks for which a repeating command keeps the program busy.
        busy_ticks: u32 = 0,
        flange_from_tool: Pose = Pose::IDENTITY,
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// Awaits a command.
    Ready,
    /// Waits for a motion to end.
    Moving,
    /// Waits for the client to notice.
    Finished,
}

/// What a tick of a program came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// It goes on.
    Runs,
    /// It ended.
    Ended,
    /// It asks for a protective stop.
    Protects,
    /// It was told something that this simulation does not have.
    Unknown(i32),
}

const READY: i32 = 1;
const DONE: i32 = 2;

impl Program {
    /// The tool's pose at the flange, as programs set it.
    pub fn flange_from_tool(&self) -> &Pose {
        &self.flange_from_tool
    }

    /// One cycle.
    ///
    /// # Errors
    /// If a command leads out of reach.
    pub fn tick(&mut self, registers: &mut Registers, to: &mut Reference) -> Result<Outcome, OutOfReach> {
        self.busy_ticks = self.busy_ticks.saturating_sub(1);
        let number = registers.input_int[0];
        let mut outcome = Outcome::Runs;
        match self.stage {
            Stage::Ready if self.busy_ticks > 0 || number == 0 => {}
            Stage::Ready => outcome = self.obey(number, registers, to)?,
            Stage::Moving if to.is_settled() => self.stage = Stage::Finished,
            Stage::Moving => {}
            Stage::Finished if number == 0 => self.stage = Stage::Ready,
            Stage::Finished => {}
        }
        registers.output_int[0] = match (outcome, self.stage) {
            (Outcome::Ended, _) => 0,
            (_, Stage::Finished) => DONE,
            (_, Stage::Ready) => READY,
            (_, Stage::Moving) => 0,
        };
        Ok(outcome)
    }

    fn obey(
        &mut self,
        number: i32,
        registers: &mut Registers,
        to: &mut Reference,
    ) -> Result<Outcome, OutOfReach> {
        let arguments = registers.input_double;
        match number {
            1..=4 => self.run(number, &arguments, registers.input_int[1] == 1, to)?,
            9 | 10 | 11 | 24 => self.repeat(number, &arguments, to)?,
            15 | 16 | 33 | 34 => {
                to.set(Motion::Stop(sane(arguments[0], 0.1, 80.0)));
                self.stage = Stage::Moving;
            }
            29 => {
                self.flange_from_tool = pose(&arguments);
                self.stage = Stage::Finished;
            }
            31 => {
                self.stage = Stage::Finished;
                return Ok(Outcome::Protects);
            }
            26 => registers.output_double[0] = TICK_SECS,
            255 => {
                to.set(Motion::Stop(10.0));
                return Ok(Outcome::Ended);
            }
            _ => {
                self.stage = Stage::Finished;
                return Ok(Outcome::Unknown(number));
            }
        }
        Ok(Outcome::Runs)
    }

    fn run(
        &mut self,
        number: i32,
        arguments: &[f64],
        goes_on_meanwhile: bool,
        to: &mut Reference,
    ) -> Result<(), OutOfReach> {
        let target = match number {
            1 | 4 => joints(arguments)?,
            _ => self.posture(arguments, &to.q)?,
        };
        let path = match number {
            1 | 2 => Path::Joints(to.q, target),
            _ => Path::Line(forward(&to.q), forward(&target)),
        };
        to.run(path, sane(arguments[6], 0.001, TAU), sane(arguments[7], 0.01, 80.0));
        self.stage = if goes_on_meanwhile { Stage::Finished } else { Stage::Moving };
        Ok(())
    }

    fn repeat(&mut self, number: i32, arguments: &[f64], to: &mut Reference) -> Result<(), OutOfReach> {
        let motion = match number {
            9 => Motion::Turn { rates: six(arguments), acceleration: sane(arguments[6], 0.01, 80.0) },
            10 => Motion::Slide {
                twist: six(arguments),
                acceleration: sane(arguments[6], 0.01, 80.0),
                reached: [0.0; 6],
            },
            11 => servo(joints(arguments)?, arguments),
            _ => servo(self.posture(arguments, &to.q)?, arguments),
        };
        to.set(motion);
        let secs = arguments[if number < 11 { 7 } else { 8 }];
        self.busy_ticks = (sane(secs, 0.0, 10.0) / TICK_SECS).ceil() as u32;
        Ok(())
    }

    /// The posture for a pose of the tool.
    fn posture(&self, arguments: &[f64], near: &Joints) -> Result<Joints, OutOfReach> {
        let base_from_flange = pose(arguments).then(&self.flange_from_tool.inverse());
        inverse(&base_from_flange, near).ok_or(OutOfReach)
    }
}

fn servo(target: Joints, arguments: &[f64]) -> Motion {
    // The controller's own limits of look-ahead and gain.
    let (lookahead_secs, gain) = (sane(arguments[9], 0.03, 0.2), sane(arguments[10], 100.0, 2000.0));
    Motion::Servo { target, lookahead_secs, gain }
}

fn six(arguments: &[f64]) -> [f64; 6] {
    std::array::from_fn(|i| arguments[i])
}

fn joints(arguments: &[f64]) -> Result<Joints, OutOfReach> {
    let q = six(arguments);
    if q.iter().all(|a| a.abs() <= TAU) { Ok(q) } else { Err(OutOfReach) }
}

fn pose(arguments: &[f64]) -> Pose {
    let [x, y, z, a, b, c] = six(arguments);
    Pose::from_rotation_vector([x, y, z], [a, b, c])
}
