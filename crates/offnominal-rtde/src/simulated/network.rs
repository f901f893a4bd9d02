//! The network between a simulated controller and a client: delay, jitter, and loss.

use super::arm::TICK_SECS;
use offnominal_core::Rng;
use std::collections::VecDeque;

/// Bytes that may be under way at once; what comes on top is lost like a connection that breaks.
const MOST_UNDER_WAY: usize = 1 << 22;

/// What a network does to messages.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Network {
    /// Delay of what clients send, in s.
    pub latency_secs: f64,
    /// Largest extra delay of each thing under way in either direction, uniform, in s.
    pub jitter_secs: f64,
    /// Probability with which a data package is left out. Controllers do so when a client is slow.
    pub loss: f64,
}

/// Bytes on their way in one direction, in order.
#[derive(Debug, Clone, Default)]
pub struct Way {
    under_way: VecDeque<(u64, Vec<u8>)>,
    bytes: usize,
}

impl Way {
    /// Sends bytes off at a tick; `false` if too much is under way.
    pub fn send(
        &mut self,
        bytes: Vec<u8>,
        now: u64,
        latency_secs: f64,
        jitter_secs: f64,
        rng: &mut Rng,
    ) -> bool {
        let delay_secs = latency_secs + jitter_secs * rng.uniform();
        let due = now + (delay_secs / TICK_SECS).round() as u64;
        // Nothing overtakes: the stream stays in order.
        let due = self.under_way.back().map_or(due, |last| due.max(last.0));
        self.bytes += bytes.len();
        self.under_way.push_back((due, bytes));
        self.bytes <= MOST_UNDER_WAY
    }

    /// The next bytes that have arrived.
    pub fn receive(&mut self, now: u64) -> Option<Vec<u8>> {
        self.under_way.front().filter(|(due, _)| *due <= now)?;
        let (_, bytes) = self.under_way.pop_front()?;
        self.bytes -= bytes.len();
        Some(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_arrive_in_order_after_their_delay() {
        let (mut way, mut rng) = (Way::default(), Rng::new(1));
        for i in 0..100_u8 {
            assert!(way.send(vec![i], u64::from(i), 0.010, 0.020, &mut rng));
        }
        let mut arrived = Vec::new();
        for now in 0..200 {
            while let Some(bytes) = way.receive(now) {
                let delay = now - u64::from(bytes[0]);
                assert!((5..=15).contains(&delay), "{delay} ticks");
                arrived.extend(bytes);
            }
        }
        assert_eq!(arrived, (0..100).collect::<Vec<u8>>());
    }
}
