//! A policy that explores: its commands with normal noise, which makes it weaker.

use offnominal_core::prelude::*;

/// A policy and the noise on its commands.
pub struct Noisy {
    policy: Box<dyn Policy>,
    /// Standard deviation of the noise on each command, and the bounds of the command.
    commands: Vec<(f64, f64, f64)>,
}

impl Noisy {
    /// Noise whose standard deviation is a share of half the range of each command; none where a command is a choice
    /// or has no bounds.
    pub fn new(policy: Box<dyn Policy>, action: &[Channel], share: f64) -> Noisy {
        let command = |c: &Channel| {
            let half = 0.5 * (c.high - c.low);
            let is_real = c.choices == 0 && half.is_finite();
            (if is_real { share * half } else { 0.0 }, c.low, c.high)
        };
        Noisy { policy, commands: action.iter().map(command).collect() }
    }
}

impl Policy for Noisy {
    fn health(&self) -> Result<(), String> {
        self.policy.health()
    }

    fn reset(&mut self) {
        self.policy.reset();
    }

    fn act(&mut self, obs: &[f32], action: &mut [f32], rng: &mut Rng) {
        self.policy.act(obs, action, rng);
        for (a, &(sd, low, high)) in action.iter_mut().zip(&self.commands) {
            if sd > 0.0 {
                *a = (f64::from(*a) + sd * rng.normal()).clamp(low, high) as f32;
            }
        }
    }

    fn fork(&self) -> Box<dyn Policy> {
        Box::new(Noisy { policy: self.policy.fork(), commands: self.commands.clone() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_spread_as_asked_and_stay_within_their_bounds() {
        let action = [Channel::new("push", "m", "1", -2.0, 2.0), Channel::choice("turn", "m", 3)];
        let still = |_: &[f32], action: &mut [f32]| action.copy_from_slice(&[1.0, 2.0]);
        let mut policy = Noisy::new(Box::new(still), &action, 0.1).fork();
        let (mut rng, mut command, mut squares) = (Rng::new(1), [0.0; 2], 0.0);
        for _ in 0..2000 {
            policy.act(&[], &mut command, &mut rng);
            assert!(command[1] == 2.0 && command[0] <= 2.0);
            squares += f64::from(command[0] - 1.0).powi(2) / 2000.0;
        }
        assert!((squares.sqrt() - 0.2).abs() < 0.01, "{squares}");
    }
}
