//! The option `--robot`, which puts a real robot, or one simulated by `ur-sim`, in the place of an environment's own.

use clap::Args;

/// Which robot an environment of robots is played on.
#[derive(Debug, Clone, Default, Args)]
pub struct RobotArg {
    /// Address of the robot, for environments of robots; it moves! [default: a simulated robot in this process]
    #[arg(long, value_name = "HOST")]
    robot: Option<String>,
}

impl RobotArg {
    /// Its address.
    pub fn host(&self) -> Option<&str> {
        self.robot.as_deref()
    }
}
