//! The noise of some numbers as it goes through an episode.

use super::Term;
use super::numbers::Source;
use crate::channel::{Channel, spans};

/// What the noise of each number is at this step.
#[derive(Clone)]
pub(super) struct Process {
    turn_on: Vec<f64>,
    drift: Vec<f64>,
    white: Vec<f64>,
}

impl Process {
    pub fn new(n: usize) -> Process {
        Process { turn_on: vec![0.0; n], drift: vec![0.0; n], white: vec![0.0; n] }
    }

    /// Turns the sensors on.
    pub fn start(&mut self, terms: &[Term], source: &mut Source) {
        self.drift.fill(0.0);
        for (c, term) in self.turn_on.iter_mut().zip(terms) {
            *c = if term.has_turn_on() { term.turn_on * source.normal() } else { 0.0 };
        }
    }

    /// Draws the noise of the next step.
    pub fn advance(&mut self, terms: &[Term], dt_secs: f64, source: &mut Source) {
        for (i, term) in terms.iter().enumerate() {
            if term.has_white() {
                self.white[i] = source.normal();
            }
            if term.has_walk() {
                let (kept, fresh) = gauss_markov(term, dt_secs);
                self.drift[i] = kept * self.drift[i] + fresh * source.normal();
            }
        }
    }

    /// The numbers with their noise.
    pub fn apply(&self, terms: &[Term], numbers: &mut [f32]) {
        for (i, (x, term)) in numbers.iter_mut().zip(terms).enumerate() {
            *x = self.noisy(i, term, *x);
        }
    }

    /// The same for readings, which stay within the bounds of their channels; one at a bound may stand for nothing to
    /// measure.
    pub fn read(&self, terms: &[Term], channels: &[Channel], numbers: &mut [f32]) {
        for (channel, span) in channels.iter().zip(spans(channels)) {
            for i in span {
                let (x, term) = (f64::from(numbers[i]), &terms[i]);
                let is_empty = term.bounds_are_empty && (x <= channel.low || x >= channel.high);
                if !term.is_none() && !is_empty {
                    numbers[i] =
                        self.noisy(i, term, numbers[i]).clamp(channel.low as f32, channel.high as f32);
                }
            }
        }
    }

    fn noisy(&self, i: usize, term: &Term, number: f32) -> f32 {
        if term.is_none() {
            return number;
        }
        let x = f64::from(number);
        let spread = term.white + term.proportional * x.abs();
        let reading = x + self.turn_on[i] + self.drift[i] + spread * self.white[i];
        if term.quantum > 0.0 {
            ((reading / term.quantum).round() * term.quantum) as f32
        } else {
            reading as f32
        }
    }
}

/// What is kept of the drift and what is added to it in a step: the exact solution of its equation.
fn gauss_markov(term: &Term, dt_secs: f64) -> (f64, f64) {
    if term.tau_secs == 0.0 {
        return (1.0, term.walk * dt_secs.sqrt());
    }
    let kept = (-dt_secs / term.tau_secs).exp();
    (kept, term.walk * (0.5 * term.tau_secs * (1.0 - kept * kept)).sqrt())
}
