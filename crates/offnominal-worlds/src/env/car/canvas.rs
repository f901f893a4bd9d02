//! Samples, four to a pixel, that polygons are filled into.

use offnominal_core::frame::Frame;

/// Samples per pixel in each direction.
const SUB: usize = 2;

/// A colour and a class id.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Sample {
    /// Red, green and blue.
    pub colour: [u8; 3],
    /// Class id.
    pub class: u8,
}

/// The samples of an image, row by row from the top left.
#[derive(Debug, Clone, Default)]
pub struct Canvas {
    width: usize,
    height: usize,
    samples: Vec<Sample>,
}

impl Canvas {
    /// Makes the canvas as large as a frame needs it; what was painted is undefined.
    pub fn fit(&mut self, frame: &Frame) {
        (self.width, self.height) = (SUB * frame.width, SUB * frame.height);
        self.samples.resize(self.width * self.height, Sample::default());
    }

    /// Width and height in samples.
    pub fn size(&self) -> [f64; 2] {
        [self.width as f64, self.height as f64]
    }

    /// Paints `upper` above a horizontal line and `lower` below it.
    pub fn split(&mut self, row: f64, upper: Sample, lower: Sample) {
        let at = sample_after(row, self.height) * self.width;
        self.samples[..at].fill(upper);
        self.samples[at..].fill(lower);
    }

    /// Fills a convex polygon: every sample whose middle is inside. Polygons that share an edge share no sample.
    pub fn fill(&mut self, corners: &[[f64; 2]], paint: Sample) {
        let rows = corners.iter().map(|c| c[1]);
        let (top, bottom) = rows.fold((f64::INFINITY, f64::NEG_INFINITY), |(t, b), y| (t.min(y), b.max(y)));
        for row in sample_after(top, self.height)..sample_after(bottom, self.height) {
            let (left, right) = span(corners, row as f64 + 0.5);
            let (from, to) = (sample_after(left, self.width), sample_after(right, self.width));
            if from < to {
                self.samples[row * self.width..][from..to].fill(paint);
            }
        }
    }

    /// Averages the samples of each pixel; the pixel's class is the commonest, and among equals the largest.
    pub fn resolve(&self, frame: &mut Frame) {
        let pixels = frame.rgb.as_chunks_mut().0.iter_mut().zip(&mut frame.classes);
        for (at, (colour, class)) in pixels.enumerate() {
            let (row, column) = (SUB * (at / frame.width), SUB * (at % frame.width));
            let first = row * self.width + column;
            let (a, b) = (&self.samples[first..first + SUB], &self.samples[first + self.width..][..SUB]);
            (*colour, *class) = merged([a[0], a[1], b[0], b[1]]);
        }
    }
}

fn merged(samples: [Sample; SUB * SUB]) -> ([u8; 3], u8) {
    if samples.iter().all(|s| *s == samples[0]) {
        return (samples[0].colour, samples[0].class);
    }
    let mean = |i: usize| (samples.iter().map(|s| u16::from(s.colour[i])).sum::<u16>() + 2) / 4;
    let votes = |class: u8| samples.iter().filter(|s| s.class == class).count();
    let class = samples.iter().map(|s| s.class).max_by_key(|&c| (votes(c), c)).unwrap_or(0);
    (std::array::from_fn(|i| mean(i) as u8), class)
}

/// The first sample whose middle is not before a coordinate.
fn sample_after(coordinate: f64, size: usize) -> usize {
    // The cast saturates: what lies before the canvas gives 0.
    ((coordinate - 0.5).ceil() as usize).min(size)
}

/// Where a horizontal line enters and leaves a convex polygon.
fn span(corners: &[[f64; 2]], y: f64) -> (f64, f64) {
    let ends = corners.iter().cycle().skip(1);
    let mut span = (f64::INFINITY, f64::NEG_INFINITY);
    for (a, b) in corners.iter().zip(ends) {
        if (a[1] < y) != (b[1] < y) {
            let x = a[0] + (y - a[1]) / (b[1] - a[1]) * (b[0] - a[0]);
            span = (span.0.min(x), span.1.max(x));
        }
    }
    span
}

#[cfg(test)]
mod tests {
    use super::*;

    const RED: Sample = Sample { colour: [200, 0, 0], class: 5 };
    const BLUE: Sample = Sample { colour: [0, 0, 100], class: 2 };

    /// A 4 × 4 image, 8 × 8 samples, of polygons.
    fn painted(polygons: &[(&[[f64; 2]], Sample)]) -> Frame {
        let (mut frame, mut canvas) = (Frame::new(4, 4), Canvas::default());
        canvas.fit(&frame);
        canvas.split(0.0, Sample::default(), Sample::default());
        polygons.iter().for_each(|(corners, paint)| canvas.fill(corners, *paint));
        canvas.resolve(&mut frame);
        frame
    }

    #[test]
    fn a_square_covers_its_pixels_and_no_others() {
        let frame = painted(&[(&[[2.0, 2.0], [6.0, 2.0], [6.0, 4.0], [2.0, 4.0]], RED)]);
        let found: Vec<usize> = (0..16).filter(|&at| frame.classes[at] == 5).collect();
        assert_eq!((found, &frame.rgb[15..18]), (vec![5, 6], &[200, 0, 0][..]));
    }

    #[test]
    fn half_a_pixel_has_half_the_colour_and_the_larger_class() {
        let frame = painted(&[(&[[0.0, 0.0], [1.0, 0.0], [1.0, 8.0], [0.0, 8.0]], RED)]);
        assert_eq!((&frame.rgb[..3], frame.classes[0]), (&[100, 0, 0][..], 5));
        let quarter = painted(&[(&[[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]], RED)]);
        assert_eq!((&quarter.rgb[..3], quarter.classes[0]), (&[50, 0, 0][..], 0));
    }

    #[test]
    fn neighbours_leave_no_gap_and_outsiders_no_trace() {
        let slanted = [[3.3, 0.0], [4.6, 8.0]];
        let left: &[[f64; 2]] = &[[-50.0, 0.0], slanted[0], slanted[1], [-50.0, 8.0]];
        let right: &[[f64; 2]] = &[slanted[0], [1e6, 0.0], [1e6, 8.0], slanted[1]];
        let frame = painted(&[(left, RED), (right, BLUE)]);
        assert!((frame.share(5) + frame.share(2) - 1.0).abs() < 1e-12);
        let outside = painted(&[(&[[-9.0, -9.0], [-1.0, -9.0], [-1.0, -1.0]], RED)]);
        assert_eq!(outside.share(0), 1.0);
    }
}
