//! Known things in other colours, so that a colour which no nominal image has does not make a thing unknown: elsewhere lane
//! markings are yellow.

use super::surface::light;
use crate::data_set::Labels;
use offnominal_core::Rng;

/// Fewest pixels of a class that are recoloured.
const FEWEST: usize = 50;
/// Brightness in that of the class's median from which a pixel changes, and from which it changes wholly.
const BRIGHT: [f32; 2] = [1.1, 1.5];
/// The weakest channel of a colour, in its strongest one.
const WEAKEST: f64 = 0.35;

/// Gives what is bright in a class another colour, each class with the probability `share`.
///
/// `rgb` is `[height, width, 3]`; `classes` is the number of classes, whose labels lie below it.
pub(super) fn recolour(rgb: &mut [u8], labels: &Labels, classes: usize, share: f64, rng: &mut Rng) {
    for class in 0..classes {
        let of_class: Vec<usize> =
            (0..labels.ids.len()).filter(|&i| usize::from(labels.ids[i]) == class).collect();
        if of_class.len() < FEWEST || rng.uniform() >= share {
            continue;
        }
        let colour = colour(rng);
        let median = median(of_class.iter().map(|&i| light(rgb, i)).collect());
        for i in of_class {
            let [from, to] = BRIGHT;
            let changed = ((light(rgb, i) / median.max(1.0) - from) / (to - from)).clamp(0.0, 1.0);
            for (value, colour) in rgb[3 * i..3 * i + 3].iter_mut().zip(colour) {
                *value = (f32::from(*value) * (1.0 - changed * (1.0 - colour))).round() as u8;
            }
        }
    }
}

/// Shares of red, green and blue that are left, of which the largest is 1.
fn colour(rng: &mut Rng) -> [f32; 3] {
    let raw: [f64; 3] = std::array::from_fn(|_| rng.range(WEAKEST, 1.0));
    let largest = raw.into_iter().fold(0.0, f64::max);
    raw.map(|share| (share / largest) as f32)
}

fn median(mut values: Vec<f32>) -> f32 {
    let middle = values.len() / 2;
    *values.select_nth_unstable_by(middle, f32::total_cmp).1
}

#[cfg(test)]
mod tests {
    use super::*;
    use offnominal_stats::pixel::Truth;

    /// A grey road with white markings beside a wall of one grey, and an unknown thing that is white.
    fn street() -> (Vec<u8>, Labels) {
        let ids: Vec<u8> = (0..400).map(|i| [0, 0, 1, 254][i / 100]).collect();
        let is_white = |i: usize| (i < 200 && i.is_multiple_of(10)) || i >= 300;
        let rgb = (0..400).flat_map(|i| [if is_white(i) { 240 } else { 100 }; 3]).collect();
        (rgb, Labels { width: 20, height: 20, ids, truth: vec![Truth::Known; 400] })
    }

    #[test]
    fn what_is_bright_in_its_class_changes_and_nothing_else() {
        let (before, labels) = street();
        for seed in 0..20 {
            let mut rgb = before.clone();
            recolour(&mut rgb, &labels, 2, 1.0, &mut Rng::new(seed));
            for (i, (new, old)) in rgb.chunks_exact(3).zip(before.chunks_exact(3)).enumerate() {
                let is_marking = i < 200 && i.is_multiple_of(10);
                assert_eq!(new != old, is_marking, "seed {seed}, pixel {i}: {old:?} became {new:?}");
                assert!(new.contains(&old[0]), "the strongest channel stays");
            }
            assert!(rgb[..3] == rgb[30..33], "one class has one colour");
        }
    }

    #[test]
    fn so_large_a_share_of_classes_changes() {
        let (before, labels) = street();
        let changed = (0..400).filter(|&seed| {
            let mut rgb = before.clone();
            recolour(&mut rgb, &labels, 2, 0.25, &mut Rng::new(seed));
            rgb != before
        });
        let share = changed.count() as f64 / 400.0;
        assert!((share - 0.25).abs() < 0.08, "{share}");
    }
}
