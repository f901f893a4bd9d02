//! Bags of a small arm, as `ros2 bag record` writes them to MCAP: joints, a gyroscope and commands, each at its own rate.

use offnominal_core::Seed;
use std::path::{Path, PathBuf};

/// Where the definitions of the stubs are, which are those of the bags too.
pub fn share() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../ros2/offnominal_monitor_ros/test/stubs/share")
}

/// What a bag differs in from a nominal one.
#[derive(Debug, Clone, Copy, Default)]
pub struct Fault {
    /// From when on the gyroscope is off by 1 rad/s.
    pub biased_from: Option<f64>,
    /// When the gyroscope is silent.
    pub silent: Option<[f64; 2]>,
    /// When the elbow's position is not a number.
    pub nan: Option<[f64; 2]>,
    /// Bytes that the message of the joints at 2 s lacks.
    pub cut: usize,
}

/// How the reader of a topic knows its messages.
const TOPICS: [(&str, &str, &[&str]); 3] = [
    ("/joint_states", "sensor_msgs/msg/JointState", &["std_msgs/Header", "builtin_interfaces/Time"]),
    (
        "/imu",
        "sensor_msgs/msg/Imu",
        &["std_msgs/Header", "geometry_msgs/Quaternion", "geometry_msgs/Vector3", "builtin_interfaces/Time"],
    ),
    ("/cmd_vel", "geometry_msgs/msg/Twist", &["geometry_msgs/Vector3"]),
];

/// A message: its time in seconds, the number of its topic, and its bytes.
type Message = (f64, u16, Vec<u8>);

/// The bytes of a bag of eight seconds.
pub fn bag(seed: u64, fault: Fault) -> Vec<u8> {
    mcap(&messages(seed, fault))
}

fn messages(seed: u64, fault: Fault) -> Vec<Message> {
    let mut rng = Seed(seed).rng();
    let within = |span: Option<[f64; 2]>, t: f64| span.is_some_and(|[from, to]| (from..to).contains(&t));
    let phase = rng.uniform() * 6.0;
    let (mut position, mut velocity, mut told) = (0.0, 0.0, Vec::new());
    for i in 0..1600_u32 {
        let t = f64::from(i) * 0.005;
        let command = (t * 1.7 + phase).sin();
        velocity += 0.005 * 4.0 * (command - velocity);
        position += 0.005 * velocity;
        // Messages come up to two milliseconds late.
        let mut at = || t + rng.uniform() * 0.002;
        if i % 10 == 3 {
            let is_marked = t % 4.0 >= 2.0;
            told.push((at(), 2, twist(command, f64::from(u8::from(is_marked)))));
        }
        if i % 4 == 0 {
            let elbow = if within(fault.nan, t) { f64::NAN } else { 0.5 * position };
            let mut bytes = joints([position, elbow], velocity);
            if i == 400 {
                bytes.truncate(bytes.len() - fault.cut);
            }
            told.push((at(), 0, bytes));
        }
        if i % 5 == 2 && !within(fault.silent, t) {
            let noise = rng.normal() * 0.01;
            let bias = if fault.biased_from.is_some_and(|from| t >= from) { 1.0 } else { 0.0 };
            told.push((t + 0.001, 1, imu(velocity + noise + bias)));
        }
    }
    told.sort_by(|a, b| a.0.total_cmp(&b.0));
    told
}

/// Values in the common data representation, each aligned to its size.
struct Cdr(Vec<u8>);

impl Cdr {
    fn new() -> Cdr {
        Cdr(vec![0, 1, 0, 0])
    }

    fn header() -> Cdr {
        Cdr::new().u32(7).u32(8).text("base")
    }

    fn aligned(mut self, bytes: &[u8]) -> Cdr {
        let from_header = (self.0.len() - 4).next_multiple_of(bytes.len());
        self.0.resize(4 + from_header, 0);
        self.0.extend_from_slice(bytes);
        self
    }

    fn u32(self, n: u32) -> Cdr {
        self.aligned(&n.to_le_bytes())
    }

    fn f64(self, x: f64) -> Cdr {
        self.aligned(&x.to_le_bytes())
    }

    fn text(self, text: &str) -> Cdr {
        let mut cdr = self.u32(text.len() as u32 + 1);
        cdr.0.extend_from_slice(text.as_bytes());
        cdr.0.push(0);
        cdr
    }

    fn all(self, numbers: &[f64]) -> Cdr {
        numbers.iter().fold(self, |cdr, x| cdr.f64(*x))
    }

    fn sequence(self, numbers: &[f64]) -> Cdr {
        self.u32(numbers.len() as u32).all(numbers)
    }
}

fn joints(position: [f64; 2], velocity: f64) -> Vec<u8> {
    let names = Cdr::header().u32(2).text("shoulder").text("elbow");
    names.sequence(&position).sequence(&[velocity, 0.5 * velocity]).sequence(&[]).0
}

fn imu(rate: f64) -> Vec<u8> {
    let orientation = Cdr::header().all(&[0.0, 0.0, 0.0, 1.0]).all(&[0.0; 9]);
    orientation.all(&[0.0, 0.0, rate]).all(&[0.0; 9]).all(&[0.0, 0.0, 9.81]).all(&[0.0; 9]).0
}

/// The turn is no command here, but a mark that tells episodes apart.
fn twist(forward: f64, turn: f64) -> Vec<u8> {
    Cdr::new().all(&[forward, 0.0, 0.0, 0.0, 0.0, turn]).0
}

/// The content of a record of MCAP.
#[derive(Default)]
struct Body(Vec<u8>);

impl Body {
    fn bytes(mut self, bytes: &[u8]) -> Body {
        self.0.extend_from_slice(bytes);
        self
    }

    fn text(self, text: &str) -> Body {
        self.bytes(&(text.len() as u32).to_le_bytes()).bytes(text.as_bytes())
    }
}

fn record(file: &mut Vec<u8>, kind: u8, body: Body) {
    file.push(kind);
    file.extend_from_slice(&(body.0.len() as u64).to_le_bytes());
    file.extend_from_slice(&body.0);
}

/// A file without chunks and index: header, schemas, channels, messages, end of the data, footer.
fn mcap(messages: &[Message]) -> Vec<u8> {
    const MAGIC: &[u8] = b"\x89MCAP0\r\n";
    let mut file = MAGIC.to_vec();
    record(&mut file, 1, Body::default().text("ros2").text("test"));
    for (id, (topic, kind, uses)) in (0_u16..).zip(TOPICS) {
        let schema = Body::default().bytes(&(id + 1).to_le_bytes()).text(kind).text("ros2msg");
        record(&mut file, 3, schema.text(&definition(kind, uses)));
        let channel = Body::default().bytes(&id.to_le_bytes()).bytes(&(id + 1).to_le_bytes());
        record(&mut file, 4, channel.text(topic).text("cdr").bytes(&0_u32.to_le_bytes()));
    }
    for (secs, topic, bytes) in messages {
        let time = (1_700_000_000_000_000_000 + (secs * 1e9).round() as u64).to_le_bytes();
        let head = Body::default().bytes(&topic.to_le_bytes()).bytes(&[0; 4]).bytes(&time).bytes(&time);
        record(&mut file, 5, head.bytes(bytes));
    }
    record(&mut file, 15, Body(vec![0; 4]));
    record(&mut file, 2, Body(vec![0; 20]));
    file.extend_from_slice(MAGIC);
    file
}

/// The definition of a type and of those that it uses.
fn definition(kind: &str, uses: &[&str]) -> String {
    let text = |kind: &str| {
        let (package, name) = (kind.split('/').next().unwrap(), kind.rsplit('/').next().unwrap());
        std::fs::read_to_string(share().join(format!("{package}/msg/{name}.msg"))).unwrap()
    };
    let rest = uses.iter().map(|kind| format!("\n{}\nMSG: {kind}\n{}", "=".repeat(80), text(kind)));
    std::iter::once(text(kind)).chain(rest).collect()
}
