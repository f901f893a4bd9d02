//! Tests against a server that speaks as one of openpi does.

use super::*;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use offnominal_core::Rng;
use offnominal_core::policy::Policy;
use sha1::{Digest, Sha1};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};

fn spec() -> EnvSpec {
    let channel = |name: &str| Channel::new(name, "an action", "1", -1e6, 1e6);
    EnvSpec {
        observation: (0..2).map(|i| Channel::unbounded(&format!("x{i}"), "a number", "1")).collect(),
        action: vec![channel("u"), channel("v")],
        ..EnvSpec::new("w", "an environment of numbers")
    }
}

fn framed(kind: u8, payload: &[u8]) -> Vec<u8> {
    let length = (payload.len() as u16).to_be_bytes();
    [&[0x80 | kind, 126][..], &length, payload].concat()
}

/// The payload of a client's frame.
fn unmasked(stream: &mut impl Read) -> Option<Vec<u8>> {
    let mut head = [0; 2];
    stream.read_exact(&mut head).ok()?;
    let mut long = [0; 2];
    if head[1] & 0x7f == 126 {
        stream.read_exact(&mut long).ok()?;
    }
    let n = if head[1] & 0x7f == 126 { u16::from_be_bytes(long).into() } else { usize::from(head[1] & 0x7f) };
    let (mut mask, mut payload) = ([0; 4], vec![0; n]);
    stream.read_exact(&mut mask).ok()?;
    stream.read_exact(&mut payload).ok()?;
    payload.iter_mut().zip(mask.iter().cycle()).for_each(|(byte, mask)| *byte ^= mask);
    Some(payload)
}

fn greeted(mut stream: TcpStream, accept: Option<&str>) -> BufReader<TcpStream> {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let key = reader.by_ref().lines().map(Result::unwrap).take_while(|line| !line.is_empty());
    let key =
        key.filter_map(|line| Some(line.strip_prefix("Sec-WebSocket-Key: ")?.to_string())).last().unwrap();
    let digest = Sha1::digest(format!("{key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11"));
    let accept = accept.map_or(STANDARD.encode(digest), String::from);
    write!(stream, "HTTP/1.1 101 Switching Protocols\r\nSec-WebSocket-Accept: {accept}\r\n\r\n").unwrap();
    reader
}

fn map(entries: Vec<(&str, Value)>) -> Vec<u8> {
    let mut bytes = vec![];
    Value::Map(entries.into_iter().map(|(k, v)| (Value::Text(k.into()), v)).collect()).write(&mut bytes);
    bytes
}

fn serve(stream: TcpStream, answer: &impl Fn(Value) -> Vec<u8>) {
    let mut reader = greeted(stream, None);
    let mut out = reader.get_ref().try_clone().unwrap();
    out.write_all(&framed(2, &map(vec![("name", Value::Nil)]))).unwrap();
    while let Some(question) = unmasked(&mut reader) {
        out.write_all(&answer(Value::read(&question).unwrap())).unwrap();
    }
}

/// A server whose answers to a question are these frames; its address.
fn server(answer: impl Fn(Value) -> Vec<u8> + Clone + Send + 'static) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let (stream, answer) = (stream.unwrap(), answer.clone());
            std::thread::spawn(move || serve(stream, &answer));
        }
    });
    format!("openpi:ws://{address}")
}

/// Actions (x + 10 i, −x) for i = 0 … 2, x the first number of the observation.
fn three_actions(question: &Value) -> Vec<u8> {
    let seen = Array::of_value(question.get("observation/state").unwrap()).unwrap();
    let x = seen.numbers().unwrap()[0];
    let numbers: Vec<f64> = (0..3).flat_map(|i| [f64::from(x) + f64::from(10 * i), f64::from(-x)]).collect();
    let data = numbers.iter().flat_map(|x| x.to_le_bytes()).collect();
    let actions = Array { dtype: "<f8".into(), shape: vec![3, 2], data };
    framed(2, &map(vec![("actions", actions.into_value())]))
}

fn acted(policy: &mut dyn Policy, x: f32) -> [f32; 2] {
    let mut action = [0.0; 2];
    policy.act(&[x, 0.0], &mut action, &mut Rng::new(0));
    action
}

#[test]
fn actions_of_a_chunk_are_carried_out_one_after_another() {
    let address = server(|question| three_actions(&question));
    let mut policy = crate::remote::open(&format!("{address}?steps=2"), &spec()).unwrap().0;
    let found = [1.0, 2.0, 3.0].map(|x| acted(policy.as_mut(), x));
    assert_eq!(found, [[1.0, -1.0], [11.0, -1.0], [3.0, -3.0]]);
    policy.reset();
    assert_eq!(acted(policy.as_mut(), 4.0), [4.0, -4.0]);
    let mut each = policy.fork();
    assert_eq!([acted(each.as_mut(), 5.0), acted(policy.as_mut(), 6.0)], [[5.0, -5.0], [14.0, -4.0]]);
    assert_eq!(policy.health(), Ok(()));
}

#[track_caller]
fn fails(answer: impl Fn(Value) -> Vec<u8> + Clone + Send + 'static, want: &str) {
    let mut policy = crate::remote::open(&format!("{}?timeout=0.5", server(answer)), &spec()).unwrap().0;
    assert!(acted(policy.as_mut(), 1.0)[0].is_nan());
    let why = policy.health().unwrap_err();
    assert!(why.contains(want), "{why}");
}

#[test]
fn what_is_no_action_is_named() {
    fails(|_| framed(1, b"Traceback\nValueError: no\n"), "an error of the server: ValueError: no");
    fails(|_| framed(8, b"\x03\xf3full"), "closed the connection: code 1011 \"full\"");
    fails(|_| framed(2, &map(vec![])), "expected a map with actions, found none");
    fails(|_| framed(2, b"\xc1"), "expected a value without extensions, found 0xc1");
    fails(|_| vec![], "expected an answer within 0.5 s, found none");
    let wrong = Array::of_numbers(&[1.0, 2.0, 3.0]).into_value();
    let wrong = map(vec![("actions", wrong)]);
    fails(move |_| framed(2, &wrong), "actions: expected the shape [horizon, 2], found [3]");
}

#[test]
fn another_server_is_not_taken_for_one() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        let mut first = listener.accept().unwrap().0;
        let request = BufReader::new(first.try_clone().unwrap()).lines().map(Result::unwrap);
        assert!(request.take_while(|line| !line.is_empty()).count() > 3);
        first.write_all(b"HTTP/1.1 404 Not Found\r\n\r\n").unwrap();
        drop(greeted(listener.accept().unwrap().0, Some("AAAA")));
    });
    for want in ["expected a WebSocket, found \"HTTP/1.1 404 Not Found\"", "found another answer"] {
        let error = crate::remote::open(&format!("openpi:ws://{address}"), &spec()).err().unwrap();
        assert!(format!("{error:#}").contains(want), "{error:#}");
    }
}

#[test]
fn values_come_back() {
    let all = Value::List(vec![
        Value::Nil,
        Value::Bool(true),
        Value::Int(-3),
        Value::Float(0.5),
        Value::Text("a".into()),
        Value::Map(vec![(Value::Bytes(vec![1]), Value::List(vec![]))]),
    ]);
    let mut bytes = vec![];
    all.write(&mut bytes);
    assert_eq!(Value::read(&bytes).unwrap(), all);
    // msgpack.packb([-1, 200, -200, 3.5, "é", b"x", {"k": 70000}])
    let short =
        b"\x97\xff\xcc\xc8\xd1\xff8\xcb@\x0c\0\0\0\0\0\0\xa2\xc3\xa9\xc4\x01x\x81\xa1k\xce\0\x01\x11p";
    let Value::List(items) = Value::read(short).unwrap() else { panic!("a list") };
    assert_eq!(items[..3], [Value::Int(-1), Value::Int(200), Value::Int(-200)]);
    assert_eq!(items[6].get("k"), Some(&Value::Int(70_000)));
    for hostile in
        [&b"\xdd\xff\xff\xff\xff"[..], &[0x91; 40], b"\xc6\xff\xff\xff\xffx", b"\xa1\xff", b"\xc0\xc0", b""]
    {
        assert!(Value::read(hostile).is_err(), "{hostile:?}");
    }
}

#[test]
fn an_image_has_the_planes_of_a_pixel_together() {
    let image = Image { frames: 1, planes: 3, height: 1, columns: 2 };
    let array = of_image(&[1.0, 2.0, 11.0, 12.0, 21.0, 300.0], image);
    assert_eq!((array.shape, array.data), (vec![1, 2, 3], vec![1, 11, 21, 2, 12, 255]));
}
