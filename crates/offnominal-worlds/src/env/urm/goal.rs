//! A goal that stands still or, as an anomaly, moves to and fro along x.

use offnominal_core::prelude::*;

/// Where goals lie: lowest and highest coordinate along each axis, in m.
pub(super) const BOX_M: [(f64, f64); 3] = [(-0.25, 0.15), (0.25, 0.35), (0.1, 0.2)];

/// A point in space, with the direction in which it moves.
#[derive(Debug, Clone, Copy)]
pub(super) struct Goal {
    pub position_m: [f64; 3],
    /// +1 or −1.
    direction: f64,
}

impl Goal {
    /// A goal that, if it moves, moves towards +x first.
    pub(super) fn at(position_m: [f64; 3]) -> Goal {
        Goal { position_m, direction: 1.0 }
    }

    /// A point drawn uniformly from the box.
    pub(super) fn draw(rng: &mut Rng) -> [f64; 3] {
        BOX_M.map(|(low, high)| rng.range(low, high))
    }

    /// Moves by that distance in m along x; turns round before it would leave the box.
    pub(super) fn advance(&mut self, distance_m: f64) {
        let x = self.position_m[0];
        let ahead = x + self.direction * distance_m;
        if ahead > BOX_M[0].1 {
            self.direction = -1.0;
        } else if ahead < BOX_M[0].0 {
            self.direction = 1.0;
        }
        self.position_m[0] = x + self.direction * distance_m;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_turns_round_at_both_ends_and_keeps_its_pace() {
        let mut goal = Goal::at([0.14, 0.3, 0.15]);
        let (mut lowest, mut highest) = (f64::INFINITY, f64::NEG_INFINITY);
        for _ in 0..100 {
            let before = goal.position_m[0];
            goal.advance(0.03);
            assert!(((goal.position_m[0] - before).abs() - 0.03).abs() < 1e-12);
            lowest = goal.position_m[0].min(lowest);
            highest = goal.position_m[0].max(highest);
        }
        assert!(
            (-0.25..-0.22).contains(&lowest) && highest > 0.12 && highest <= 0.15,
            "{lowest} … {highest}"
        );
        assert_eq!(goal.position_m[1..], [0.3, 0.15]);
    }

    #[test]
    fn without_a_distance_it_stands() {
        let mut goal = Goal::at([0.15, 0.3, 0.15]);
        goal.advance(0.0);
        assert_eq!(goal.position_m, [0.15, 0.3, 0.15]);
    }
}
