//! From the outputs of the last layer to the action of an environment.

use super::NetworkError;
use super::design::{Output, require};
use crate::actor::choose;
use offnominal_core::spec::{Channel, EnvSpec};
use offnominal_nets::tanh;

/// Turns outputs into an action.
#[derive(Debug, Clone)]
pub(super) struct Command {
    output: Output,
    low: Vec<f32>,
    high: Vec<f32>,
}

impl Command {
    /// The commands of an environment.
    pub(super) fn new(output: &Output, spec: &EnvSpec) -> Result<Command, NetworkError> {
        let what = format!("actions of {}", spec.id);
        let choices: Vec<u32> = spec.action.iter().map(|channel| channel.choices).collect();
        match output {
            Output::Choices(sizes) => {
                require(*sizes == choices, &what, asked(&spec.action), choose_of(sizes))?
            }
            Output::Signs => {
                require(choices.iter().all(|&n| n == 2), &what, asked(&spec.action), "yes and no")?;
            }
            Output::Squashed | Output::Bounded => {
                require(choices.iter().all(|&n| n == 0), &what, asked(&spec.action), "real numbers")?;
            }
        }
        let is_finite = spec.action.iter().all(|c| c.low.is_finite() && c.high.is_finite());
        require(*output != Output::Squashed || is_finite, &what, "finite bounds", "infinite ones")?;
        let of = |bound: fn(&Channel) -> f64| spec.action.iter().map(|c| bound(c) as f32).collect();
        Ok(Command { output: output.clone(), low: of(|c| c.low), high: of(|c| c.high) })
    }

    /// The bounds of the actions, in words that a file keeps.
    pub(super) fn bounds(&self) -> String {
        let pairs: Vec<[f32; 2]> = self.low.iter().zip(&self.high).map(|(&low, &high)| [low, high]).collect();
        format!("{pairs:?}")
    }

    /// Writes the action that the outputs mean.
    pub(super) fn write(&self, outputs: &[f32], action: &mut [f32]) {
        let bounds = self.low.iter().zip(&self.high);
        match &self.output {
            Output::Squashed => {
                for ((a, y), (low, high)) in action.iter_mut().zip(outputs).zip(bounds) {
                    *a = cut(low + 0.5 * (tanh(*y) + 1.0) * (high - low), *low, *high);
                }
            }
            Output::Bounded => {
                for ((a, y), (low, high)) in action.iter_mut().zip(outputs).zip(bounds) {
                    *a = cut(*y, *low, *high);
                }
            }
            Output::Choices(sizes) => choices(sizes, outputs, action),
            Output::Signs => {
                for (a, y) in action.iter_mut().zip(outputs) {
                    *a = if y.is_nan() { *y } else { f32::from(*y > 0.0) };
                }
            }
        }
    }
}

/// The number within the bounds; what is not a number stays none.
fn cut(y: f32, low: f32, high: f32) -> f32 {
    if y < low {
        low
    } else if y > high {
        high
    } else {
        y
    }
}

fn choices(sizes: &[u32], outputs: &[f32], action: &mut [f32]) {
    let mut begin = 0;
    for (a, &size) in action.iter_mut().zip(sizes) {
        let end = begin + size as usize;
        *a = choose(&outputs[begin..end]);
        begin = end;
    }
}

/// What the commands of an environment are, in words.
fn asked(action: &[Channel]) -> String {
    if action.iter().any(Channel::is_choice) {
        let sizes: Vec<u32> = action.iter().map(|channel| channel.choices).collect();
        return choose_of(&sizes);
    }
    "real numbers".into()
}

fn choose_of(sizes: &[u32]) -> String {
    match sizes {
        [one] => format!("one of {one} choices"),
        many => format!("choices among {many:?}"),
    }
}
