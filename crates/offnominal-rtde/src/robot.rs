//! An arm at the other end of a link: its state, its movements, and the limits that no command can lift.
//!
//! The controller runs a small program of ours ([`script`]). Its registers carry a command and its arguments; they are
//! laid out like those of the common open-source client, so that one simulated controller serves both. Each time
//! values are sent a counter goes up; while servoing, the program stops the arm by itself if it misses that for half a
//! second.

use super::client::{Client, Wishes};
use super::link::{Link, LinkError};
use super::value::Value;
use crate::ur3e::Joints;
use std::f64::consts::TAU;

/// What we receive, in this order.
const OUTPUTS: &str = "timestamp,actual_q,actual_qd,output_int_register_0,runtime_state,safety_status_bits";

/// What we send, in this order: command, counter, and the command's arguments.
const INPUTS: &str = "input_int_register_0,input_int_register_2,input_double_register_0,input_double_register_1,\
    input_double_register_2,input_double_register_3,input_double_register_4,input_double_register_5,\
    input_double_register_6,input_double_register_7,input_double_register_8,input_double_register_9,\
    input_double_register_10";

/// Packages per second that we ask for; every controller can send as many.
const FREQUENCY_HZ: f64 = 125.0;

/// Packages with an unchanged time after which the robot's clock counts as frozen.
const FROZEN_PACKAGES: u32 = 250;

/// Farthest that a joint may be sent ahead of where it is while servoing, in rad.
pub const LARGEST_LEAD_RAD: f64 = 1.0;

/// Farthest that two postures in a row may lie apart while servoing, in rad.
pub const LARGEST_JUMP_RAD: f64 = 0.2;

/// Speed of the joints on the way to a posture, in rad/s, and their acceleration, in rad/s².
const TRAVEL: (f64, f64) = (1.05, 1.4);

/// Longest time for a movement to a posture, in s of the robot's clock.
const LONGEST_TRAVEL_SECS: f64 = 20.0;

/// Longest time until the program is ready, in s of the robot's clock.
const LONGEST_START_SECS: f64 = 5.0;

/// The program that the controller runs.
pub fn script() -> &'static str {
    include_str!("robot.script")
}

/// Numbers of the program's commands.
mod command {
    pub const NONE: i32 = 0;
    pub const MOVE_JOINTS: i32 = 1;
    pub const SERVO_JOINTS: i32 = 11;
    pub const STOP_SERVO: i32 = 16;
    pub const END: i32 = 255;
}

/// What the program says of itself.
mod signal {
    pub const READY: i32 = 1;
    pub const DONE: i32 = 2;
}

offnominal_core::with_defaults! {
    /// How the controller follows a stream of postures.
    #[derive(Debug, Clone, Copy, PartialEq)]
    pub struct Servo {
        /// Time for which the controller follows one posture before it reads the next, in s.
        pub latency_secs: f64 = 0.005,
        /// Time by which it looks ahead, which smooths the movement, in s.
        pub lookahead_secs: f64 = 0.06,
        /// How eagerly it follows, in 1/s.
        pub gain: f64 = 100.0,
    }
}

/// What is known of the arm.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct State {
    /// The robot's clock, in s.
    pub time_secs: f64,
    /// Measured angles of the joints, in rad.
    pub q: Joints,
    /// Their measured rates, in rad/s.
    pub qd: Joints,
    signal: i32,
    runtime: u32,
    safety: u32,
}

impl State {
    fn read(values: &[Value]) -> Option<State> {
        let &[Value::Double(time_secs), Value::Vector6(q), Value::Vector6(qd), signal, runtime, safety] =
            values
        else {
            return None;
        };
        let (Value::I32(signal), Value::U32(runtime), Value::U32(safety)) = (signal, runtime, safety) else {
            return None;
        };
        let finite = q.iter().chain(&qd).chain([&time_secs]).all(|v| v.is_finite());
        finite.then_some(State { time_secs, q, qd, signal, runtime, safety })
    }

    /// Why the arm stands, if the safety system stopped it.
    fn stop(&self) -> Option<&'static str> {
        const REASONS: [(u32, &str); 7] = [
            (7, "emergency stop"),
            (6, "emergency stop at the robot"),
            (5, "emergency stop of the system"),
            (2, "protective stop"),
            (4, "safeguard stop"),
            (9, "fault of the safety system"),
            (8, "violation of a safety limit"),
        ];
        REASONS.iter().find(|(bit, _)| self.safety & (1 << bit) != 0).map(|r| r.1)
    }

    fn is_playing(&self) -> bool {
        const PLAYING: u32 = 2;
        self.runtime == PLAYING
    }
}

/// An arm that runs our program.
pub struct Robot {
    client: Client,
    state: State,
    /// The posture that was sent last while servoing.
    commanded: Option<Joints>,
    counter: i32,
    /// Packages since the robot's clock last moved.
    stale: u32,
}

impl Robot {
    /// Agrees with the controller and starts our program.
    ///
    /// # Errors
    /// If the robot cannot be used.
    pub fn open(link: Box<dyn Link>) -> Result<Robot, LinkError> {
        let wishes = Wishes { outputs: OUTPUTS, inputs: INPUTS, frequency_hz: FREQUENCY_HZ };
        let client = Client::open(link, wishes)?;
        let mut robot = Robot { client, state: State::default(), commanded: None, counter: 0, stale: 0 };
        robot.look()?;
        robot.check_safety()?;
        // Left-overs of an earlier program must not move the arm.
        robot.order(command::NONE, &[])?;
        robot.client.play(script())?;
        robot.wait_until_ready()?;
        Ok(robot)
    }

    /// What is known of the arm.
    pub fn state(&self) -> &State {
        &self.state
    }

    /// Moves to a posture slowly, and waits until it is reached.
    ///
    /// # Errors
    /// If the robot stops, or does not arrive.
    pub fn travel(&mut self, to: &Joints) -> Result<(), LinkError> {
        in_range(to)?;
        self.commanded = None;
        // Between episodes nobody looks: what piled up is not the present.
        self.client.catch_up()?;
        self.look()?;
        self.finish(command::STOP_SERVO, &[10.0])?;
        let [a, b, c, d, e, f] = *to;
        self.finish(command::MOVE_JOINTS, &[a, b, c, d, e, f, TRAVEL.0, TRAVEL.1])
    }

    /// Has the arm follow a posture from now on.
    ///
    /// # Errors
    /// If the posture is too far from where the arm is, or the link is broken.
    pub fn follow(&mut self, target: &Joints, how: Servo) -> Result<(), LinkError> {
        in_range(target)?;
        near(target, &self.state.q, LARGEST_LEAD_RAD)?;
        near(target, &self.commanded.unwrap_or(self.state.q), LARGEST_JUMP_RAD)?;
        self.commanded = Some(*target);
        let [a, b, c, d, e, f] = *target;
        // Speed and acceleration come between; a servo ignores them.
        let arguments = [a, b, c, d, e, f, 0.0, 0.0, how.latency_secs, how.lookahead_secs, how.gain];
        self.order(command::SERVO_JOINTS, &arguments)
    }

    /// Waits until the robot's clock shows `until_secs`.
    ///
    /// # Errors
    /// If the robot stops, or the link breaks.
    pub fn wait(&mut self, until_secs: f64) -> Result<(), LinkError> {
        // Half a tick of the fastest controllers: times are sums of floating-point numbers.
        while self.state.time_secs < until_secs - 0.001 {
            self.look()?;
            self.check_running()?;
        }
        Ok(())
    }

    /// Ends the movement and the program; used when the robot is given up.
    ///
    /// # Errors
    /// If the link is broken already.
    pub fn release(&mut self) -> Result<(), LinkError> {
        self.order(command::END, &[])
    }

    /// A copy with its own controller; `None` for a real robot.
    pub fn fork(&self) -> Option<Robot> {
        let &Robot { state, commanded, counter, stale, .. } = self;
        Some(Robot { client: self.client.fork()?, state, commanded, counter, stale })
    }

    /// Runs a command that ends by itself, and waits for its end.
    fn finish(&mut self, number: i32, arguments: &[f64]) -> Result<(), LinkError> {
        let deadline = self.state.time_secs + LONGEST_TRAVEL_SECS;
        let late = LinkError::NotArrived(LONGEST_TRAVEL_SECS);
        self.repeat_until(signal::DONE, number, arguments, deadline, late.clone())?;
        self.repeat_until(signal::READY, command::NONE, &[], deadline, late)
    }

    /// Waits until the program says that it awaits commands.
    fn wait_until_ready(&mut self) -> Result<(), LinkError> {
        let deadline = self.state.time_secs + LONGEST_START_SECS;
        while !(self.state.is_playing() && self.state.signal == signal::READY) {
            if self.state.time_secs > deadline {
                return Err(LinkError::NotPlaying("it did not start"));
            }
            self.look()?;
            self.check_safety()?;
        }
        Ok(())
    }

    /// Sends a command again and again, which keeps the counter alive, until the program signals.
    fn repeat_until(
        &mut self,
        signal: i32,
        number: i32,
        arguments: &[f64],
        deadline_secs: f64,
        late: LinkError,
    ) -> Result<(), LinkError> {
        while self.state.signal != signal {
            if self.state.time_secs > deadline_secs {
                return Err(late);
            }
            self.order(number, arguments)?;
            self.look()?;
            self.check_running()?;
        }
        Ok(())
    }

    /// Sends a command with its arguments; the rest of the registers are zero.
    fn order(&mut self, number: i32, arguments: &[f64]) -> Result<(), LinkError> {
        self.counter = self.counter.wrapping_add(1);
        let mut values = [Value::Double(0.0); 13];
        values[0] = Value::I32(number);
        values[1] = Value::I32(self.counter);
        values[2..].iter_mut().zip(arguments).for_each(|(v, &a)| *v = Value::Double(a));
        self.client.send(&values)
    }

    /// Waits for the next package.
    fn look(&mut self) -> Result<(), LinkError> {
        let values = self.client.receive()?;
        let Some(state) = State::read(values) else {
            return Err(LinkError::OutOfTurn { expected: "finite numbers", found: format!("{values:?}") });
        };
        self.stale = if state.time_secs > self.state.time_secs { 0 } else { self.stale + 1 };
        self.state = state;
        if self.stale > FROZEN_PACKAGES { Err(LinkError::Frozen(state.time_secs)) } else { Ok(()) }
    }

    fn check_safety(&self) -> Result<(), LinkError> {
        self.state.stop().map_or(Ok(()), |why| Err(LinkError::Stopped(why)))
    }

    fn check_running(&self) -> Result<(), LinkError> {
        self.check_safety()?;
        if self.state.is_playing() { Ok(()) } else { Err(LinkError::NotPlaying("it ended")) }
    }
}

impl Drop for Robot {
    /// A robot is not left with a program that waits for us.
    fn drop(&mut self) {
        let _ = self.release();
    }
}

fn near(target: &Joints, from: &Joints, most_rad: f64) -> Result<(), LinkError> {
    let turn = target.iter().zip(from).map(|(t, q)| (t - q).abs()).fold(0.0, f64::max);
    if turn <= most_rad {
        return Ok(());
    }
    Err(LinkError::OutOfReach(format!("a joint would have to turn by {turn:.2} rad at once")))
}

fn in_range(q: &Joints) -> Result<(), LinkError> {
    match q.iter().find(|a| a.is_nan() || a.abs() > TAU) {
        Some(angle) => Err(LinkError::OutOfReach(format!("a joint would have to turn to {angle:.2} rad"))),
        None => Ok(()),
    }
}
