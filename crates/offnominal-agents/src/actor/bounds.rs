//! What an actor's numbers mean to an environment: an action between bounds, or a choice.

use offnominal_core::Rng;
use offnominal_core::spec::Channel;

/// The map between what learners and actors write and the actions of an environment.
///
/// Real actions are numbers in [−1, 1] until they are taken to their bounds. A choice is the index itself.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Bounds {
    pub(super) low: Vec<f32>,
    pub(super) high: Vec<f32>,
    choices: Option<usize>,
}

/// Among how many the action chooses, if it is one choice and nothing else.
pub(crate) fn choices(action: &[Channel]) -> Option<usize> {
    match action {
        [one] if one.is_choice() => Some(one.choices as usize),
        _ => None,
    }
}

/// Outputs that the network of an actor has: the value of each choice, or one number per channel.
pub(crate) fn outputs(action: &[Channel]) -> usize {
    choices(action).unwrap_or(action.len())
}

impl Bounds {
    /// The bounds of the action channels; an infinite one counts as ±1.
    pub(crate) fn of(action: &[Channel]) -> Bounds {
        let finite = |x: f64, otherwise| if x.is_finite() { x as f32 } else { otherwise };
        Bounds {
            low: action.iter().map(|c| finite(c.low, -1.0)).collect(),
            high: action.iter().map(|c| finite(c.high, 1.0)).collect(),
            choices: choices(action),
        }
    }

    /// Number of channels.
    pub(super) fn width(&self) -> usize {
        self.low.len()
    }

    /// Whether the action is a choice.
    pub(crate) fn is_choice(&self) -> bool {
        self.choices.is_some()
    }

    /// Takes an action from [−1, 1] to the bounds, in place; leaves a choice as it is.
    pub(crate) fn apply(&self, action: &mut [f32]) {
        if self.is_choice() {
            return;
        }
        for ((a, &low), &high) in action.iter_mut().zip(&self.low).zip(&self.high) {
            *a = (low + (high - low) * 0.5 * (*a + 1.0)).clamp(low, high);
        }
    }

    /// Takes an action within the bounds to [−1, 1], in place; leaves a choice as it is.
    pub(crate) fn invert(&self, action: &mut [f32]) {
        if self.is_choice() {
            return;
        }
        for ((a, &low), &high) in action.iter_mut().zip(&self.low).zip(&self.high) {
            *a = (2.0 * (*a - low) / (high - low) - 1.0).clamp(-1.0, 1.0);
        }
    }

    /// An action drawn uniformly.
    pub(crate) fn draw(&self, action: &mut [f32], rng: &mut Rng) {
        match self.choices {
            Some(n) => action[0] = rng.below(n) as f32,
            None => action.iter_mut().for_each(|a| *a = rng.range(-1.0, 1.0) as f32),
        }
    }
}

/// The choice of the largest value; not a number if one of the values is not finite.
pub(crate) fn choose(values: &[f32]) -> f32 {
    if values.iter().all(|v| v.is_finite()) { largest(values) as f32 } else { f32::NAN }
}

/// Position of the largest number, the first one of equals.
pub(crate) fn largest(values: &[f32]) -> usize {
    (1..values.len()).fold(0, |best, i| if values[i] > values[best] { i } else { best })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_choice_is_an_index_and_a_real_action_has_bounds() {
        let choice = [Channel::choice("push", "direction", 3)];
        let real = [Channel::new("u", "torque", "N m", -2.0, 6.0), Channel::unbounded("v", "speed", "m/s")];
        assert_eq!((outputs(&choice), outputs(&real)), (3, 2));
        let mut actions = [2.0, 0.0];
        Bounds::of(&choice).apply(&mut actions[..1]);
        assert_eq!(actions[0], 2.0);
        actions = [0.0, 0.5];
        Bounds::of(&real).apply(&mut actions);
        assert_eq!(actions, [2.0, 0.5]);
        assert_eq!(largest(&[1.0, 3.0, 3.0, 2.0]), 1);
        assert_eq!(choose(&[1.0, 3.0]), 1.0);
        assert!(choose(&[1.0, f32::NAN]).is_nan() && choose(&[f32::INFINITY, 0.0]).is_nan());
    }

    #[test]
    fn drawn_choices_are_all_of_them() {
        let (bounds, mut rng, mut seen) =
            (Bounds::of(&[Channel::choice("push", "", 3)]), Rng::new(1), [0; 3]);
        for _ in 0..300 {
            let mut action = [9.0];
            bounds.draw(&mut action, &mut rng);
            seen[action[0] as usize] += 1;
        }
        assert!(seen.iter().all(|&n| n > 60), "{seen:?}");
    }
}
