//! The past, as a ring of transitions from which batches are drawn.

use offnominal_core::Rng;

/// A transition that is about to be stored.
#[derive(Debug, Clone, Copy)]
pub struct Record<'a> {
    /// What the policy read.
    pub obs: &'a [f32],
    /// Its command, scaled to [−1, 1].
    pub action: &'a [f32],
    /// The reward.
    pub reward: f32,
    /// What it read next.
    pub next_obs: &'a [f32],
    /// 1 if nothing can follow, 0 if the episode goes on or only its time was up.
    pub terminal: f32,
    /// 1 if a demonstrator commanded, 0 if the policy or chance did.
    pub demonstrated: f32,
}

/// The last so many transitions.
#[derive(Debug, Clone, PartialEq)]
pub struct Replay {
    obs_width: usize,
    act_width: usize,
    capacity: usize,
    next: usize,
    len: usize,
    pub(crate) rows: Vec<f32>,
}

/// Transitions drawn for one gradient step, row-major.
#[derive(Debug, Clone, PartialEq)]
pub struct Batch {
    /// `[n, obs_width]`
    pub obs: Vec<f32>,
    /// `[n, act_width]`, in [−1, 1]
    pub action: Vec<f32>,
    /// `[n]`
    pub reward: Vec<f32>,
    /// `[n, obs_width]`
    pub next_obs: Vec<f32>,
    /// `[n]`, 1 where nothing follows
    pub terminal: Vec<f32>,
    /// `[n]`, 1 where a demonstrator commanded, or says what it would have
    pub demonstrated: Vec<f32>,
    /// `[n, act_width]`, the command it gave or would have given there
    pub advice: Vec<f32>,
}

impl Batch {
    /// Room for `n` transitions.
    pub fn new(n: usize, obs_width: usize, act_width: usize) -> Batch {
        let zeros = |width| vec![0.0; n * width];
        Batch {
            obs: zeros(obs_width),
            action: zeros(act_width),
            reward: zeros(1),
            next_obs: zeros(obs_width),
            terminal: zeros(1),
            demonstrated: zeros(1),
            advice: zeros(act_width),
        }
    }

    /// Number of transitions.
    pub fn len(&self) -> usize {
        self.reward.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.reward.is_empty()
    }
}

impl Replay {
    /// An empty ring for up to `capacity` transitions; memory is taken as they come.
    pub fn new(capacity: usize, obs_width: usize, act_width: usize) -> Replay {
        Replay { obs_width, act_width, capacity, next: 0, len: 0, rows: Vec::new() }
    }

    /// A ring with the given content; `next` is where the next transition goes.
    pub(crate) fn restored(self, rows: &[f32], next: usize) -> Option<Replay> {
        let len = rows.len() / self.width();
        let fits = rows.len() == len * self.width() && len <= self.capacity;
        let at_end = if len == self.capacity { next < len } else { next == len };
        (fits && at_end).then(|| Replay { rows: rows.to_vec(), next, len, ..self })
    }

    /// Numbers per transition.
    pub(crate) fn width(&self) -> usize {
        2 * self.obs_width + self.act_width + 3
    }

    /// Where the next transition goes.
    pub(crate) fn next(&self) -> usize {
        self.next
    }

    /// Number of stored transitions.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether nothing is stored.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Stores a transition in the place of the oldest once the ring is full.
    pub fn push(&mut self, record: Record<'_>) {
        let width = self.width();
        if self.len < self.capacity {
            self.len += 1;
            self.rows.resize(self.len * width, 0.0);
        }
        let row = &mut self.rows[self.next * width..][..width];
        let (obs, row) = row.split_at_mut(self.obs_width);
        let (next_obs, row) = row.split_at_mut(self.obs_width);
        let (action, rest) = row.split_at_mut(self.act_width);
        obs.copy_from_slice(record.obs);
        next_obs.copy_from_slice(record.next_obs);
        action.copy_from_slice(record.action);
        rest.copy_from_slice(&[record.reward, record.terminal, record.demonstrated]);
        self.next = (self.next + 1) % self.capacity;
    }

    /// Fills a batch with transitions drawn uniformly, with replacement.
    ///
    /// # Panics
    /// If nothing is stored.
    pub fn sample(&self, batch: &mut Batch, rng: &mut Rng) {
        let (o, a) = (self.obs_width, self.act_width);
        for i in 0..batch.len() {
            let row = &self.rows[rng.below(self.len) * self.width()..][..self.width()];
            batch.obs[i * o..][..o].copy_from_slice(&row[..o]);
            batch.next_obs[i * o..][..o].copy_from_slice(&row[o..2 * o]);
            batch.action[i * a..][..a].copy_from_slice(&row[2 * o..][..a]);
            batch.advice[i * a..][..a].copy_from_slice(&row[2 * o..][..a]);
            let rest = &row[2 * o + a..];
            (batch.reward[i], batch.terminal[i], batch.demonstrated[i]) = (rest[0], rest[1], rest[2]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ring(capacity: usize, pushed: usize) -> Replay {
        let mut replay = Replay::new(capacity, 2, 1);
        for i in 0..pushed {
            let v = i as f32;
            replay.push(Record {
                obs: &[v, -v],
                action: &[v],
                reward: v,
                next_obs: &[v + 1.0, -v],
                terminal: 0.0,
                demonstrated: v + 0.5,
            });
        }
        replay
    }

    #[test]
    fn the_oldest_are_replaced_and_rows_stay_together() {
        let (replay, mut batch) = (ring(5, 12), Batch::new(400, 2, 1));
        replay.sample(&mut batch, &mut Rng::new(1));
        let mut seen: Vec<u32> = batch.reward.iter().map(|&r| r as u32).collect();
        for (i, &r) in batch.reward.iter().enumerate() {
            assert_eq!((batch.obs[2 * i], batch.obs[2 * i + 1], batch.action[i]), (r, -r, r));
            assert_eq!(
                (batch.next_obs[2 * i], batch.terminal[i], batch.demonstrated[i]),
                (r + 1.0, 0.0, r + 0.5)
            );
        }
        seen.sort_unstable();
        seen.dedup();
        assert_eq!(seen, [7, 8, 9, 10, 11]);
    }

    #[test]
    fn a_restored_ring_goes_on_as_before() {
        for pushed in [3, 5, 12] {
            let replay = ring(5, pushed);
            let restored = Replay::new(5, 2, 1).restored(&replay.rows, replay.next()).unwrap();
            assert_eq!(restored, replay);
        }
        assert!(Replay::new(5, 2, 1).restored(&[0.0; 8], 0).is_none());
        assert!(Replay::new(5, 2, 1).restored(&[0.0; 7], 0).is_none());
    }
}
