//! The past, as a ring of transitions from which batches are drawn.

mod frame_stack;

use frame_stack::FrameStack;
use offnominal_core::Rng;
use offnominal_core::spec::{Channel, EnvSpec};
use offnominal_nets::{TensorError, Tensors};

/// A transition that is about to be stored.
#[derive(Debug, Clone, Copy)]
pub struct Record<'a> {
    /// What the policy read.
    pub obs: &'a [f32],
    /// Its action, scaled to [−1, 1].
    pub action: &'a [f32],
    /// The reward.
    pub reward: f32,
    /// What it read next.
    pub next_obs: &'a [f32],
    /// 1 if nothing can follow, 0 if the episode goes on or only its time was up.
    pub terminal: f32,
    /// The action that a demonstrator advises, scaled alike; kept only where the ring is for advice.
    pub advice: &'a [f32],
    /// 1 if there is advice, 0 if not.
    pub advised: f32,
}

/// The last so many transitions.
#[derive(Debug, Clone, PartialEq)]
pub struct Replay {
    obs_width: usize,
    act_width: usize,
    /// Numbers of an advised action, or 0 where none is kept.
    advice_width: usize,
    capacity: usize,
    next: usize,
    len: usize,
    rows: Vec<f32>,
    /// The observations, where they are images; rows then hold the rest.
    frame_stack: Option<FrameStack>,
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
    /// `[n]`, 1 where a demonstrator advised
    pub advised: Vec<f32>,
    /// `[n, act_width]`, the action that it advised there
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
            advised: zeros(1),
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
        Replay {
            obs_width,
            act_width,
            advice_width: 0,
            capacity,
            next: 0,
            len: 0,
            rows: Vec::new(),
            frame_stack: None,
        }
    }

    /// The same, empty, which also keeps what a demonstrator advised.
    pub(crate) fn with_advice(self) -> Replay {
        Replay { advice_width: self.act_width, ..self }
    }

    /// An empty ring for an environment; where it shows an image and nothing else, images are kept as bytes.
    pub(crate) fn for_environment(capacity: usize, spec: &EnvSpec) -> Replay {
        let ring = Replay::new(capacity, spec.obs_width(), spec.action.len());
        match spec.observation[..] {
            [Channel { image: Some(image), .. }] => {
                Replay { obs_width: 0, frame_stack: Some(FrameStack::new(image)), ..ring }
            }
            _ => ring,
        }
    }

    /// Adds what is stored to a file.
    pub(crate) fn save(&self, into: &mut Tensors) {
        if self.is_empty() {
            return;
        }
        into.insert("replay", &[self.len, self.width()], &self.rows);
        if let Some(frame_stack) = &self.frame_stack {
            let (numbers, packed) = frame_stack.pack();
            // Bytes as numbers: a file has floats only.
            let packed: Vec<f32> = packed.into_iter().map(f32::from).collect();
            into.put("replay.images", &numbers);
            into.put("replay.video", &packed);
        }
    }

    /// The ring as it was saved, if it was; `next` is where the next transition goes. Nothing if that does not fit.
    ///
    /// # Errors
    /// If a tensor is missing or has the wrong shape.
    pub(crate) fn restored(self, from: &Tensors, next: usize) -> Result<Option<Replay>, TensorError> {
        let Ok((shape, _)) = from.get("replay") else { return Ok(Some(self)) };
        let len = shape.first().copied().unwrap_or(0);
        let rows = from.expect("replay", &[len, self.width()])?.to_vec();
        let at_end = if len == self.capacity { next < len } else { next == len };
        let frame_stack = match self.frame_stack.clone() {
            None => None,
            Some(empty) => {
                let (numbers, packed) = (from.get("replay.images")?.1, from.get("replay.video")?.1);
                let packed: Vec<u8> = packed.iter().map(|&byte| byte as u8).collect();
                let frame_stack =
                    empty.unpacked(numbers, &packed).filter(|frame_stack| frame_stack.len() == len);
                let Some(frame_stack) = frame_stack else { return Ok(None) };
                Some(frame_stack)
            }
        };
        let fits = len <= self.capacity && at_end;
        Ok(fits.then_some(Replay { rows, frame_stack, next, len, ..self }))
    }

    /// Numbers per transition.
    pub(crate) fn width(&self) -> usize {
        2 * self.obs_width + self.act_width + self.advice_width + 3
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
        let (action, row) = row.split_at_mut(self.act_width);
        let (advice, rest) = row.split_at_mut(self.advice_width);
        match &mut self.frame_stack {
            Some(frame_stack) => frame_stack.put(self.next, record.obs, record.next_obs),
            None => {
                obs.copy_from_slice(record.obs);
                next_obs.copy_from_slice(record.next_obs);
            }
        }
        action.copy_from_slice(record.action);
        advice.copy_from_slice(&record.advice[..self.advice_width]);
        rest.copy_from_slice(&[record.reward, record.terminal, record.advised]);
        self.next = (self.next + 1) % self.capacity;
    }

    /// Fills a batch with transitions drawn uniformly, with replacement.
    ///
    /// # Panics
    /// If nothing is stored.
    pub fn sample(&self, batch: &mut Batch, rng: &mut Rng) {
        let (o, a, width) = (self.obs_width, self.act_width, batch.obs.len() / batch.len());
        for i in 0..batch.len() {
            let at = rng.below(self.len);
            let row = &self.rows[at * self.width()..][..self.width()];
            let (obs, next_obs) =
                (&mut batch.obs[i * width..][..width], &mut batch.next_obs[i * width..][..width]);
            match &self.frame_stack {
                Some(frame_stack) => frame_stack.get(at, obs, next_obs),
                None => {
                    obs.copy_from_slice(&row[..o]);
                    next_obs.copy_from_slice(&row[o..2 * o]);
                }
            }
            let (action, row) = row[2 * o..].split_at(a);
            let (advice, rest) = row.split_at(self.advice_width);
            batch.action[i * a..][..a].copy_from_slice(action);
            batch.advice[i * a..][..self.advice_width].copy_from_slice(advice);
            (batch.reward[i], batch.terminal[i], batch.advised[i]) = (rest[0], rest[1], rest[2]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ring(capacity: usize, pushed: usize) -> Replay {
        let mut replay = Replay::new(capacity, 2, 1).with_advice();
        for i in 0..pushed {
            let v = i as f32;
            replay.push(Record {
                obs: &[v, -v],
                action: &[v],
                reward: v,
                next_obs: &[v + 1.0, -v],
                terminal: 0.0,
                advice: &[v - 0.5],
                advised: v + 0.5,
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
            assert_eq!((batch.next_obs[2 * i], batch.terminal[i]), (r + 1.0, 0.0));
            assert_eq!((batch.advice[i], batch.advised[i]), (r - 0.5, r + 0.5));
        }
        seen.sort_unstable();
        seen.dedup();
        assert_eq!(seen, [7, 8, 9, 10, 11]);
    }

    #[test]
    fn a_restored_ring_goes_on_as_before() {
        let restored =
            |saved: &Tensors, next| Replay::new(5, 2, 1).with_advice().restored(saved, next).unwrap();
        for pushed in [0, 3, 5, 12] {
            let (replay, mut saved) = (ring(5, pushed), Tensors::default());
            replay.save(&mut saved);
            assert_eq!(restored(&saved, replay.next()).unwrap(), replay);
            assert!(pushed == 0 || restored(&saved, 5).is_none(), "the next one has its place");
        }
        let (mut saved, mut long) = (Tensors::default(), Tensors::default());
        ring(9, 9).save(&mut long);
        assert!(restored(&long, 0).is_none(), "more than there is room for");
        saved.insert("replay", &[1, 7], &[0.0; 7]);
        assert!(Replay::new(5, 2, 1).restored(&saved, 0).is_err());
        saved.insert("replay", &[], &[0.0]);
        assert!(Replay::new(5, 2, 1).restored(&saved, 0).is_err(), "a number without axes");
    }
}
