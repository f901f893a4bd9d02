//! The state of a simulated controller, and its tick.

use super::arm::{Arm, TICK_SECS};
use super::motion::{Motion, Reference};
use super::program::{Outcome, Program};
use super::registers::Registers;
use crate::LinkError;
use crate::ur3e::{Joints, Pose, forward};

/// What the safety system says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Safety {
    /// All is well.
    Normal,
    /// The arm stands until it is released; the program is paused.
    ProtectiveStop,
    /// The arm is without power until it is switched on again; the program has ended.
    EmergencyStop,
}

/// Whether a program runs; the values are those of the variable `runtime_state`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u32)]
pub enum Runtime {
    /// No program runs.
    Stopped = 1,
    /// One runs.
    Playing = 2,
    /// One is paused.
    Paused = 4,
}

/// A simulated controller. A clone has its own arm in the same state.
#[derive(Clone)]
pub struct Controller {
    /// Values that clients read and write.
    pub registers: Registers,
    /// The safety system.
    pub safety: Safety,
    /// Messages for people: how many there were, and the last one.
    pub notice: (u32, String),
    /// Extra smoothing of what the arm follows, as a time constant in s; 0 for none.
    pub smoothing_secs: f64,
    pub(crate) arm: Arm,
    /// What the arm follows.
    pub(crate) reference: Reference,
    smoothed: Option<Reference>,
    program: Option<Program>,
    pub(crate) has_power: bool,
    pub(crate) ticks: u64,
}

impl Controller {
    /// A controller that is switched on, with its arm in the home posture.
    ///
    /// # Errors
    /// If MuJoCo cannot be had.
    pub fn new() -> Result<Controller, LinkError> {
        let arm = Arm::new()?;
        Ok(Controller {
            registers: Registers::default(),
            safety: Safety::Normal,
            notice: (0, String::new()),
            smoothing_secs: 0.0,
            reference: Reference::resting(arm.q()),
            smoothed: None,
            arm,
            program: None,
            has_power: true,
            ticks: 0,
        })
    }

    /// Seconds since it was made.
    pub fn time_secs(&self) -> f64 {
        self.ticks as f64 * TICK_SECS
    }

    /// Whether a program runs.
    pub fn runtime(&self) -> Runtime {
        match (&self.program, self.safety) {
            (None, _) => Runtime::Stopped,
            (Some(_), Safety::Normal) => Runtime::Playing,
            (Some(_), _) => Runtime::Paused,
        }
    }

    /// The pose of the tool in the base.
    pub fn base_from_tool(&self, q: &Joints) -> Pose {
        let tool = self.program.as_ref().map_or(Pose::IDENTITY, |p| *p.flange_from_tool());
        forward(q).then(&tool)
    }

    /// Begins to play the register protocol, in place of whatever ran before.
    pub fn play(&mut self) {
        if self.has_power && self.safety == Safety::Normal {
            self.program = Some(Program::default());
            self.reference.set(Motion::Stop(10.0));
        }
    }

    /// Ends the program.
    pub fn stop(&mut self) {
        self.program = None;
        self.registers.output_int[0] = 0;
        self.reference.set(Motion::Stop(10.0));
    }

    /// Stops the arm until it is released, and says why.
    pub fn protective_stop(&mut self, why: &str) {
        if self.safety == Safety::Normal {
            self.safety = Safety::ProtectiveStop;
            self.reference.set(Motion::Stop(40.0));
            self.say(format!("protective stop: {why}"));
        }
    }

    /// Takes the power from the arm.
    pub fn emergency_stop(&mut self) {
        self.stop();
        self.safety = Safety::EmergencyStop;
        self.has_power = false;
    }

    /// Ends a protective stop; the program goes on.
    pub fn release(&mut self) {
        if self.safety == Safety::ProtectiveStop {
            self.safety = Safety::Normal;
        }
    }

    /// Switches the arm on or off. An emergency stop ends with it.
    pub fn switch(&mut self, on: bool) {
        if on && self.safety == Safety::EmergencyStop {
            self.safety = Safety::Normal;
        }
        if !on {
            self.stop();
        }
        self.has_power = on;
    }

    /// Says something to the people at all clients.
    pub fn say(&mut self, message: String) {
        self.notice = (self.notice.0.wrapping_add(1), message);
    }

    /// Advances by 2 ms.
    pub fn tick(&mut self) {
        self.ticks += 1;
        if self.safety == Safety::Normal {
            self.run_program();
        }
        if self.reference.advance().is_err() {
            self.protective_stop("the arm cannot go on in this direction");
            self.reference = Reference::resting(self.reference.q);
        }
        let follow = self.followed();
        if self.arm.drive(&follow.q, &follow.qd).is_err() {
            self.protective_stop("the simulation diverged");
        }
    }

    fn run_program(&mut self) {
        let Some(program) = &mut self.program else { return };
        match program.tick(&mut self.registers, &mut self.reference) {
            Ok(Outcome::Runs) => {}
            Ok(Outcome::Ended) => self.stop(),
            Ok(Outcome::Protects) => self.protective_stop("the program asked for it"),
            Ok(Outcome::Unknown(number)) => {
                self.say(format!("command {number} is not simulated: it does nothing here"));
            }
            Err(_) => {
                self.registers.input_int[0] = 0;
                self.protective_stop("a command leads out of reach");
            }
        }
    }

    /// The reference, smoothed further if that was asked for.
    fn followed(&mut self) -> Reference {
        let mut next = self.reference;
        if self.smoothing_secs > 0.0 {
            let last = self.smoothed.unwrap_or(self.reference);
            let part = TICK_SECS / (TICK_SECS + self.smoothing_secs);
            next.q = std::array::from_fn(|i| last.q[i] + part * (next.q[i] - last.q[i]));
            next.qd = std::array::from_fn(|i| (next.q[i] - last.q[i]) / TICK_SECS);
            self.smoothed = Some(next);
        }
        next
    }
}
