//! The registers of a controller, and what clients may write into them: names, types and values.

use crate::value::{Type, Value};

/// Registers per type and direction.
pub const REGISTERS: usize = 48;

offnominal_core::with_defaults! {
    /// Numbers that clients and programs leave for one another, and switches.
    #[derive(Debug, Clone, PartialEq)]
    pub struct Registers {
        /// Integers from clients.
        pub input_int: [i32; REGISTERS] = [0; REGISTERS],
        /// Real numbers from clients.
        pub input_double: [f64; REGISTERS] = [0.0; REGISTERS],
        /// Truths from clients, numbers 0 to 127.
        pub input_bits: u128 = 0,
        /// Integers from the program.
        pub output_int: [i32; REGISTERS] = [0; REGISTERS],
        /// Real numbers from the program.
        pub output_double: [f64; REGISTERS] = [0.0; REGISTERS],
        /// Digital outputs: eight standard ones, eight configurable ones, two at the tool.
        pub digital_outputs: u64 = 0,
        /// Analogue outputs, in their units.
        pub analog_outputs: [f64; 2] = [0.0; 2],
        /// The slider of speed at the panel.
        pub speed_fraction: f64 = 1.0,
    }
}

/// A number brought into a range; what is no number becomes the lowest.
pub(super) fn sane(value: f64, low: f64, high: f64) -> f64 {
    value.max(low).min(high)
}

/// What belongs to the prefix of a name, and the number at its end, of prefixes with how many there are.
pub(super) fn numbered<T: Copy>(name: &str, known: &[(&str, usize, T)]) -> Option<(T, usize)> {
    known.iter().find_map(|&(prefix, count, what)| {
        let i = name.strip_prefix(prefix)?.parse().ok()?;
        (i < count).then_some((what, i))
    })
}

/// A variable that clients may write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Input {
    /// An integer for the program.
    Int(usize),
    /// A real number for the program.
    Double(usize),
    /// A truth for the program.
    Bit(usize),
    /// Thirty-two truths at once.
    Bits(u32),
    /// Which of the digital outputs, from that number on, the next variable sets.
    DigitalMask(u32),
    /// Digital outputs from that number on.
    Digital(u32),
    /// An analogue output.
    Analog(usize),
    /// The slider of speed.
    SpeedFraction,
    /// Accepted, without a meaning in the simulation.
    Idle(Type),
}

impl Input {
    /// The variable of that name.
    pub fn of(name: &str) -> Option<Input> {
        type Registers = (&'static str, usize, fn(usize) -> Input);
        let registers: [Registers; 4] = [
            ("input_int_register_", REGISTERS, Input::Int),
            ("input_double_register_", REGISTERS, Input::Double),
            ("input_bit_register_", 128, Input::Bit),
            ("standard_analog_output_", 2, Input::Analog),
        ];
        numbered(name, &registers).map(|(input, i)| input(i)).or_else(|| Input::named(name))
    }

    fn named(name: &str) -> Option<Input> {
        Some(match name {
            "input_bit_registers0_to_31" => Input::Bits(0),
            "input_bit_registers32_to_63" => Input::Bits(32),
            "standard_digital_output_mask" => Input::DigitalMask(0),
            "standard_digital_output" => Input::Digital(0),
            "configurable_digital_output_mask" => Input::DigitalMask(8),
            "configurable_digital_output" => Input::Digital(8),
            "tool_digital_output_mask" => Input::DigitalMask(16),
            "tool_digital_output" => Input::Digital(16),
            "speed_slider_fraction" => Input::SpeedFraction,
            "speed_slider_mask" => Input::Idle(Type::U32),
            "standard_analog_output_mask" | "standard_analog_output_type" => Input::Idle(Type::U8),
            "external_force_torque" => Input::Idle(Type::Vector6),
            _ => return None,
        })
    }

    /// Its type.
    pub fn of_type(self) -> Type {
        match self {
            Input::Int(_) => Type::I32,
            Input::Double(_) | Input::Analog(_) | Input::SpeedFraction => Type::Double,
            Input::Bit(_) => Type::Bool,
            Input::Bits(_) => Type::U32,
            Input::DigitalMask(_) | Input::Digital(_) => Type::U8,
            Input::Idle(other) => other,
        }
    }

    /// Writes a value. `mask` is what the variables before it in the package said of digital outputs.
    pub fn set(self, value: Value, registers: &mut Registers, mask: &mut u64) {
        match (self, value) {
            (Input::Int(i), Value::I32(v)) => registers.input_int[i] = v,
            (Input::Double(i), Value::Double(v)) => registers.input_double[i] = v,
            (Input::Bit(i), Value::Bool(v)) => {
                registers.input_bits = registers.input_bits & !(1 << i) | u128::from(v) << i;
            }
            (Input::Bits(from), Value::U32(v)) => {
                let kept = registers.input_bits & !(u128::from(u32::MAX) << from);
                registers.input_bits = kept | u128::from(v) << from;
            }
            (Input::DigitalMask(from), Value::U8(v)) => *mask = u64::from(v) << from,
            (Input::Digital(from), Value::U8(v)) => {
                registers.digital_outputs = registers.digital_outputs & !*mask | u64::from(v) << from & *mask;
            }
            (Input::Analog(i), Value::Double(v)) => registers.analog_outputs[i] = v,
            (Input::SpeedFraction, Value::Double(v)) => registers.speed_fraction = sane(v, 0.0, 1.0),
            _ => {}
        }
    }
}
