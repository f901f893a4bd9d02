//! The policies that travel with the binary.

/// Id, card and tensors of one policy.
pub(super) type Files = (&'static str, &'static str, &'static [u8]);

macro_rules! shipped {
    ($($id:literal),* $(,)?) => {
        &[$((
            $id,
            include_str!(concat!("../../../../agents/", $id, ".json")),
            include_bytes!(concat!("../../../../agents/", $id, ".safetensors")),
        )),*]
    };
}

/// Every shipped policy, in alphabetical order.
pub(super) const SHIPPED: &[Files] = shipped![
    "car-lanekeep-tqc",
    "driving-tqc",
    "humanoid-stand-tqc",
    "mjc-cartpole-swingup-sac",
    "mjc-cartpole-swingup-td3",
    "mjc-cartpole-swingup-tqc",
    "mjc-half-cheetah-tqc",
    "mjc-reacher3d-tqc",
    "sap-goal0-sac",
    "sap-goal0-td3",
    "sap-goal0-tqc",
    "sap-goal1-tqc",
    "sap-goal2-tqc",
    "urm-pnp-tqc",
    "urm-reach-sac",
    "urm-reach-td3",
    "urm-reach-tqc",
];
