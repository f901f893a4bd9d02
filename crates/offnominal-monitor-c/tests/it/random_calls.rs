//! Random calls, sound and unsound, beside a Rust monitor that gets the sound ones: the same answers, no abort, no
//! allocation in what succeeds, and no memory that is kept.

use crate::calls::{Opened, step_many};
use crate::support::{FILE, OBS, opened};
use offnominal_core::Rng;
use offnominal_core::transition::Transition;
use offnominal_monitor::{Monitor, StepError};
use offnominal_monitor_c as c;
use offnominal_monitor_c::{Deviation, Event, Status, Verdict};
use std::mem::MaybeUninit;
use std::ptr::{null, null_mut};

/// Numbers that are there in any case, so that a length up to here is true.
const ROOM: usize = 4 * OBS;

/// What the calls have done to memory, in bytes that are kept.
struct Memory {
    kept: i64,
    /// Calls that were made; the first ones warm up.
    calls: u64,
}

impl Memory {
    const WARM_UP: u64 = 2000;

    /// A call, which must not allocate if it succeeds.
    fn watch(&mut self, call: impl FnOnce() -> Status) -> Status {
        let mut status = Status::Ok;
        let used = allocation_counter::measure(|| status = call());
        self.calls += 1;
        if self.calls > Memory::WARM_UP {
            self.kept += used.bytes_current;
            assert!(
                status as i32 <= -1 || used.count_total == 0,
                "{status:?} after {} calls: {used:?}",
                self.calls
            );
        }
        status
    }
}

/// Random arguments: mostly sound, some null, too short, too long, or with numbers that nobody measures.
struct Arguments {
    rng: Rng,
    obs: [f64; ROOM],
    action: [f64; ROOM],
}

impl Arguments {
    fn rarely(&mut self, one_in: usize) -> bool {
        self.rng.below(one_in) == 0
    }

    fn number(&mut self) -> f64 {
        const ODD: [f64; 8] = [
            f64::NAN,
            f64::INFINITY,
            f64::NEG_INFINITY,
            f32::MAX as f64,
            f32::MIN as f64,
            f64::MIN_POSITIVE / 2.0,
            -0.0,
            1e20,
        ];
        if self.rarely(200) { ODD[self.rng.below(8)] } else { self.rng.normal() }
    }

    fn draw(&mut self) {
        for i in 0..ROOM {
            (self.obs[i], self.action[i]) = (self.number(), self.number());
        }
    }

    fn length(&mut self, right: usize) -> usize {
        match self.rng.below(40) {
            0 => self.rng.below(ROOM + 1),
            1 => usize::MAX - self.rng.below(3),
            _ => right,
        }
    }

    /// The address, or rarely null.
    fn address<T>(&mut self, at: *mut T) -> *mut T {
        if self.rarely(60) { null_mut() } else { at }
    }
}

fn status_of(why: &StepError) -> Status {
    match why {
        StepError::Width { .. } => Status::Width,
        StepError::Gap { .. } => Status::Gap,
        _ => Status::Refused,
    }
}

/// What the border should say where the Rust monitor says this.
fn expected(said: Result<Option<offnominal_monitor::Verdict>, StepError>) -> (Status, Option<Verdict>) {
    match said {
        Ok(Some(verdict)) => (Status::Ok, Some(verdict.into())),
        Ok(None) => (Status::NoVerdict, None),
        Err(why) => (status_of(&why), None),
    }
}

/// Verdicts of wild numbers may be infinite or not a number, so their bits are compared.
fn bits(v: &Verdict) -> [u64; 8] {
    let alarm = [v.step, v.score.to_bits(), v.statistic.to_bits(), v.state as u64, v.event as u64];
    let read = [v.missing.into(), v.confidence.to_bits(), v.sensor_event as u64];
    std::array::from_fn(|i| alarm.get(i).copied().unwrap_or_else(|| read[i - alarm.len()]))
}

#[track_caller]
fn same(found: (Status, MaybeUninit<Verdict>), want: (Status, Option<Verdict>)) {
    assert_eq!(found.0, want.0);
    if let Some(want) = want.1 {
        // SAFETY: the status is `Ok`, so it was written.
        assert_eq!(bits(&unsafe { found.1.assume_init() }), bits(&want));
    }
}

/// Lengths that no memory has are refused before anything is read.
fn sound(at: *const f64, n: usize) -> Option<Status> {
    match n {
        0 => None,
        _ if n > ROOM => Some(Status::Width),
        _ => at.is_null().then_some(Status::Pointer),
    }
}

struct Pair {
    border: Opened,
    rust: Monitor,
}

impl Pair {
    fn new() -> Pair {
        Pair { border: Opened::from_bytes(&FILE).unwrap(), rust: opened(&FILE) }
    }

    fn step(&mut self, with: &mut Arguments, memory: &mut Memory) {
        let (n_obs, n_action) = (with.length(OBS), with.length(1));
        let (obs, action) = (with.obs, with.action);
        let (o, a) = (with.address(obs.as_ptr().cast_mut()), with.address(action.as_ptr().cast_mut()));
        let mut to = MaybeUninit::uninit();
        let v = with.address(to.as_mut_ptr());
        // SAFETY: there is room for what is said, or the library sees that there is not.
        let status = memory.watch(|| unsafe { c::offnominal_step(self.border.0, o, n_obs, a, n_action, v) });
        let unsound = sound(o, n_obs).or(sound(a, n_action)).or(v.is_null().then_some(Status::Pointer));
        let want = unsound.map_or_else(
            || expected(self.rust.step(&obs[..n_obs], &action[..n_action])),
            |status| (status, None),
        );
        same((status, to), want);
    }

    fn last(&mut self, with: &mut Arguments, memory: &mut Memory) {
        let (n_obs, obs) = (with.length(OBS), with.obs);
        let o = with.address(obs.as_ptr().cast_mut());
        let mut to = MaybeUninit::uninit();
        // SAFETY: there is room for what is said, or the library sees that there is not.
        let status = memory.watch(|| unsafe { c::offnominal_last(self.border.0, o, n_obs, to.as_mut_ptr()) });
        let want =
            sound(o, n_obs).map_or_else(|| expected(self.rust.last(&obs[..n_obs])), |status| (status, None));
        same((status, to), want);
    }

    fn transition(&mut self, with: &mut Arguments, memory: &mut Memory) {
        let (obs, next_obs): ([f64; OBS], [f64; OBS]) =
            (with.obs[..OBS].try_into().unwrap(), with.obs[OBS..2 * OBS].try_into().unwrap());
        let action = [with.action[0]];
        let mut to = MaybeUninit::uninit();
        let (o, a, n) = (obs.as_ptr(), action.as_ptr(), next_obs.as_ptr());
        let v = to.as_mut_ptr();
        // SAFETY: there is room for what is said.
        let status = memory.watch(|| unsafe { c::offnominal_transition(self.border.0, o, OBS, a, 1, n, v) });
        let seen = Transition { obs: &obs, action: &action, next_obs: &next_obs };
        same((status, to), expected(self.rust.transition(&seen).map(Some)));
    }

    fn diagnose(&mut self, with: &mut Arguments, memory: &mut Memory) {
        let mut channels = [const { MaybeUninit::<Deviation>::uninit() }; OBS];
        let (mut to, room) = (MaybeUninit::uninit(), with.rng.below(OBS + 1));
        let (at, m) = (channels.as_mut_ptr().cast(), self.border.0);
        // SAFETY: there is room for what is said.
        let status = memory.watch(|| unsafe { c::offnominal_diagnose(m, to.as_mut_ptr(), at, room) });
        let Some(want) = self.rust.diagnose() else { return assert_eq!(status, Status::NoDiagnosis) };
        // SAFETY: the monitor has a diagnosis, so it was written.
        assert_eq!(unsafe { to.assume_init() }.onset, want.onset());
        assert_eq!(status, Status::Ok);
    }

    fn acknowledge(&mut self, with: &mut Arguments, memory: &mut Memory) {
        let mut event = Event::None;
        let at = with.address(&raw mut event);
        // SAFETY: the address is that of an event, or null.
        let status = memory.watch(|| unsafe { c::offnominal_acknowledge(self.border.0, at) });
        if status == Status::Ok {
            assert_eq!(event, self.rust.acknowledge().into());
        }
        assert_eq!(status == Status::Pointer, at.is_null());
    }

    fn reset(&mut self, memory: &mut Memory) {
        assert_eq!(memory.watch(|| self.border.reset()), Status::Ok);
        self.rust.reset();
    }
}

/// A batch with a monitor twice and one that is null.
fn batch(pairs: &mut [Pair; 2], with: &mut Arguments, memory: &mut Memory) {
    let handles = [pairs[0].border.0, null_mut(), pairs[1].border.0, pairs[0].border.0];
    let (obs, action) = (with.obs, with.action);
    let mut to = [const { MaybeUninit::uninit() }; 4];
    let mut statuses = [Status::Ok; 4];
    memory.watch(|| step_many(&handles, &obs, &action[..4], &mut to, &mut statuses));
    assert_eq!(statuses[1], Status::Pointer);
    for (i, pair) in [(0, 0), (2, 1), (3, 0)] {
        let said = pairs[pair].rust.step(&obs[i * OBS..][..OBS], &action[i..=i]);
        same((statuses[i], to[i]), expected(said));
    }
}

/// Files that are whole, cut and changed, opened and closed; nothing may be left of them.
fn open(with: &mut Arguments, memory: &mut Memory) {
    let mut bytes = FILE.clone();
    let at = with.rng.below(bytes.len());
    match with.rng.below(3) {
        0 => bytes.truncate(at),
        1 => bytes[at] ^= 1 << with.rng.below(8),
        _ => {}
    }
    let used = allocation_counter::measure(|| drop(Opened::from_bytes(&bytes)));
    memory.kept += if memory.calls > Memory::WARM_UP { used.bytes_current } else { 0 };
}

/// Calls without a monitor.
fn without(with: &mut Arguments, memory: &mut Memory) {
    let (x, mut to) = (with.obs, MaybeUninit::uninit());
    // SAFETY: the monitor is null, which the library looks at.
    let status = memory
        .watch(|| unsafe { c::offnominal_step(null_mut(), x.as_ptr(), OBS, x.as_ptr(), 1, to.as_mut_ptr()) });
    assert_eq!(status, Status::Pointer);
    // SAFETY: the same.
    let nothing = unsafe { (c::offnominal_n_obs(null()), c::offnominal_obs_name(null(), 0).is_null()) };
    assert_eq!(nothing, (0, true));
}

fn one(pairs: &mut [Pair; 2], with: &mut Arguments, memory: &mut Memory) {
    with.draw();
    let (which, kind) = (with.rng.below(2), with.rng.below(10_000));
    match kind {
        0 => open(with, memory),
        1..3 => pairs[which].diagnose(with, memory),
        3..60 => pairs[which].reset(memory),
        60..200 => pairs[which].acknowledge(with, memory),
        200..300 => without(with, memory),
        300..1300 => pairs[which].transition(with, memory),
        1300..1600 => pairs[which].last(with, memory),
        1600..3000 => batch(pairs, with, memory),
        _ => pairs[which].step(with, memory),
    }
}

/// How many bytes a text of an error may have, which its thread keeps for the next one.
const TEXT: i64 = 4096;

fn calls(n: u64) {
    let mut pairs = [Pair::new(), Pair::new()];
    let mut with = Arguments { rng: Rng::new(11), obs: [0.0; ROOM], action: [0.0; ROOM] };
    let mut memory = Memory { kept: 0, calls: 0 };
    for i in 0..n {
        one(&mut pairs, &mut with, &mut memory);
        if i == Memory::WARM_UP / 2 {
            pairs.iter_mut().for_each(|pair| pair.diagnose(&mut with, &mut memory));
        }
    }
    assert!(memory.kept < TEXT, "{} bytes are kept after {n} calls", memory.kept);
}

#[test]
fn a_hundred_thousand_random_calls() {
    calls(100_000);
}

#[test]
fn ten_million_random_calls() {
    if skips::is_slow_tier("ten million random calls") {
        calls(10_000_000);
    }
}
