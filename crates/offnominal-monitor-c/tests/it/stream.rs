//! Messages go in, and the verdicts are those of the Rust monitor on the numbers that they hold.

use crate::calls::{Opened, last_error, text};
use crate::support::{about, opened};
use offnominal_core::Seed;
use offnominal_laws::nominal_episodes;
use offnominal_monitor::encode;
use offnominal_monitor_c as c;
use offnominal_monitor_c::{Status, Stream, Tick, Verdict};
use std::ffi::{CString, c_char};
use std::mem::MaybeUninit;
use std::ptr::{null, null_mut};
use std::sync::LazyLock;

/// Each observation and the action are a topic of their own, so that each comes when it likes.
const MAPPING: &str = r#"version = 1
observation = [
    { column = "/x:data", name = "x" }, { column = "/y:data", name = "y" }, { column = "/z:data", name = "z" },
]
command = [{ column = "/push:data", name = "push" }]
label = "/fault:data"
[clock]
rate_hz = 10.0
max_age_secs = 0.25
"#;

/// The monitor of the other tests with a mapping in its file.
static FILE: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let (before, archive) = opened(&crate::support::FILE).contents().unwrap();
    let names = about(before.detector, before.threshold, &["x", "y", "z"], &["push"]);
    encode(
        &offnominal_monitor::About { groups: before.groups, mapping: Some(MAPPING.into()), ..names },
        &archive,
    )
});

/// A stream that is closed at the end.
struct Open(*mut Stream);

impl Drop for Open {
    fn drop(&mut self) {
        // SAFETY: it was opened, and is closed once.
        unsafe { c::offnominal_stream_close(self.0) };
    }
}

impl Open {
    fn new(monitor: &Opened, mapping: Option<&str>) -> Result<Open, Status> {
        let mapping = mapping.map(|text| CString::new(text).unwrap());
        let mut at = null_mut();
        // SAFETY: the monitor is open; the text is null or ends with a zero.
        let status = unsafe {
            let mapping = mapping.as_ref().map_or(null(), |text| text.as_ptr());
            c::offnominal_stream_open(monitor.0, mapping, &mut at)
        };
        if status == Status::Ok { Ok(Open(at)) } else { Err(status) }
    }

    fn define(&self, topic: usize, definition: &str) -> Status {
        let definition = CString::new(definition).unwrap();
        // SAFETY: the stream is open, and texts end with a zero.
        unsafe {
            let kind: *const c_char = c"std_msgs/msg/Float64".as_ptr();
            c::offnominal_stream_define(self.0, topic, kind, definition.as_ptr())
        }
    }

    /// A number that comes at a time in milliseconds.
    fn say(&self, topic: usize, ms: i64, x: f64) -> Status {
        let bytes = [&[0, 1, 0, 0][..], &x.to_le_bytes()].concat();
        self.message(topic, ms, &bytes)
    }

    fn message(&self, topic: usize, ms: i64, bytes: &[u8]) -> Status {
        // SAFETY: the stream is open, and there are as many bytes as is said.
        unsafe { c::offnominal_stream_message(self.0, topic, ms * 1_000_000, bytes.as_ptr(), bytes.len()) }
    }

    fn next(&self, monitor: &Opened) -> Result<(Tick, Verdict), Status> {
        let (mut tick, mut verdict) = (MaybeUninit::uninit(), MaybeUninit::uninit());
        // SAFETY: both are open, and there is room for the results, which are written where `Ok` is returned.
        unsafe {
            match c::offnominal_stream_next(self.0, monitor.0, tick.as_mut_ptr(), verdict.as_mut_ptr()) {
                Status::Ok => Ok((tick.assume_init(), verdict.assume_init())),
                status => Err(status),
            }
        }
    }
}

/// A monitor with its stream, whose topics are defined.
fn both() -> (Opened, Open) {
    let monitor = Opened::from_bytes(&FILE).unwrap();
    let stream = Open::new(&monitor, None).unwrap();
    (0..4).for_each(|topic| assert_eq!(stream.define(topic, "float64 data\n"), Status::Ok));
    (monitor, stream)
}

#[test]
fn verdicts_on_messages_are_those_on_their_numbers() {
    let ((monitor, stream), mut rust) = (both(), opened(&FILE));
    let episode = nominal_episodes(Seed(5), 1, 40).remove(0);
    let (mut told, mut last) = (Vec::new(), f32::NAN);
    for (t, seen) in episode.signals().transitions().enumerate() {
        // y is silent for a while: its last number holds for two steps, and then it is missing.
        let is_silent = (10..20).contains(&t);
        for (topic, x) in seen.obs.iter().chain(seen.action).enumerate() {
            if topic != 1 || !is_silent {
                assert_eq!(stream.say(topic, 100 * t as i64, f64::from(*x)), Status::Ok);
            }
        }
        last = if is_silent { last } else { seen.obs[1] };
        let y = if (12..20).contains(&t) { f32::NAN } else { last };
        let want = rust.step(&[seen.obs[0], y, seen.obs[2]], seen.action).unwrap();
        told.extend(want.map(|v| (t as i64, Verdict::from(v))));
        // SAFETY: the stream is open.
        assert_eq!(unsafe { c::offnominal_stream_advance(stream.0, 100_000_000 * t as i64 + 1) }, Status::Ok);
        if let Some((at, want)) = told.pop() {
            let (tick, verdict) = stream.next(&monitor).unwrap();
            assert_eq!((tick.time_nanos, verdict), (at * 100_000_000, want));
            assert_eq!((tick.episode, tick.dropped), (0, 0));
            assert!((tick.secs - at as f64 * 0.1).abs() < 1e-9);
        }
        assert_eq!(stream.next(&monitor).err(), Some(Status::NoVerdict));
    }
    // SAFETY: the stream is open.
    let age = |column| unsafe { c::offnominal_stream_age_secs(stream.0, column, 4_000_000_000) };
    assert!((age(0) - 0.1).abs() < 1e-9 && age(9).is_infinite());
}

#[test]
fn its_episodes_are_of_the_group_that_was_told() {
    let (mut monitor, stream) = both();
    let mut rust = opened(&FILE);
    rust.begin(Some("push")).unwrap();
    assert_eq!(monitor.reset_group(c"push"), Status::Ok);
    for ms in [0, 100, 201] {
        (0..4).for_each(|topic| assert_eq!(stream.say(topic, ms, 0.0), Status::Ok));
    }
    assert_eq!(stream.next(&monitor).map(|(_, v)| v.threshold), Ok(rust.threshold()));
    assert_ne!(rust.threshold(), rust.about().threshold.value);
}

#[test]
fn its_episodes_are_of_the_task_that_the_messages_tell() {
    for (task, group) in [("push", Some("push")), ("lift", Some("lift")), ("wash", None)] {
        let monitor = Opened::from_bytes(&FILE).unwrap();
        let stream = Open::new(&monitor, Some(&format!("task = \"/task:data\"\n{MAPPING}"))).unwrap();
        (0..4).for_each(|topic| assert_eq!(stream.define(topic, "float64 data\n"), Status::Ok));
        assert_eq!(stream.define(4, "string data\n"), Status::Ok);
        let said = [&[0, 1, 0, 0, 5, 0, 0, 0][..], task.as_bytes(), &[0]].concat();
        assert_eq!(stream.message(4, 0, &said), Status::Ok);
        for ms in [0, 100, 201] {
            (0..4).for_each(|topic| assert_eq!(stream.say(topic, ms, 0.0), Status::Ok));
        }
        let mut rust = opened(&FILE);
        rust.begin(group).unwrap();
        let found = stream.next(&monitor).map(|(_, v)| (v.threshold, v.beyond_promise));
        assert_eq!(found, Ok((rust.threshold(), u32::from(group.is_none()))), "{task}");
    }
}

#[test]
fn steps_of_another_length_are_beyond_the_promise() {
    for (step_ms, is_beyond) in [(100, 1), (400, 1), (20, 0)] {
        let (mut before, archive) = opened(&FILE).contents().unwrap();
        before.dt_secs = 0.02;
        let monitor = Opened::from_bytes(&encode(&before, &archive)).unwrap();
        let mapping = MAPPING.replace("10.0", &format!("{}", 1000.0 / f64::from(step_ms)));
        let stream = Open::new(&monitor, Some(&mapping)).unwrap();
        (0..4).for_each(|topic| assert_eq!(stream.define(topic, "float64 data\n"), Status::Ok));
        let mut said = Vec::new();
        for step in 0..15 {
            (0..4)
                .for_each(|topic| assert_eq!(stream.say(topic, i64::from(step * step_ms), 0.0), Status::Ok));
            said.extend(stream.next(&monitor).map(|(_, v)| v.beyond_promise));
        }
        assert_eq!((said[0], said[said.len() - 1]), (0, is_beyond), "{step_ms}");
    }
}

#[test]
fn an_episode_ends_when_it_is_said() {
    let (monitor, stream) = both();
    let say = |ms: i64| (0..4).for_each(|topic| assert_eq!(stream.say(topic, ms, 0.0), Status::Ok));
    [5000, 5100, 5201].into_iter().for_each(say);
    assert_eq!(stream.next(&monitor).map(|(tick, v)| (tick.episode, v.step)), Ok((0, 0)));
    // SAFETY: the stream is open.
    assert_eq!(unsafe { c::offnominal_stream_end_episode(stream.0) }, Status::Ok);
    assert_eq!(stream.next(&monitor).err(), Some(Status::NoVerdict), "what waits belongs to the old one");
    [10, 110, 211].into_iter().for_each(say);
    let found = stream.next(&monitor).map(|(tick, v)| (tick.episode, v.step, tick.time_nanos));
    assert_eq!(found, Ok((1, 0, 110_000_000)));
}

#[test]
fn topics_and_columns_are_those_of_the_mapping_but_for_what_judges() {
    let (_, stream) = both();
    // SAFETY: the stream is open, and texts stay until it is closed.
    unsafe {
        assert_eq!(c::offnominal_stream_n_topics(stream.0), 4);
        assert_eq!(text(c::offnominal_stream_topic(stream.0, 3)), "/push");
        assert_eq!(c::offnominal_stream_n_columns(stream.0), 4);
        assert_eq!(text(c::offnominal_stream_column(stream.0, 1)), "/y:data");
        assert!(c::offnominal_stream_topic(stream.0, 4).is_null());
        assert_eq!(c::offnominal_stream_rate_hz(stream.0), 10.0);
        assert_eq!((c::offnominal_stream_n_topics(null()), c::offnominal_stream_rate_hz(null())), (0, 0.0));
        assert!(c::offnominal_stream_age_secs(null(), 0, 0).is_infinite());
        c::offnominal_stream_close(null_mut());
    }
}

#[test]
fn a_mapping_that_cannot_be_used_is_refused_and_named() {
    let (plain, monitor) = (Opened::from_bytes(&crate::support::FILE).unwrap(), both().0);
    let refused = |mapping: Option<&str>| {
        assert_eq!(Open::new(&plain, mapping).err(), Some(Status::Mapping));
        last_error()
    };
    assert_eq!(refused(None), "mapping: expected one, as the monitor was fitted on linear, found none");
    assert!(refused(Some("version = 2")).contains("TOML parse error"));
    let other = MAPPING.replace("\"y\"", "\"w\"");
    assert_eq!(
        refused(Some(&other)),
        "mapping: observation: expected the channels of the monitor, x, y, z; found x, w, z"
    );
    let table = MAPPING.replace("/z:data", "z");
    assert_eq!(
        refused(Some(&table)),
        "mapping: expected columns such as \"/imu:angular_velocity.x\", found \"z\""
    );
    assert!(
        refused(Some(&MAPPING.replace("rate_hz = 10.0", ""))).contains("as the channels are in 4 topics")
    );
    assert!(Open::new(&plain, Some(MAPPING)).is_ok() && Open::new(&monitor, Some(MAPPING)).is_ok());
}

#[test]
fn a_message_that_cannot_be_read_is_left_out_and_named() {
    let monitor = Opened::from_bytes(&FILE).unwrap();
    let stream = Open::new(&monitor, None).unwrap();
    assert_eq!(stream.say(0, 0, 1.0), Status::Message);
    assert_eq!(last_error(), "topic /x: expected its definition before its messages, found none");
    assert_eq!(stream.define(0, "Other data\n"), Status::Message);
    assert!(
        last_error().contains("expected the definition of std_msgs/Other, found none"),
        "{}",
        last_error()
    );
    assert_eq!(stream.define(0, "float64 data\n"), Status::Ok);
    assert_eq!(stream.define(0, "float64 data\n"), Status::Message);
    assert_eq!(stream.message(0, 1, &[0, 1, 0, 0, 7]), Status::Message);
    assert!(
        last_error().starts_with("topic /x: time 1000000 ns: expected at least 8 bytes"),
        "{}",
        last_error()
    );
    assert_eq!(stream.say(9, 0, 1.0), Status::Message);
    assert_eq!(last_error(), "topic: expected one of 4, found number 9");
    assert_eq!(stream.say(0, 2, 1.0), Status::Ok);
}

#[test]
fn a_clock_that_jumps_by_years_asks_for_no_memory() {
    let (monitor, stream) = both();
    (0..4).for_each(|topic| assert_eq!(stream.say(topic, 0, 0.0), Status::Ok));
    // SAFETY: the stream is open.
    let advance = |ms: i64| unsafe { c::offnominal_stream_advance(stream.0, ms * 1_000_000) };
    assert_eq!(advance(100 * 365 * 86_400_000), Status::Message);
    assert!(last_error().contains("expected at most 200000000 steps"), "{}", last_error());
    assert_eq!(advance(86_400_000), Status::Message);
    assert!(
        last_error().contains("expected at most 100000 steps since the message before"),
        "{}",
        last_error()
    );
    assert!(stream.next(&monitor).is_ok());
    for time in [i64::MIN, i64::MAX] {
        // SAFETY: the stream is open, and there are as many bytes as is said.
        let (said, advanced) = unsafe {
            let bytes = [0; 12];
            let said = c::offnominal_stream_message(stream.0, 0, time, bytes.as_ptr(), bytes.len());
            (said, c::offnominal_stream_advance(stream.0, time))
        };
        assert_eq!((said, advanced), (Status::Message, Status::Message));
    }
    assert!(last_error().starts_with("expected a time within 146 years of 1970"), "{}", last_error());
}

#[test]
fn windows_and_steps_that_never_end_are_no_trouble() {
    let monitor = Opened::from_bytes(&FILE).unwrap();
    let endless = format!("{MAPPING}[episodes]\nby = \"window\"\nsecs = 1e300\n");
    let stream = Open::new(&monitor, Some(&endless)).unwrap();
    (0..4).for_each(|topic| assert_eq!(stream.define(topic, "float64 data\n"), Status::Ok));
    for ms in [0, 101, 202] {
        (0..4).for_each(|topic| assert_eq!(stream.say(topic, ms, 0.0), Status::Ok));
    }
    assert_eq!(stream.next(&monitor).map(|(tick, _)| tick.episode), Ok(0));
    let slow = MAPPING.replace("rate_hz = 10.0", "rate_hz = 1e-300");
    let stream = Open::new(&monitor, Some(&slow)).unwrap();
    (0..4).for_each(|topic| assert_eq!(stream.define(topic, "float64 data\n"), Status::Ok));
    (0..4).for_each(|topic| assert_eq!(stream.say(topic, 0, 0.0), Status::Ok));
    (0..4).for_each(|topic| assert_eq!(stream.say(topic, 1, 0.0), Status::Ok));
    assert_eq!(stream.next(&monitor).err(), Some(Status::NoVerdict));
}

#[test]
fn null_addresses_of_streams_are_errors() {
    let ((monitor, stream), mut at) = (both(), null_mut());
    let (mut tick, mut verdict) = (MaybeUninit::uninit(), MaybeUninit::uninit());
    let (s, m, t, v) = (stream.0, monitor.0, tick.as_mut_ptr(), verdict.as_mut_ptr());
    // SAFETY: addresses are sound or null, which the library looks at.
    let calls = unsafe {
        [
            c::offnominal_stream_open(null(), null(), &mut at),
            c::offnominal_stream_open(m, null(), null_mut()),
            c::offnominal_stream_define(null_mut(), 0, c"a".as_ptr(), c"a".as_ptr()),
            c::offnominal_stream_define(s, 0, null(), c"a".as_ptr()),
            c::offnominal_stream_define(s, 0, c"a".as_ptr(), null()),
            c::offnominal_stream_message(null_mut(), 0, 0, [0].as_ptr(), 1),
            c::offnominal_stream_message(s, 0, 0, null(), 1),
            c::offnominal_stream_advance(null_mut(), 0),
            c::offnominal_stream_end_episode(null_mut()),
            c::offnominal_stream_next(null_mut(), m, t, v),
            c::offnominal_stream_next(s, null_mut(), t, v),
            c::offnominal_stream_next(s, m, null_mut(), v),
            c::offnominal_stream_next(s, m, t, null_mut()),
        ]
    };
    assert_eq!(calls, [Status::Pointer; 13]);
}

#[test]
fn bytes_of_any_kind_are_read_or_refused() {
    let monitor = Opened::from_bytes(&FILE).unwrap();
    let stream = Open::new(&monitor, None).unwrap();
    assert_eq!(
        stream.define(0, "string[] name\nfloat64[] position\nfloat64 data\nuint8[] rest\n"),
        Status::Ok
    );
    let mut rng = Seed(3).rng();
    let whole = [
        &[
            0, 1, 0, 0, 2, 0, 0, 0, 2, 0, 0, 0, b'a', 0, 0, 0, 2, 0, 0, 0, b'b', 0, 0, 0, 1, 0, 0, 0, 0, 0,
            0, 0,
        ][..],
        &[0; 24],
    ]
    .concat();
    let mut read = 0;
    for ms in 0..20_000 {
        let mut bytes = whole.clone();
        for _ in 0..rng.below(4) {
            let at = rng.below(bytes.len());
            bytes[at] ^= 1 << rng.below(8);
        }
        bytes.truncate(whole.len() - rng.below(2) * rng.below(whole.len()));
        let status = stream.message(0, ms, &bytes);
        assert!([Status::Ok, Status::Message].contains(&status), "{status:?}: {}", last_error());
        read += u32::from(status == Status::Ok);
    }
    assert!((2_000..18_000).contains(&read), "{read} of 20000 were read");
}

#[test]
fn steps_and_messages_are_less_the_references_of_their_channels() {
    const FAR: f64 = 1e9;
    let (mut about, archive) = opened(&FILE).contents().unwrap();
    about.observation[1].reference = FAR;
    let far = encode(&about, &archive);
    let (mut rust, mut stepped, monitor) =
        (opened(&FILE), Opened::from_bytes(&far).unwrap(), Opened::from_bytes(&far).unwrap());
    let stream = Open::new(&monitor, None).unwrap();
    (0..4).for_each(|topic| assert_eq!(stream.define(topic, "float64 data\n"), Status::Ok));
    let mut before = Err(Status::NoVerdict);
    for (t, seen) in nominal_episodes(Seed(5), 1, 40).remove(0).signals().transitions().enumerate() {
        // Less digits than double precision has left at that distance.
        let near: Vec<f64> = seen.obs.iter().map(|&x| (f64::from(x) * 65536.0).round() / 65536.0).collect();
        let (obs, action) = ([near[0], near[1] + FAR, near[2]], [f64::from(seen.action[0])]);
        let want = rust.step(&near, &action).unwrap().map(Verdict::from).ok_or(Status::NoVerdict);
        assert_eq!(stepped.step(&obs, &action), want);
        for (topic, x) in obs.iter().chain(&action).enumerate() {
            assert_eq!(stream.say(topic, 100 * t as i64, *x), Status::Ok);
        }
        // A tick is over when a later message comes.
        assert_eq!(stream.next(&monitor).map(|(_, verdict)| verdict), before);
        before = want;
    }
    assert_eq!(stepped.step(&[0.0, 1e39, 0.0], &[0.0]), Err(Status::Refused));
    assert_eq!(
        last_error(),
        "obs, channel y: expected a number within 3.4028235e38 of 1000000000, found 1e39"
    );
}
