//! What a process is told while it runs: time without rows, and episodes that end from outside.

use super::*;

/// Ticks: whether they begin an episode, their time in milliseconds, and the observation.
#[derive(Default)]
struct Told(Vec<(bool, i64, f64)>);

impl Ticks for Told {
    fn tick(&mut self, tick: Tick<'_>) -> Result<()> {
        self.0.push((tick.is_first, tick.time_nanos / MS, tick.observation[0]));
        Ok(())
    }
}

const MS: i64 = 1_000_000;

fn live(more: &str) -> Live<Told> {
    let text =
        format!("version = 1\nobservation = [{{ column = \"/a:x\" }}]\n[clock]\nrate_hz = 10.0\n{more}");
    Live::new(&Mapping::parse(&text).unwrap(), Told::default())
}

fn row(live: &mut Live<Told>, ms: i64, x: f64) {
    live.row(0, ms * MS, &[(0, x)]).unwrap();
}

/// Compares ticks, of which a number that is missing is written as -1.
#[track_caller]
fn told(live: &Live<Told>, want: &[(bool, i64, f64)]) {
    let found = live.to.0.iter().map(|&(is_first, ms, x)| (is_first, ms, if x.is_nan() { -1.0 } else { x }));
    assert_eq!(found.collect::<Vec<_>>(), want);
}

#[test]
fn a_last_row_from_the_future_is_dropped_and_counted() {
    let rows = |ends: fn(&mut Live<Told>)| {
        let mut live = live("");
        [0, 100, 200, 3_600_000].into_iter().for_each(|ms| row(&mut live, ms, 1.0));
        ends(&mut live);
        assert_eq!(live.dropped(), 1);
        live
    };
    told(&rows(|live| live.finish().unwrap()), &[(true, 0, 1.0), (false, 100, 1.0), (false, 200, 1.0)]);
    rows(Live::end_episode);
}

#[test]
fn time_without_rows_has_ticks_with_the_last_number_up_to_its_largest_age() {
    let mut live = live("max_age_secs = 0.15");
    live.advance(50 * MS).unwrap();
    told(&live, &[]);
    row(&mut live, 100, 1.0);
    live.advance(200 * MS).unwrap();
    told(&live, &[(true, 100, 1.0)]);
    live.advance(301 * MS).unwrap();
    row(&mut live, 301, 2.0);
    told(&live, &[(true, 100, 1.0), (false, 200, 1.0), (false, 300, -1.0)]);
    assert_eq!((live.age(0, 401 * MS), live.age(1, 0)), (Some(100 * MS), None));
}

#[test]
fn time_that_brings_no_row_changes_no_tick() {
    let ticks = |asks: bool| {
        let mut live = live("wait_secs = 0.05");
        for (i, ms) in [0, 70, 190, 150, 420, 433].into_iter().enumerate() {
            // Rows come up to 50 ms late; the time that passes is that at which they come.
            let now = [0, 70, 190, 195, 420, 433][i];
            for earlier in (0..now).step_by(7).filter(|_| asks) {
                live.advance(earlier * MS).unwrap();
            }
            row(&mut live, ms, i as f64);
        }
        live.advance(600 * MS).unwrap();
        live.to.0
    };
    assert_eq!(ticks(true), ticks(false));
    assert_eq!(ticks(true).len(), 6);
}

#[test]
fn where_silence_ends_an_episode_time_alone_has_no_ticks() {
    let mut live = live("[episodes]\nby = \"gap\"\nsecs = 1.0");
    row(&mut live, 0, 1.0);
    live.advance(5000 * MS).unwrap();
    told(&live, &[]);
    row(&mut live, 5000, 2.0);
    live.finish().unwrap();
    told(&live, &[(true, 0, 1.0), (true, 5000, 2.0)]);
}

#[test]
fn an_episode_that_ends_from_outside_is_followed_by_one_at_any_time() {
    let mut live = live("");
    row(&mut live, 1000, 1.0);
    row(&mut live, 1101, 2.0);
    live.end_episode();
    // The clock begins anew, so what comes from a later time is forgotten.
    row(&mut live, 10, f64::NAN);
    row(&mut live, 50, 3.0);
    row(&mut live, 211, 4.0);
    told(&live, &[(true, 1000, 1.0), (false, 1100, 1.0), (true, 110, 3.0), (false, 210, 3.0)]);
}

#[test]
fn a_message_from_the_future_is_dropped_and_time_goes_on() {
    let mut live = live("");
    for ms in [0, 100, 3_600_000, 200, 300, 400] {
        row(&mut live, ms, ms as f64);
    }
    live.finish().unwrap();
    let times: Vec<i64> = live.to.0.iter().map(|(_, ms, _)| *ms).collect();
    assert_eq!((times, live.jumps.dropped), (vec![0, 100, 200, 300, 400], 1));
}
