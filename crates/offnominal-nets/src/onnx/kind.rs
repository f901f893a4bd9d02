//! Types of numbers, as a file declares them.

use half::f16;

/// The largest whole number up to which each has a float of 32 bits.
const LARGEST_WHOLE: f64 = 16_777_216.0;

/// What the numbers of a value are. All are kept as floats of 32 bits.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Kind {
    /// 32 bits.
    #[default]
    Float,
    /// 16 bits: every result is rounded to them.
    Half,
    /// 64 bits, of which 32 are kept.
    Double,
    /// Whole numbers of so many bits, with a sign.
    Signed(u32),
    /// Whole numbers of so many bits, without one.
    Unsigned(u32),
    /// Yes or no.
    Bool,
}

impl Kind {
    /// The type with that number in ONNX's list.
    ///
    /// # Errors
    /// Its name there, where it is not read.
    pub(super) fn numbered(number: i64) -> Result<Kind, String> {
        Ok(match number {
            1 => Kind::Float,
            2 => Kind::Unsigned(8),
            3 => Kind::Signed(8),
            4 => Kind::Unsigned(16),
            5 => Kind::Signed(16),
            6 => Kind::Signed(32),
            7 => Kind::Signed(64),
            9 => Kind::Bool,
            10 => Kind::Half,
            11 => Kind::Double,
            12 => Kind::Unsigned(32),
            13 => Kind::Unsigned(64),
            8 => return Err("text".into()),
            16 => return Err("bfloat16".into()),
            other => return Err(format!("type number {other}")),
        })
    }

    /// Its name.
    pub fn name(self) -> String {
        match self {
            Kind::Float => "float32".into(),
            Kind::Half => "float16".into(),
            Kind::Double => "float64".into(),
            Kind::Signed(bits) => format!("int{bits}"),
            Kind::Unsigned(bits) => format!("uint{bits}"),
            Kind::Bool => "bool".into(),
        }
    }

    /// Whether its numbers have a point.
    pub fn is_real(self) -> bool {
        matches!(self, Kind::Float | Kind::Half | Kind::Double)
    }

    /// Bytes of a number.
    pub(super) fn bytes(self) -> usize {
        match self {
            Kind::Float => 4,
            Kind::Half => 2,
            Kind::Double => 8,
            Kind::Bool => 1,
            Kind::Signed(bits) | Kind::Unsigned(bits) => bits as usize / 8,
        }
    }

    /// The field of a tensor in which its numbers lie where they are not raw bytes.
    pub(super) fn field(self) -> u64 {
        match self {
            Kind::Float => 4,
            Kind::Double => 10,
            Kind::Signed(64) => 7,
            Kind::Unsigned(32 | 64) => 11,
            _ => 5,
        }
    }

    /// A number of as many little-endian bytes as it has.
    pub(super) fn decoded(self, bytes: &[u8]) -> f64 {
        let mut padded = [0; 8];
        padded[..bytes.len()].copy_from_slice(bytes);
        let unsigned = u64::from_le_bytes(padded);
        match self {
            Kind::Float => f64::from(f32::from_bits(unsigned as u32)),
            Kind::Half => f16::from_bits(unsigned as u16).to_f64(),
            Kind::Double => f64::from_bits(unsigned),
            Kind::Unsigned(_) | Kind::Bool => unsigned as f64,
            Kind::Signed(bits) => ((unsigned << (64 - bits)) as i64 >> (64 - bits)) as f64,
        }
    }

    /// An entry of `int32_data`, `int64_data` or `uint64_data`: a whole number, or the bits of a float of 16.
    pub(super) fn entry(self, stored: i64) -> f64 {
        match self {
            Kind::Half => u16::try_from(stored).map_or(f64::NAN, |bits| f16::from_bits(bits).to_f64()),
            _ => stored as f64,
        }
    }

    /// Whether it has that number, and a float of 32 bits has it too.
    pub(super) fn has(self, x: f64) -> bool {
        let whole = |low: f64, high: f64| x.fract() == 0.0 && low <= x && x <= high;
        // Exporters write the largest numbers of 32 or 64 bits where they mean "to the end".
        let is_no_end =
            |bits: u32| [31, 63].iter().any(|&b| b < bits as i32 && (x.abs() - 2_f64.powi(b)).abs() < 2.0);
        match self {
            Kind::Float | Kind::Half | Kind::Double => (x as f32).is_finite(),
            Kind::Bool => x == 0.0 || x == 1.0,
            Kind::Signed(bits) if is_no_end(bits) => true,
            Kind::Signed(bits) => {
                let most = 2_f64.powi(bits as i32 - 1);
                whole((-most).max(-LARGEST_WHOLE), (most - 1.0).min(LARGEST_WHOLE))
            }
            Kind::Unsigned(bits) => whole(0.0, (2_f64.powi(bits as i32) - 1.0).min(LARGEST_WHOLE)),
        }
    }

    /// A result as a number of this type; what it has not is not a number.
    pub fn rounded(self, x: f32) -> f32 {
        match self {
            Kind::Float | Kind::Double => x,
            Kind::Half => f16::from_f32(x).to_f32(),
            _ if self.has(f64::from(x)) => x,
            _ => f32::NAN,
        }
    }

    /// A number of another type, made one of this: cut towards zero, where this is whole.
    pub(super) fn cast(self, x: f32) -> f32 {
        match self {
            Kind::Bool => f32::from(u8::from(x != 0.0)),
            Kind::Signed(_) | Kind::Unsigned(_) => self.rounded(x.trunc()),
            _ => self.rounded(x),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_as_their_type_says() {
        assert_eq!(Kind::Half.decoded(&[0x00, 0x3c]), 1.0);
        assert_eq!(Kind::Half.entry(0xc000), -2.0);
        assert_eq!(Kind::Signed(8).decoded(&[0xff]), -1.0);
        assert_eq!(Kind::Signed(64).decoded(&(-3_i64).to_le_bytes()), -3.0);
        assert_eq!(Kind::Unsigned(8).decoded(&[0xff]), 255.0);
        assert!(Kind::Half.entry(0x1_3c00).is_nan(), "more than 16 bits");
        assert!(!Kind::Signed(64).has(16_777_217.0) && !Kind::Unsigned(8).has(256.0) && !Kind::Bool.has(2.0));
    }

    #[test]
    fn casts_cut_towards_zero_and_overflow_is_no_number() {
        assert_eq!([-1.7, 1.7].map(|x| Kind::Signed(64).cast(x)), [-1.0, 1.0]);
        assert!(Kind::Unsigned(8).cast(-1.0).is_nan() && Kind::Signed(8).cast(128.0).is_nan());
        assert_eq!([0.0, -0.5].map(|x| Kind::Bool.cast(x)), [0.0, 1.0]);
        assert_eq!(Kind::Half.cast(2049.0), 2048.0);
    }
}
