//! What made a result, with the version of what simulates its environments.

use crate::policies::printed;
use anyhow::{Result, ensure};
use offnominal_core::spec::EnvSpec;
use offnominal_files::dataset::PolicyName;
use offnominal_files::provenance::Provenance;
use offnominal_hosts::foreign;
use std::collections::BTreeMap;

/// Of a command with a seed and settings, whatever their form is, that plays these policies in these environments.
pub fn made(
    command: &str,
    seed: u64,
    config: &[u8],
    envs: &[&EnvSpec],
    policies: &[&PolicyName],
) -> Provenance {
    let mujoco = envs.iter().any(|spec| simulates(spec)).then(|| offnominal_mujoco::VERSION.into());
    let of = |text: fn(&EnvSpec) -> &String| {
        let hosted = envs.iter().filter(|spec| foreign::named(&spec.id).is_some());
        hosted.map(|spec| (spec.id.clone(), text(spec).clone())).collect()
    };
    let (hosted, rules) = (of(|spec| &spec.source), of(|spec| &spec.success));
    let policies = printed::played(policies.iter().map(|name| name.label()));
    Provenance { mujoco, hosted, rules, policies, ..Provenance::new(command, seed, config) }
}

/// Versions of what plays episodes of a policy in an environment by name, the rule by which they fail, and how it is played.
pub fn versions(spec: &EnvSpec, policy: &PolicyName) -> BTreeMap<String, String> {
    let made = made("", 0, b"", &[spec], &[policy]);
    made.versions().into_iter().map(|(name, version)| (name.into(), version)).collect()
}

/// What simulates an environment that Python hosts: versions, digests of the user's modules, and by what an episode fails.
/// Finished work of another one is not gone on with.
pub fn hosted(spec: &EnvSpec) -> Option<String> {
    foreign::named(&spec.id).map(|_| format!("{}, {}", spec.source, spec.success))
}

/// Insists on the simulator of before.
///
/// # Errors
/// If an environment that Python hosts has changed since.
pub fn check_hosted(spec: &EnvSpec, before: Option<&str>) -> Result<()> {
    let now = hosted(spec);
    ensure!(
        now.as_deref() == before,
        "environment {}: it has changed since: expected {}, found {}",
        spec.id,
        before.unwrap_or("none"),
        now.unwrap_or_else(|| "none".into())
    );
    Ok(())
}

/// What simulates an environment, with its version, if that is not this program alone.
pub fn simulator(spec: &EnvSpec) -> Option<String> {
    hosted(spec).or_else(|| simulates(spec).then(|| format!("MuJoCo {}", offnominal_mujoco::VERSION)))
}

/// Whether it is our MuJoCo that simulates an environment, which its specification says.
fn simulates(spec: &EnvSpec) -> bool {
    foreign::named(&spec.id).is_none() && spec.source.contains("MuJoCo")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whatever_simulates_is_named_with_its_version() {
        let spec =
            |id: &str, source: &str| EnvSpec { source: source.into(), ..EnvSpec::new(id, "a fixture") };
        let hosted = spec("gymnasium:Ant-v5", "Gymnasium 1.2.0, numpy 2.1.0, mujoco 3.2.6");
        let tqc = PolicyName { id: "tqc".into(), digest: "0".into() };
        assert_eq!(versions(&hosted, &tqc)["Python"], hosted.source);
        assert!(simulator(&hosted).unwrap().starts_with(&*hosted.source));
        let ours = spec("hopper", "simulated by MuJoCo");
        assert_eq!(versions(&ours, &tqc)["MuJoCo"], offnominal_mujoco::VERSION);
        assert_eq!(simulator(&spec("pendulum", "native")), None);
    }
}
