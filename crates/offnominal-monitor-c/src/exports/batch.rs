//! Many robots at one tick.

use crate::fault::{Done, Fault, Status};
use crate::handle::Handle;
use crate::types::Verdict;
use crate::{guard, pointer};
use std::mem::MaybeUninit;

/// What a batch reads: one row for each monitor.
struct Rows<'a> {
    obs: &'a [f64],
    n_obs: usize,
    action: &'a [f64],
    n_action: usize,
}

impl Rows<'_> {
    fn obs(&self, i: usize) -> &[f64] {
        &self.obs[i * self.n_obs..][..self.n_obs]
    }

    fn action(&self, i: usize) -> &[f64] {
        &self.action[i * self.n_action..][..self.n_action]
    }
}

/// One tick of `n` monitors, as `offnominal_step` for each of them in their order; one that fails does not stop the others.
///
/// `obs` is `[n, n_obs]` and `action` is `[n, n_action]`, row after row. `verdicts` and `statuses` have room for `n`. Each
/// monitor gets its status; its verdict is written where that is OK, and only there. Returns OK if no monitor has failed,
/// else the status of the first one that has, of which the text of the error is too.
///
/// Errors: POINTER and WIDTH if the arguments themselves are wrong; then no monitor was advanced and no status written.
#[unsafe(no_mangle)]
#[allow(clippy::too_many_arguments, reason = "C has no slices")]
pub unsafe extern "C" fn offnominal_step_many(
    monitors: *const *mut Handle,
    n: usize,
    obs: *const f64,
    n_obs: usize,
    action: *const f64,
    n_action: usize,
    verdicts: *mut Verdict,
    statuses: *mut Status,
) -> Status {
    guard::call(|| {
        // SAFETY: the caller gives addresses of so many pointers, numbers and results, or null.
        let (monitors, obs, action, verdicts, statuses) = unsafe {
            (
                pointer::values(monitors, n, 1, "monitors")?,
                pointer::values(obs, n, n_obs, "obs")?,
                pointer::values(action, n, n_action, "action")?,
                pointer::places(verdicts, n, "verdicts")?,
                pointer::places(statuses, n, "statuses")?,
            )
        };
        advance(monitors, &Rows { obs, n_obs, action, n_action }, verdicts, statuses)
    })
}

fn advance(
    monitors: &[*mut Handle],
    rows: &Rows<'_>,
    verdicts: &mut [MaybeUninit<Verdict>],
    statuses: &mut [MaybeUninit<Status>],
) -> Done {
    let mut first = None;
    for (i, ((&at, to), status)) in monitors.iter().zip(verdicts).zip(statuses).enumerate() {
        // SAFETY: the caller gives monitors that are open and that no other thread uses, or null; one that is given twice
        // is used twice in turn.
        let handle = unsafe { pointer::handle(at) };
        let done = handle.and_then(|h| guard::run_with(h, |h| h.step(rows.obs(i), rows.action(i), to)));
        status.write(done.as_ref().map_or_else(Fault::status, |status| *status));
        if let (Err(why), None) = (done, &first) {
            first = Some(Fault::At(i, Box::new(why)));
        }
    }
    first.map_or(Ok(Status::Ok), Err)
}
