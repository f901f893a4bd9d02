//! What is usual for a pixel where it lies: at the horizon of a road nearly everything is unlike its class, before the
//! wheels next to nothing is.

use offnominal_stats::pixel::components::Components;

/// Rows and columns of pixels in a field.
pub const FIELD: usize = 8;
/// Share of nominal pixels above the level of their field.
const ABOVE: f64 = 0.01;
/// Nominal pixels of a class in a strip from which its level is found.
const ENOUGH: usize = 1000;
/// The least deviation, as a share of that of all pixels: there are fields where nothing ever happens.
const FLOOR: f64 = 0.1;

/// The fields of an image, row by row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fields {
    pub rows: usize,
    pub columns: usize,
    width: usize,
}

impl Fields {
    pub fn of(pixels: usize, width: usize) -> Fields {
        Fields { rows: (pixels / width).div_ceil(FIELD), columns: width.div_ceil(FIELD), width }
    }

    pub fn count(&self) -> usize {
        self.rows * self.columns
    }

    /// The field in which a pixel lies.
    pub fn at(&self, pixel: usize) -> usize {
        pixel / self.width / FIELD * self.columns + pixel % self.width / FIELD
    }
}

/// The score that one nominal pixel in a hundred exceeds, and the deviation, of each field.
#[derive(Debug, Clone, PartialEq)]
pub struct Level {
    fields: Fields,
    usual: Vec<Usual>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
struct Usual {
    score: f64,
    deviation: f64,
}

impl Level {
    /// Of the score maps of nominal images.
    pub fn of(nominal: &[Vec<f32>], width: usize) -> Level {
        let fields = Fields::of(nominal[0].len(), width);
        let mut by_field = vec![Vec::new(); fields.count()];
        nominal
            .iter()
            .flat_map(|map| map.iter().enumerate())
            .for_each(|(i, &s)| by_field[fields.at(i)].push(s));
        let floor = FLOOR * deviation(&by_field.concat());
        Level { fields, usual: by_field.into_iter().map(|scores| Usual::of(scores, ABOVE, floor)).collect() }
    }

    /// By how many deviations each pixel exceeds the level of its field.
    pub fn above(&self, scores: &[f32]) -> Vec<f32> {
        let above = |(pixel, &score): (usize, &f32)| self.usual[self.fields.at(pixel)].excess(score);
        scores.iter().enumerate().map(above).collect()
    }
}

/// The level of each predicted class in each strip of rows: what a car's pixels score says nothing of the road's.
#[derive(Debug, Clone, PartialEq)]
pub struct ClassLevel {
    classes: usize,
    width: usize,
    /// Strip by strip.
    usual: Vec<Usual>,
}

/// Scores and predicted classes of the pixels of an image.
pub type Scored = (Vec<f32>, Vec<u8>);

impl ClassLevel {
    /// Of nominal images; a class that is rare in a strip has the level of all pixels of its class, one that is rare
    /// everywhere that of the strip.
    pub fn of(nominal: &[Scored], classes: usize, width: usize, above: f64) -> ClassLevel {
        let strips = (nominal[0].0.len() / width).div_ceil(FIELD);
        let mut cells = vec![Vec::new(); strips * classes];
        for (scores, of) in nominal {
            for (pixel, (&score, &class)) in scores.iter().zip(of).enumerate() {
                cells[pixel / width / FIELD * classes + usize::from(class)].push(score);
            }
        }
        let floor = FLOOR * deviation(&cells.concat());
        let usual = (0..cells.len())
            .map(|at| {
                let (strip, class) = (at / classes, at % classes);
                let of_class = || cells.iter().skip(class).step_by(classes).flatten().copied().collect();
                let of_strip = || cells[strip * classes..][..classes].concat();
                let choices: [&dyn Fn() -> Vec<f32>; 2] = [&|| cells[at].clone(), &of_class];
                let enough = |scores: &Vec<f32>| scores.len() >= ENOUGH;
                let scores = choices.iter().map(|f| f()).find(enough).unwrap_or_else(of_strip);
                Usual::of(scores, above, floor)
            })
            .collect();
        ClassLevel { classes, width, usual }
    }

    /// By how many deviations each pixel exceeds the level of its class and strip.
    pub fn above(&self, (scores, classes): &Scored) -> Vec<f32> {
        let above = |(pixel, (&score, &class)): (usize, (&f32, &u8))| {
            self.usual[pixel / self.width / FIELD * self.classes + usize::from(class)].excess(score)
        };
        scores.iter().zip(classes).enumerate().map(above).collect()
    }
}

/// The sum of the component above zero that has most of it; at most zero where there is none.
pub fn largest_component(above: &[f32], width: usize) -> f64 {
    let found = Components::of(&above.iter().map(|&x| x > 0.0).collect::<Vec<_>>(), width);
    let mut sums = vec![0.0; found.sizes.len() + 1];
    found.labels.iter().zip(above).for_each(|(&label, &x)| sums[label as usize] += f64::from(x));
    sums[1..].iter().copied().reduce(f64::max).unwrap_or_else(|| largest(above))
}

/// The largest number.
pub fn largest(scores: &[f32]) -> f64 {
    f64::from(scores.iter().copied().fold(f32::NEG_INFINITY, f32::max))
}

impl Usual {
    /// By how many deviations a score exceeds it.
    fn excess(self, score: f32) -> f32 {
        ((f64::from(score) - self.score) / self.deviation) as f32
    }

    /// The score that a share of nominal ones exceeds.
    fn of(mut scores: Vec<f32>, above: f64, floor: f64) -> Usual {
        let deviation = (deviation(&scores) + floor).max(1e-9);
        let at = ((scores.len() - 1) as f64 * (1.0 - above)) as usize;
        Usual { score: f64::from(*scores.select_nth_unstable_by(at, f32::total_cmp).1), deviation }
    }
}

fn deviation(scores: &[f32]) -> f64 {
    let n = scores.len() as f64;
    let mean = scores.iter().map(|&s| f64::from(s)).sum::<f64>() / n;
    (scores.iter().map(|&s| (f64::from(s) - mean).powi(2)).sum::<f64>() / n).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_component_counts_for_what_exceeds_the_level() {
        let level = Level { fields: Fields::of(10, 5), usual: vec![Usual { score: 1.0, deviation: 0.5 }] };
        // Two components of 3 and 1 pixels above the level in two rows of five.
        let scores = [2.0, 2.0, 0.0, 0.0, 4.0, 1.5, 0.0, 0.0, 0.0, 0.0];
        assert_eq!(largest_component(&level.above(&scores), 5), 6.0);
        assert_eq!(largest_component(&level.above(&[0.0, 0.5, -1.0, 0.0, 0.0]), 5), -1.0);
    }

    #[test]
    fn each_field_has_what_is_usual_there() {
        // Two fields side by side: one context, one that runs from 0 to 63.
        let map: Vec<f32> =
            (0..128).map(|i| if i % 16 < 8 { 0.0 } else { (i / 16 * 8 + i % 8) as f32 }).collect();
        let level = Level::of(std::slice::from_ref(&map), 16);
        let all = deviation(&map);
        assert_eq!(level.usual[0], Usual { score: 0.0, deviation: 0.1 * all });
        assert_eq!(level.usual[1].score, 62.0);
        assert!((level.usual[1].deviation - (341.25_f64.sqrt() + 0.1 * all)).abs() < 1e-9);
        // The same score is unheard of on the left, and nothing on the right.
        let (mut left, mut right) = (vec![0.0; 128], vec![0.0; 128]);
        (left[0], right[8]) = (20.0, 20.0);
        let excess = |scores: &[f32]| largest_component(&level.above(scores), 16);
        assert!(excess(&left) > 5.0 && excess(&right) <= 0.0);
    }

    #[test]
    fn each_class_has_what_is_usual_for_it_in_its_rows() {
        // Two strips of rows. Class 0 scores 0 to 1 in the first and 10 more in the second; class 1 scores 100 wherever it
        // is, which is only in the first.
        let (width, rows) = (125, 16);
        let score = |p: usize| 10.0 * (p / width / FIELD) as f32 + (p % width) as f32 / 124.0;
        let mut image: Scored = ((0..width * rows).map(score).collect(), vec![0; width * rows]);
        let road = image.clone();
        image.0[..width * FIELD].fill(100.0);
        image.1[..width * FIELD].fill(1);
        let level = ClassLevel::of(&[road.clone(), image], 2, width, 0.0);
        let found: Vec<f64> = level.usual.iter().map(|usual| usual.score).collect();
        assert_eq!(found, [1.0, 100.0, 11.0, 100.0]);
        assert!(level.above(&road).iter().all(|&x| x <= 0.0));
        // A car's score on the road is unusual, the same on a car is not.
        let unusual = |class: u8| level.above(&(vec![50.0; width * rows], vec![class; width * rows]));
        assert!(unusual(0).iter().all(|&x| x > 0.0) && unusual(1).iter().all(|&x| x < 0.0));
    }
}
