//! The worlds whose tables travel with the binary: strengths for policies and cameras, and nominal noise.

/// Hands the ids of these worlds, in alphabetical order, to another macro, after what is given for it.
macro_rules! shipped_worlds {
    ($then:ident: $($given:tt)*) => {
        $then![$($given)*
            "car-lanekeep",
            "mjc-cartpole-swingup",
            "mjc-half-cheetah",
            "mjc-reacher3d",
            "sap-goal0",
            "sap-goal1",
            "sap-goal2",
            "urm-pnp",
            "urm-reach",
            "urr-reach",
        ]
    };
}
pub(crate) use shipped_worlds;
