//! Faults that nothing in an episode can tell apart, because the equations of the environment are the same.
//!
//! A diagnosis that names one for the other is right. Whoever adds an environment whose parameters act like actions adds
//! them here, with the reason.

/// Two anomalies of an environment that are one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Equivalent {
    /// How the ids of the environments begin.
    pub envs: &'static str,
    /// The anomaly of the dynamics,
    pub dynamics: &'static str,
    /// and that of the actions.
    pub action: &'static str,
    /// Why.
    pub why: &'static str,
}

/// All that are known.
pub const EQUIVALENTS: [Equivalent; 2] = [
    Equivalent {
        envs: "sap-",
        dynamics: "dyn-mass",
        action: "act-scaling",
        why: "the action is a force, and force over mass is what moves the agent",
    },
    Equivalent {
        envs: "sap-",
        dynamics: "dyn-force",
        action: "act-offset",
        why: "the action is a force, to which the constant one is added",
    },
];

/// Parameters of the dynamics that are those of actuators: nothing else does the same, but the family may be either one.
pub const ACTUATORS: [(&str, &str); 2] =
    [("car-lanekeep", "dyn-brake-gain"), ("car-lanekeep", "dyn-steering-gain")];

/// Whether a fault is one of the action as much as one of the dynamics.
pub fn has_both_families(env: &str, anomaly: &str) -> bool {
    let is_pair = |e: &Equivalent| env.starts_with(e.envs) && [e.dynamics, e.action].contains(&anomaly);
    EQUIVALENTS.iter().any(is_pair)
        || ACTUATORS.iter().any(|(envs, name)| env.starts_with(envs) && *name == anomaly)
}

/// The other name of an anomaly in an environment, if it has one.
fn other_name(env: &str, anomaly: &str) -> Option<&'static str> {
    let of = |e: &&Equivalent| env.starts_with(e.envs) && e.dynamics == anomaly;
    EQUIVALENTS.iter().find(of).map(|e| e.action)
}

/// Whether two names are those of one fault in an environment.
pub fn are_one(env: &str, a: &str, b: &str) -> bool {
    a == b || other_name(env, a) == Some(b) || other_name(env, b) == Some(a)
}

#[cfg(test)]
mod tests {
    use super::*;
    use offnominal_engine::catalogues;
    use serde_json::json;

    #[test]
    fn pairs_are_one_in_their_environments_only() {
        assert!(
            are_one("sap-goal1", "dyn-mass", "act-scaling")
                && are_one("sap-goal1", "act-scaling", "dyn-mass")
        );
        assert!(!are_one("mjc-cartpole-swingup", "dyn-mass", "act-scaling"));
        assert!(!are_one("sap-goal1", "dyn-mass", "act-offset") && are_one("x", "dyn-mass", "dyn-mass"));
    }

    #[test]
    fn every_pair_names_parameters_that_there_are() {
        for (envs, dynamics) in EQUIVALENTS.iter().map(|e| (e.envs, e.dynamics)).chain(ACTUATORS) {
            let all = catalogues::environments();
            let env = all.entries().iter().find(|e| e.id.starts_with(envs)).expect(envs);
            let env = all.build(env.id, &json!({})).unwrap();
            let name = dynamics.strip_prefix("dyn-").unwrap();
            assert!(env.spec().parameter(name).is_ok(), "{envs} {dynamics}");
        }
    }
}
