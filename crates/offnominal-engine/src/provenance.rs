//! What made a result, with the version of the simulator if an environment needs one.

use offnominal_core::spec::EnvSpec;
use offnominal_files::provenance::Provenance;

/// Of a command with a seed and settings, whatever their form is, that plays in these environments.
pub fn made(command: &str, seed: u64, config: &[u8], envs: &[&EnvSpec]) -> Provenance {
    // The specification of an environment says what simulates it.
    let simulates = |spec: &&EnvSpec| spec.source.contains("MuJoCo");
    let mujoco = envs.iter().any(simulates).then(|| offnominal_mujoco::VERSION.into());
    Provenance { mujoco, ..Provenance::new(command, seed, config) }
}
