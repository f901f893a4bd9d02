//! The simulated robot as programs know robots: the common Python client, and our own commands.

use super::{fails, offnominal, python_has, succeeds};
use std::io::{BufRead, BufReader};
use std::net::TcpListener;
use std::process::{Child, Command, Stdio};

/// A robot at an address of its own; it is switched off at the end of its scope.
struct Robot(Child);

impl Robot {
    /// `None`, with a message, if the fixed ports are taken there.
    fn at(address: &str, args: &[&str]) -> Option<Robot> {
        for port in [30004, 30003, 29999] {
            if let Err(why) = TcpListener::bind((address, port)) {
                skips::skip("robot", format!("port {port} of {address}: {why}"));
                return None;
            }
        }
        let mut command = Command::new(env!("CARGO_BIN_EXE_offnominal"));
        command.args(["ur-sim", "--quiet", "--duration", "120", "--address", address]).args(args);
        let mut robot = Robot(command.stdout(Stdio::piped()).stdin(Stdio::null()).spawn().unwrap());
        let mut said = String::new();
        BufReader::new(robot.0.stdout.as_mut().unwrap()).read_line(&mut said).unwrap();
        assert!(said.contains(address), "{said}");
        Some(robot)
    }
}

impl Drop for Robot {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

const CLIENT: &str = r#"
import sys, math, time
import rtde_receive, rtde_control, rtde_io, dashboard_client
host = sys.argv[1]
desk = dashboard_client.DashboardClient(host)
desk.connect()
assert desk.isInRemoteControl() and "5.12" in desk.polyscopeVersion(), desk.polyscopeVersion()
receive = rtde_receive.RTDEReceiveInterface(host)
control = rtde_control.RTDEControlInterface(host)
home = receive.getActualQ()

def near(read, wanted, tolerance=5e-3):
    # On a busy machine what is read may be older than the end of the movement.
    off = 1.0
    for _ in range(100):
        off = max(abs(f - w) for f, w in zip(read(), wanted))
        if off < tolerance:
            return
        time.sleep(0.1)
    raise AssertionError((off, read(), wanted))

target = [q + 0.2 for q in home]
assert control.moveJ(target, 1.0, 1.4)
near(receive.getActualQ, target)
pose = receive.getActualTCPPose()
higher = pose[:2] + [pose[2] + 0.02] + pose[3:]
assert control.moveL(higher, 0.25, 1.2)
near(receive.getActualTCPPose, higher)
start = receive.getActualQ()
for i in range(100):
    begun = control.initPeriod()
    near_by = [q + 0.05 * math.sin(math.pi * i / 99) for q in start]
    assert control.servoJ(near_by, 0, 0, 0.002, 0.1, 300)
    control.waitPeriod(begun)
assert control.servoStop()
for i in range(50):
    begun = control.initPeriod()
    assert control.servoL(higher, 0, 0, 0.002, 0.1, 300)
    control.waitPeriod(begun)
control.servoStop()
assert control.speedJ([0.2, 0, 0, 0, 0, 0], 1.0, 0)
time.sleep(0.3)
assert receive.getActualQd()[0] > 0.1, receive.getActualQd()
control.speedStop()
io = rtde_io.RTDEIOInterface(host)
assert io.setStandardDigitalOut(3, True) and io.setSpeedSlider(0.5)
time.sleep(0.1)
assert receive.getDigitalOutState(3) and abs(receive.getTargetSpeedFraction() - 0.5) < 1e-9
assert not receive.isProtectiveStopped()
# The client does not wait for the answer: the second time it has that of the first.
periods = [(control.getStepTime(), time.sleep(0.1))[0] for _ in range(3)]
assert abs(periods[-1] - 0.002) < 1e-12, periods
assert control.triggerProtectiveStop()
time.sleep(0.1)
assert receive.isProtectiveStopped() and desk.safetystatus().endswith("PROTECTIVE_STOP"), desk.safetystatus()
desk.unlockProtectiveStop()
time.sleep(0.1)
assert not receive.isProtectiveStopped()
control.stopScript()
time.sleep(0.1)
assert receive.getRuntimeState() == 1, receive.getRuntimeState()
desk.quit()
print("served")
"#;

#[test]
fn the_common_python_client_is_served() {
    if !python_has("rtde_control, rtde_receive, rtde_io, dashboard_client") {
        return;
    }
    let Some(_robot) = Robot::at("127.0.0.31", &[]) else { return };
    let mut client = Command::new("python3");
    let said = succeeds(client.args(["-c", CLIENT, "127.0.0.31"]));
    assert!(String::from_utf8_lossy(&said.stdout).contains("served"));
}

#[cfg(unix)]
#[test]
fn an_interrupt_switches_it_off_cleanly() {
    let Some(mut robot) = Robot::at("127.0.0.34", &[]) else { return };
    succeeds(Command::new("kill").args(["-INT", &robot.0.id().to_string()]));
    assert_eq!(robot.0.wait().unwrap().code(), Some(0));
}

#[test]
fn two_robots_play_at_once_and_one_stops() {
    let Some(_healthy) = Robot::at("127.0.0.32", &["--speed", "5"]) else { return };
    let Some(_stops) = Robot::at("127.0.0.33", &["--speed", "5", "--protective-stop", "2"]) else { return };
    let folder = tempfile::tempdir().unwrap();
    let collect = |host: &str| {
        let args =
            ["collect", "--env", "urr-reach", "--policy", "random", "--episodes", "1", "--robot", host];
        offnominal(&args, folder.path())
    };
    // The link gives up after a second of silence, which a busy machine can cause: three attempts.
    let said = |_| String::from_utf8(collect("127.0.0.32").output().unwrap().stdout).unwrap();
    assert!((0..3).map(said).any(|said| said.contains("1 episodes, 200 steps")));
    let said = fails(&mut collect("127.0.0.33"));
    assert!(said.contains("protective stop") && said.contains("no episode was played to its end"), "{said}");
}

#[test]
fn environments_without_a_robot_and_robots_that_are_not_there_are_told() {
    let folder = tempfile::tempdir().unwrap();
    let said = |env: &str| {
        let of_random = ["--policy", "random", "--episodes", "2", "--robot", "127.0.0.99"];
        fails(&mut offnominal(&[["collect", "--env", env].as_slice(), &of_random].concat(), folder.path()))
    };
    assert!(said("urr-reach").contains("127.0.0.99:30004 does not answer"), "{}", said("urr-reach"));
    assert!(said("urm-reach").contains("unknown field `robot`"), "{}", said("urm-reach"));
}
