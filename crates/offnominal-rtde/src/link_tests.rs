//! A robot at the other end of a link: in lock step, over sockets, and when something is wrong with it.

use super::link::{Link, LinkError, Ports, Tcp};
use super::robot::{Robot, Servo};
use super::simulated::station::Settings;
use super::simulated::{Controller, Loopback, Network, Served};
use crate::ur3e::kinematics::HOME;
use std::io::Write;
use std::net::TcpListener;

const HERE: &str = "127.0.0.1";

fn robot() -> Robot {
    Robot::open(Box::new(Loopback::new(Controller::new().unwrap()))).unwrap()
}

fn off(robot: &Robot, target: &[f64; 6]) -> f64 {
    robot.state().q.iter().zip(target).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
}

#[test]
fn a_robot_travels_and_follows() {
    let mut robot = robot();
    let there = HOME.map(|q| q + 0.3);
    robot.travel(&there).unwrap();
    assert!(off(&robot, &there) < 2e-3, "off by {}", off(&robot, &there));
    let target = HOME.map(|q| q + 0.4);
    robot.follow(&target, Servo::default()).unwrap();
    robot.wait(robot.state().time_secs + 0.04).unwrap();
    assert!(off(&robot, &target) > 0.01, "it does not jump");
    robot.wait(robot.state().time_secs + 0.6).unwrap();
    assert!(off(&robot, &target) < 2e-3, "off by {}", off(&robot, &target));
}

#[test]
fn a_copy_has_the_same_future_and_the_original_does_not_move() {
    let mut robot = robot();
    robot.travel(&HOME.map(|q| q - 0.1)).unwrap();
    let go = |robot: &mut Robot| {
        robot.follow(&HOME, Servo::default()).unwrap();
        robot.wait(robot.state().time_secs + 0.2).unwrap();
        *robot.state()
    };
    let (before, mut copy) = (*robot.state(), robot.fork().unwrap());
    let future = go(&mut copy);
    assert_eq!(*robot.state(), before);
    assert_eq!(go(&mut robot), future);
}

#[test]
fn commands_beyond_the_limits_are_not_sent() {
    let mut robot = robot();
    for wrong in [HOME.map(|q| q + 0.3), [7.0; 6], [f64::NAN; 6]] {
        assert!(matches!(robot.follow(&wrong, Servo::default()), Err(LinkError::OutOfReach(_))));
    }
    assert!(matches!(robot.travel(&[f64::INFINITY; 6]), Err(LinkError::OutOfReach(_))));
}

/// Smoothing and latency make the arm lag more, each by itself.
#[test]
fn the_servo_is_as_slow_as_it_is_told() {
    let covered = |how: Servo| {
        let mut robot = robot();
        let start = robot.state().q[0];
        for i in 1..=10 {
            robot.follow(&HOME.map(|q| q + 0.01 * f64::from(i)), how).unwrap();
            robot.wait(robot.state().time_secs + 0.04).unwrap();
        }
        robot.state().q[0] - start
    };
    let nominal = covered(Servo::default());
    assert!((0.05..0.1).contains(&nominal), "{nominal}");
    assert!(covered(Servo { lookahead_secs: 0.2, ..Servo::default() }) < nominal - 0.01);
    assert!(covered(Servo { latency_secs: 0.1, ..Servo::default() }) < nominal - 0.002);
}

/// A link that fails after a while.
struct Faulty {
    inner: Loopback,
    waits_left: usize,
    fault: LinkFault,
}

#[derive(Clone, Copy)]
enum LinkFault {
    Breaks,
    Garbage,
    Freezes,
    Texts,
}

impl Link for Faulty {
    fn send(&mut self, bytes: &[u8]) -> Result<(), LinkError> {
        self.inner.send(bytes)
    }

    fn receive(&mut self, into: &mut Vec<u8>) -> Result<(), LinkError> {
        let Some(left) = self.waits_left.checked_sub(1) else { return self.fail(into) };
        self.waits_left = left;
        self.inner.receive(into)
    }

    fn play(&mut self, script: &str) -> Result<(), LinkError> {
        self.inner.play(script)
    }

    fn fork(&self) -> Option<Box<dyn Link>> {
        None
    }
}

impl Faulty {
    fn fail(&mut self, into: &mut Vec<u8>) -> Result<(), LinkError> {
        match self.fault {
            LinkFault::Breaks => return Err(LinkError::Broken("reset by peer".into())),
            LinkFault::Garbage => into.extend_from_slice(b"HTTP/1.1 400 Bad Request"),
            // The package of another moment, again and again: values are well-formed, and old.
            LinkFault::Freezes => self.inner.clone().receive(into)?,
            LinkFault::Texts => into.extend_from_slice(&[0, 8, b'M', 1, b'a', 1, b'b', 3]),
        }
        Ok(())
    }
}

fn fails_as(fault: LinkFault) -> LinkError {
    let inner = Loopback::new(Controller::new().unwrap());
    let mut robot = Robot::open(Box::new(Faulty { inner, waits_left: 50, fault })).unwrap();
    robot.wait(1e6).unwrap_err()
}

#[test]
fn each_fault_of_the_link_has_its_message() {
    assert_eq!(fails_as(LinkFault::Breaks), LinkError::Broken("reset by peer".into()));
    assert!(matches!(fails_as(LinkFault::Garbage), LinkError::Garbage(_)));
    assert!(matches!(fails_as(LinkFault::Freezes), LinkError::Frozen(_)));
    // A robot that only talks: its texts do not count as life.
    assert!(matches!(fails_as(LinkFault::Texts), LinkError::Silent(_)));
}

#[test]
fn a_safety_stop_ends_it_with_its_name() {
    type Stop = fn(&mut Controller);
    let stops: [(Stop, &str); 2] =
        [(|c| c.protective_stop("a test"), "protective stop"), (|c| c.emergency_stop(), "emergency stop")];
    for (stop, name) in stops {
        let mut controller = Controller::new().unwrap();
        stop(&mut controller);
        let error = Robot::open(Box::new(Loopback::new(controller))).err().unwrap();
        assert_eq!(error, LinkError::Stopped(name));
    }
}

#[test]
fn a_robot_without_power_does_not_play() {
    let mut controller = Controller::new().unwrap();
    controller.switch(false);
    let error = Robot::open(Box::new(Loopback::new(controller))).err().unwrap();
    assert!(error.to_string().contains("remote control, powered and released"), "{error}");
}

fn local(rtde: u16) -> Ports {
    Ports { rtde, ..Ports::default() }
}

#[test]
fn a_host_that_does_not_answer_is_named() {
    let free = TcpListener::bind((HERE, 0)).unwrap().local_addr().unwrap().port();
    let error = Tcp::connect(HERE, local(free)).err().unwrap().to_string();
    assert!(error.starts_with(&format!("127.0.0.1:{free} does not answer")), "{error}");
    let error = Tcp::connect("no such host", local(1)).err().unwrap().to_string();
    assert!(error.starts_with("no such host:1 does not answer"), "{error}");
}

/// What a robot is found to be that says `bytes` and then nothing.
fn found_of(bytes: &'static [u8], stays: bool) -> LinkError {
    let listener = TcpListener::bind((HERE, 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    let server = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let _ = stream.write_all(bytes);
        // The other end hears of a closed socket at once.
        if stays {
            let _ = std::io::Read::read_to_end(&mut stream, &mut Vec::new());
        }
    });
    let error = Robot::open(Box::new(Tcp::connect(HERE, local(port)).unwrap())).err().unwrap();
    server.join().unwrap();
    error
}

#[test]
fn hosts_that_are_no_robots_are_told_from_robots() {
    assert!(matches!(found_of(b"", true), LinkError::Silent(_)));
    assert!(matches!(found_of(b"SSH-2.0-OpenSSH_9.6\r\n", true), LinkError::Garbage(_)));
    assert!(matches!(found_of(&[0, 4, b'V', 0], true), LinkError::OldProtocol));
    assert!(matches!(found_of(&[0, 4, b'S', 1], true), LinkError::OutOfTurn { .. }));
    assert!(matches!(found_of(b"", false), LinkError::Broken(_)));
}

fn robot_of(served: &Served) -> Result<Robot, LinkError> {
    Robot::open(Box::new(Tcp::connect(HERE, served.ports)?))
}

#[test]
fn over_sockets_a_robot_travels_and_follows_too() {
    let served = Served::locally(5.0, Settings::default()).unwrap();
    let mut robot = robot_of(&served).unwrap();
    let there = HOME.map(|q| q + 0.2);
    robot.travel(&there).unwrap();
    assert!(off(&robot, &there) < 2e-3);
    let near = HOME.map(|q| q + 0.1);
    robot.follow(&near, Servo::default()).unwrap();
    robot.wait(robot.state().time_secs + 1.0).unwrap();
    assert!(off(&robot, &near) < 2e-3, "off by {}", off(&robot, &near));
    assert!(robot.fork().is_none(), "there is only one");
}

/// A pause between episodes, longer than the deadline of a movement, is no delay of the robot. It lives so much faster
/// than the clock that the pause is short, and so little that a busy machine meets the deadline of the movement.
#[test]
fn what_piled_up_in_a_pause_is_passed_over() {
    let served = Served::locally(30.0, Settings::default()).unwrap();
    let mut robot = robot_of(&served).unwrap();
    let before = robot.state().time_secs;
    std::thread::sleep(std::time::Duration::from_millis(900));
    robot.travel(&HOME.map(|q| q + 0.02)).unwrap();
    assert!(robot.state().time_secs > before + 1.0);
}

#[test]
fn a_poor_network_is_survived() {
    let network = Network { latency_secs: 0.02, jitter_secs: 0.02, loss: 0.2 };
    let served = Served::locally(5.0, Settings { network, ..Settings::default() }).unwrap();
    let mut robot = robot_of(&served).unwrap();
    let there = HOME.map(|q| q + 0.1);
    robot.travel(&there).unwrap();
    assert!(off(&robot, &there) < 2e-3);
}

#[test]
fn a_protective_stop_in_the_middle_ends_the_wait() {
    let settings = Settings { stop_after_secs: Some(1.0), ..Settings::default() };
    let served = Served::locally(5.0, settings).unwrap();
    let mut robot = robot_of(&served).unwrap();
    assert_eq!(robot.wait(1e6), Err(LinkError::Stopped("protective stop")));
}

#[test]
fn a_controller_that_goes_away_ends_the_wait() {
    let served = Served::locally(5.0, Settings::default()).unwrap();
    let mut robot = robot_of(&served).unwrap();
    drop(served);
    assert!(matches!(robot.wait(1e6), Err(LinkError::Broken(_) | LinkError::Silent(_))));
}

#[test]
fn garbage_from_one_client_does_not_disturb_another() {
    let served = Served::locally(5.0, Settings::default()).unwrap();
    let mut robot = robot_of(&served).unwrap();
    for port in [served.ports.rtde, served.ports.script, served.ports.dashboard] {
        for garbage in [&b"GET / HTTP/1.1\r\n\r\n"[..], &[0; 4096], &[255; 4096], &[0, 2, 85]] {
            let mut stream = std::net::TcpStream::connect((HERE, port)).unwrap();
            let _ = stream.write_all(garbage);
        }
    }
    robot.travel(&HOME.map(|q| q + 0.05)).unwrap();
}
