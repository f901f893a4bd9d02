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
pub const EQUIVALENTS: [Equivalent; 4] = [
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
    Equivalent {
        envs: "car-lanekeep",
        dynamics: "dyn-brake-gain",
        action: "act-scaling",
        why: "the gain scales the part of the action that brakes",
    },
    Equivalent {
        envs: "car-lanekeep",
        dynamics: "dyn-steering-gain",
        action: "act-scaling",
        why: "the gain scales the part of the action that steers",
    },
];

/// The other name of an anomaly in an environment, if it has one.
pub fn other_name(env: &str, anomaly: &str) -> Option<&'static str> {
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
        for pair in EQUIVALENTS {
            let all = catalogues::environments();
            let env = all.entries().iter().find(|e| e.id.starts_with(pair.envs)).expect(pair.envs);
            let env = all.build(env.id, &json!({})).unwrap();
            let name = pair.dynamics.strip_prefix("dyn-").unwrap();
            assert!(env.spec().parameter(name).is_ok(), "{pair:?}");
        }
    }
}
