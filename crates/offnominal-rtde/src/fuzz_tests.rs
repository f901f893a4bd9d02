//! Bytes of every kind: nothing that comes over the wire makes either end panic, hang, or keep much memory.

use super::client::{Client, Wishes};
use super::link::{Link, LinkError};
use super::message::{Data, Reply, Request, Setup, Text, head};
use super::package::{Inbox, Package};
use super::simulated::Controller;
use super::simulated::connection::Connection;
use super::simulated::dashboard;
use proptest::prelude::*;
use std::sync::OnceLock;

fn kind() -> impl Strategy<Value = u8> {
    prop::sample::select(b"VvMOISPU".to_vec())
}

/// A package of a valid kind with any payload.
fn package() -> impl Strategy<Value = Vec<u8>> {
    (kind(), prop::collection::vec(any::<u8>(), 0..200)).prop_map(|(kind, payload)| {
        let size = (payload.len() + 3) as u16;
        [size.to_be_bytes().as_slice(), &[kind], &payload].concat()
    })
}

/// Bytes that are partly packages.
fn stream() -> impl Strategy<Value = Vec<u8>> {
    let noise = prop::collection::vec(any::<u8>(), 0..20);
    prop::collection::vec(prop_oneof![4 => package(), 4 => request_bytes(), 1 => noise], 0..12)
        .prop_map(|parts| parts.concat())
}

fn request_bytes() -> impl Strategy<Value = Vec<u8>> {
    let names = prop_oneof![
        Just("timestamp,actual_q,"),
        Just("input_int_register_0,input_double_register_0"),
        Just("input_int_register_48"),
        Just(",,,"),
    ];
    (0..6_u8, names, any::<f64>(), any::<Vec<u8>>()).prop_map(|(which, names, frequency_hz, packed)| {
        let mut out = Vec::new();
        let request = match which {
            0 => Request::Protocol(2),
            1 => Request::Outputs { frequency_hz, names },
            2 => Request::Inputs { names },
            3 => Request::Start,
            4 => Request::Data(Data { recipe: 1, packed: &packed }),
            _ => Request::Text(Text { message: names, source: "x", level: 3 }),
        };
        request.write(&mut out);
        out
    })
}

/// Made once: it takes a model.
fn controller() -> Controller {
    static PRISTINE: OnceLock<Controller> = OnceLock::new();
    PRISTINE.get_or_init(|| Controller::new().unwrap()).clone()
}

/// A link on which fixed bytes come, piece by piece, and then nothing.
struct Tape(Vec<Vec<u8>>);

impl Link for Tape {
    fn send(&mut self, _: &[u8]) -> Result<(), LinkError> {
        Ok(())
    }

    fn receive(&mut self, into: &mut Vec<u8>) -> Result<(), LinkError> {
        into.extend(self.0.pop().ok_or(LinkError::Silent(0.0))?);
        Ok(())
    }

    fn play(&mut self, _: &str) -> Result<(), LinkError> {
        Ok(())
    }

    fn fork(&self) -> Option<Box<dyn Link>> {
        None
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_bytes_are_packages_or_an_error(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        let mut inbox = Inbox::default();
        inbox.buffer().extend_from_slice(&bytes);
        while let Ok(Some(package)) = inbox.take() {
            let _ = (Request::read(package), Reply::read(package));
        }
    }

    #[test]
    fn what_is_written_is_read(text in "\\PC{0,300}", level: u8, recipe: u8, frequency_hz in 1.0..500.0, packed: Vec<u8>) {
        let message = head(&text);
        for request in [
            Request::Text(Text { message, source: "x", level }),
            Request::Outputs { frequency_hz, names: &text },
            Request::Inputs { names: &text },
            Request::Data(Data { recipe, packed: &packed }),
        ] {
            let mut bytes = Vec::new();
            request.write(&mut bytes);
            let (package, size) = Package::first(&bytes).unwrap().unwrap();
            prop_assert_eq!((Request::read(package).unwrap(), size), (request, bytes.len()));
        }
        let reply = Reply::Outputs(Setup { recipe, types: &text });
        let mut bytes = Vec::new();
        reply.write(&mut bytes);
        prop_assert_eq!(Reply::read(Package::first(&bytes).unwrap().unwrap().0).unwrap(), reply);
    }

    #[test]
    fn a_controller_survives_any_client(streams in prop::collection::vec(stream(), 1..4)) {
        let mut controller = controller();
        controller.play();
        let mut connection = Connection::new(&controller);
        let mut out = Vec::new();
        for bytes in streams {
            let _ = connection.receive(&bytes, &mut controller, &mut out);
            controller.tick();
            connection.publish(&controller, &mut out);
        }
        prop_assert!(controller.arm.q().iter().all(|q| q.is_finite()));
    }

    #[test]
    fn any_numbers_in_the_registers_leave_the_arm_finite(
        command in prop_oneof![0..40_i32, Just(255), any::<i32>()],
        arguments: [f64; 11],
    ) {
        let mut controller = controller();
        controller.play();
        controller.registers.input_int[0] = command;
        controller.registers.input_double[..11].copy_from_slice(&arguments);
        (0..20).for_each(|_| controller.tick());
        prop_assert!(controller.arm.q().iter().all(|q| q.is_finite()));
    }

    #[test]
    fn a_client_survives_any_controller(mut pieces in prop::collection::vec(stream(), 0..6)) {
        let mut greeting = Vec::new();
        for reply in [
            Reply::Protocol(true),
            Reply::Outputs(Setup { recipe: 1, types: "DOUBLE" }),
            Reply::Inputs(Setup { recipe: 1, types: "INT32" }),
            Reply::Start(true),
        ] {
            reply.write(&mut greeting);
        }
        pieces.push(greeting);
        let wishes = Wishes { outputs: "timestamp", inputs: "input_int_register_0", frequency_hz: 125.0 };
        if let Ok(mut client) = Client::open(Box::new(Tape(pieces)), wishes) {
            while client.receive().is_ok() {}
        }
    }

    #[test]
    fn the_dashboard_answers_any_line(line in "\\PC{0,80}") {
        prop_assert!(dashboard::answer(&line, &mut controller()).is_none_or(|a| !a.contains('\n')));
    }
}
