//! Numbers of half precision (IEEE 754, 16 bits): 1 bit of sign, 5 of exponent, 10 of mantissa.

use hdf5_pure::{Datatype, DatatypeByteOrder};

/// A number by its bits.
pub fn of_bits(bits: u16) -> f32 {
    let (exponent, mantissa) = (i32::from(bits >> 10 & 31), f32::from(bits & 1023));
    let size = match (exponent, mantissa) {
        (0, mantissa) => mantissa * 2f32.powi(-24),
        (31, 0.0) => f32::INFINITY,
        (31, _) => f32::NAN,
        (exponent, mantissa) => (1.0 + mantissa / 1024.0) * 2f32.powi(exponent - 15),
    };
    if bits >> 15 == 0 { size } else { -size }
}

/// The order of the bytes of numbers in an HDF5 file, if these are of half precision.
pub fn order(kind: &Datatype) -> Option<DatatypeByteOrder> {
    match kind {
        Datatype::FloatingPoint { size: 2, byte_order, layout }
            if (layout.exponent_size, layout.mantissa_size, layout.exponent_bias) == (5, 10, 15) =>
        {
            Some(*byte_order)
        }
        _ => None,
    }
}

/// Numbers of a file by their bytes.
pub fn of_bytes(raw: &[u8], order: DatatypeByteOrder) -> impl Iterator<Item = f32> + '_ {
    let bits = move |&bytes: &[u8; 2]| match order {
        DatatypeByteOrder::BigEndian => u16::from_be_bytes(bytes),
        _ => u16::from_le_bytes(bytes),
    };
    raw.as_chunks::<2>().0.iter().map(move |bytes| of_bits(bits(bytes)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_precision_has_its_extremes() {
        let cases = [
            (0x3c00, 1.0),
            (0xc100, -2.5),
            (0x7bff, 65504.0),
            (0x0001, 2f32.powi(-24)),
            (0x0400, 2f32.powi(-14)),
        ];
        for (bits, x) in cases {
            assert_eq!(of_bits(bits), x);
        }
        assert!(of_bits(0x7c00).is_infinite() && of_bits(0x7e00).is_nan());
        let of = |order| of_bytes(&[0x3c, 0x00], order).collect::<Vec<f32>>();
        assert_eq!(
            (of(DatatypeByteOrder::BigEndian)[0], of(DatatypeByteOrder::LittleEndian)[0]),
            (1.0, 60.0 * 2f32.powi(-24))
        );
    }
}
