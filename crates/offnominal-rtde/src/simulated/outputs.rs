//! What clients may read of a controller: names, types and values.

use super::arm::TICK_SECS;
use super::controller::{Controller, Safety};
use super::registers::{REGISTERS, Registers, numbered};
use crate::ur3e::{Joints, Pose};
use crate::value::Value;

/// A variable that clients may read.
#[derive(Debug, Clone, Copy)]
pub enum Output {
    /// A measurement or a state.
    Field(fn(&Controller) -> Value),
    /// One of the registers of a kind.
    Register(fn(&Registers, usize) -> Value, usize),
}

type Register = (&'static str, usize, fn(&Registers, usize) -> Value);

/// The registers that can be read: the beginning of their names, how many there are, and their values.
const READABLE: [Register; 5] = [
    ("output_int_register_", REGISTERS, |r, i| Value::I32(r.output_int[i])),
    ("output_double_register_", REGISTERS, |r, i| Value::Double(r.output_double[i])),
    ("input_int_register_", REGISTERS, |r, i| Value::I32(r.input_int[i])),
    ("input_double_register_", REGISTERS, |r, i| Value::Double(r.input_double[i])),
    ("input_bit_register_", 128, |r, i| Value::Bool(r.input_bits >> i & 1 == 1)),
];

impl Output {
    /// The variable of that name.
    pub fn of(name: &str) -> Option<Output> {
        let register = numbered(name, &READABLE).map(|(value, i)| Output::Register(value, i));
        register.or_else(|| FIELDS.iter().find(|f| f.0 == name).map(|f| Output::Field(f.1)))
    }

    /// Its present value.
    pub fn value(&self, of: &Controller) -> Value {
        match *self {
            Output::Field(get) => get(of),
            Output::Register(get, i) => get(&of.registers, i),
        }
    }
}

type Field = (&'static str, fn(&Controller) -> Value);

/// What can be read apart from registers. Temperatures, voltages and inputs are those of a robot at rest in a room.
const FIELDS: &[Field] = &[
    ("timestamp", |c| Value::Double(c.time_secs())),
    ("target_q", |c| Value::Vector6(c.reference.q)),
    ("target_qd", |c| Value::Vector6(c.reference.qd)),
    ("target_qdd", |_| Value::Vector6([0.0; 6])),
    ("target_current", |c| Value::Vector6(currents(c))),
    ("target_moment", |c| Value::Vector6(c.arm.torques())),
    ("actual_q", |c| Value::Vector6(c.arm.q())),
    ("actual_qd", |c| Value::Vector6(c.arm.qd())),
    ("actual_current", |c| Value::Vector6(currents(c))),
    ("actual_current_as_torque", |c| Value::Vector6(c.arm.torques())),
    ("joint_control_output", |c| Value::Vector6(currents(c))),
    ("actual_TCP_pose", |c| Value::Vector6(written(&c.base_from_tool(&c.arm.q())))),
    ("target_TCP_pose", |c| Value::Vector6(written(&c.base_from_tool(&c.reference.q)))),
    ("actual_TCP_speed", |c| Value::Vector6(speed(c, &c.arm.q(), &c.arm.qd()))),
    ("target_TCP_speed", |c| Value::Vector6(speed(c, &c.reference.q, &c.reference.qd))),
    ("actual_TCP_force", |_| Value::Vector6([0.0; 6])),
    ("ft_raw_wrench", |_| Value::Vector6([0.0; 6])),
    ("tcp_force_scalar", |_| Value::Double(0.0)),
    ("actual_digital_input_bits", |_| Value::U64(0)),
    ("actual_digital_output_bits", |c| Value::U64(c.registers.digital_outputs)),
    ("joint_temperatures", |_| Value::Vector6([27.0; 6])),
    ("actual_execution_time", |_| Value::Double(TICK_SECS)),
    ("robot_mode", |c| Value::I32(if c.has_power { RUNNING } else { POWER_OFF })),
    ("joint_mode", |c| Value::Vector6I32([if c.has_power { JOINT_RUNNING } else { JOINT_OFF }; 6])),
    ("safety_mode", |c| Value::I32(safety_mode(c))),
    ("safety_status", |c| Value::I32(safety_mode(c))),
    ("safety_status_bits", |c| Value::U32(safety_bits(c))),
    ("robot_status_bits", |c| Value::U32(u32::from(c.has_power) | u32::from(c.runtime() as u32 == 2) << 1)),
    ("runtime_state", |c| Value::U32(c.runtime() as u32)),
    ("actual_tool_accelerometer", |_| Value::Vector3([0.0, 0.0, -9.81])),
    ("speed_scaling", |c| Value::Double(c.registers.speed_fraction)),
    ("target_speed_fraction", |c| Value::Double(c.registers.speed_fraction)),
    ("actual_momentum", |_| Value::Double(0.0)),
    ("actual_main_voltage", |_| Value::Double(48.0)),
    ("actual_robot_voltage", |c| Value::Double(if c.has_power { 48.0 } else { 0.0 })),
    ("actual_robot_current", |c| Value::Double(currents(c).iter().map(|a| a.abs()).sum())),
    ("actual_joint_voltage", |c| Value::Vector6([if c.has_power { 48.0 } else { 0.0 }; 6])),
    ("elbow_position", |c| Value::Vector3(crate::ur3e::frames(&c.arm.q())[1].position_m)),
    ("elbow_velocity", |c| Value::Vector3(elbow_velocity(c))),
    ("analog_io_types", |_| Value::U32(3)),
    ("standard_analog_input0", |_| Value::Double(0.0)),
    ("standard_analog_input1", |_| Value::Double(0.0)),
    ("standard_analog_output0", |c| Value::Double(c.registers.analog_outputs[0])),
    ("standard_analog_output1", |c| Value::Double(c.registers.analog_outputs[1])),
    ("io_current", |_| Value::Double(0.0)),
    ("payload", |_| Value::Double(0.9)),
    ("payload_cog", |_| Value::Vector3([0.0, 0.0, 0.06])),
    ("payload_inertia", |_| Value::Vector6([0.0; 6])),
    ("script_control_line", |_| Value::U32(0)),
    ("output_bit_registers0_to_31", |_| Value::U32(0)),
    ("output_bit_registers32_to_63", |_| Value::U32(0)),
    ("input_bit_registers0_to_31", |c| Value::U32(c.registers.input_bits as u32)),
    ("input_bit_registers32_to_63", |c| Value::U32((c.registers.input_bits >> 32) as u32)),
    ("tool_mode", |_| Value::U32(253)),
    ("tool_analog_input_types", |_| Value::U32(0)),
    ("tool_analog_input0", |_| Value::Double(0.0)),
    ("tool_analog_input1", |_| Value::Double(0.0)),
    ("tool_output_voltage", |_| Value::I32(0)),
    ("tool_output_current", |_| Value::Double(0.0)),
    ("tool_temperature", |_| Value::Double(27.0)),
    ("joint_position_deviation_ratio", |_| Value::Double(0.0)),
    ("collision_detection_ratio", |_| Value::Double(0.0)),
];

/// Values of `robot_mode` and `joint_mode`.
const RUNNING: i32 = 7;
const POWER_OFF: i32 = 3;
const JOINT_RUNNING: i32 = 253;
const JOINT_OFF: i32 = 239;

/// Motor current per torque, in A/(N m).
const AMPERE_PER_NM: f64 = 0.1;

fn currents(c: &Controller) -> Joints {
    c.arm.torques().map(|t| AMPERE_PER_NM * t)
}

fn safety_mode(c: &Controller) -> i32 {
    match c.safety {
        Safety::Normal => 1,
        Safety::ProtectiveStop => 3,
        Safety::EmergencyStop => 7,
    }
}

fn safety_bits(c: &Controller) -> u32 {
    match c.safety {
        Safety::Normal => 1,
        Safety::ProtectiveStop => 1 << 2 | 1 << 10,
        Safety::EmergencyStop => 1 << 6 | 1 << 7 | 1 << 10,
    }
}

/// A pose as the protocol has it: position in m, rotation vector in rad.
fn written(pose: &Pose) -> [f64; 6] {
    let ([x, y, z], [a, b, c]) = (pose.position_m, pose.rotation_vector());
    [x, y, z, a, b, c]
}

/// Velocity (m/s) and rotation (rad/s) of the tool, by differences over a tick.
fn speed(c: &Controller, q: &Joints, qd: &Joints) -> [f64; 6] {
    let now = c.base_from_tool(q);
    let next = c.base_from_tool(&std::array::from_fn(|i| q[i] + TICK_SECS * qd[i]));
    let turn = Pose { position_m: [0.0; 3], ..next }.then(&Pose { position_m: [0.0; 3], ..now }.inverse());
    let turn = turn.rotation_vector();
    std::array::from_fn(|i| match i {
        0..3 => (next.position_m[i] - now.position_m[i]) / TICK_SECS,
        _ => turn[i - 3] / TICK_SECS,
    })
}

fn elbow_velocity(c: &Controller) -> [f64; 3] {
    let (q, qd) = (c.arm.q(), c.arm.qd());
    let elbow = |q: &Joints| crate::ur3e::frames(q)[1].position_m;
    let (now, next) = (elbow(&q), elbow(&std::array::from_fn(|i| q[i] + TICK_SECS * qd[i])));
    std::array::from_fn(|i| (next[i] - now[i]) / TICK_SECS)
}
