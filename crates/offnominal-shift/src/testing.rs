//! Runs of which a test knows how they go on.

use crate::Stream;

/// Twelve runs of a point that turns by `speed` each step, in two numbers, and a command that says nothing.
pub(crate) fn circles(speed: f32, n: usize) -> Vec<Stream> {
    let run = |i: usize| {
        let mut stream = Stream::new(2, 1);
        for t in 0..n {
            let angle = speed * t as f32 + i as f32;
            stream.push(&[angle.cos(), angle.sin()], &[(7.0 * t as f32).sin()]);
        }
        stream
    };
    (0..12).map(run).collect()
}
