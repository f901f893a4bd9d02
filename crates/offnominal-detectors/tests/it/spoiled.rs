//! Lists of numbers that no fit writes, for tests of readers.

use offnominal_core::archive::Numbers;

/// The same list with other numbers, fewer, more, or of another type.
pub fn spoiled(numbers: &Numbers) -> Vec<Numbers> {
    let mut all = vec![Numbers::U64(vec![]), Numbers::F32(vec![1.0; 3])];
    match numbers {
        Numbers::F32(v) => {
            all.extend([f32::NAN, 0.0, -1.0, f32::MAX].map(|bad| Numbers::F32(vec![bad; v.len()])));
            all.push(Numbers::F32(v[..v.len().saturating_sub(1)].to_vec()));
        }
        Numbers::F64(v) => {
            all.extend([f64::INFINITY, 0.0, -1.0, f64::MAX].map(|bad| Numbers::F64(vec![bad; v.len()])));
            all.push(Numbers::F64([&v[..], &[1.0]].concat()));
        }
        Numbers::U64(v) => {
            all.extend([0, 1, 7, 1 << 20, u64::MAX].map(|bad| Numbers::U64(vec![bad; v.len()])));
            all.push(Numbers::U64(v.iter().rev().copied().collect()));
        }
    }
    all
}
