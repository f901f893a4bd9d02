//! What the laws say of a sound policy and of a broken one: `cargo run -p offnominal-laws --example check`.
//!
//! The broken one counts its own calls, so it acts differently after an episode than before it.

use offnominal_core::policy::Policy;
use offnominal_core::spec::{Channel, EnvSpec};

/// The block that both push.
fn spec() -> EnvSpec {
    EnvSpec {
        observation: vec![Channel::unbounded("error", "what is wrong", "m")],
        action: vec![Channel::new("push", "force", "N", -1.0, 1.0)],
        ..EnvSpec::new("block", "hold a block in its place")
    }
}

fn report(name: &str, policy: &dyn Policy) {
    let violations = offnominal_laws::policy(policy, &spec(), &[]);
    println!("{name}: {} violations", violations.len());
    for violation in violations {
        println!("  {violation}");
    }
}

fn main() {
    report("push-back", &|obs: &[f32], action: &mut [f32]| action[0] = (-obs[0]).clamp(-1.0, 1.0));
    let mut calls = 0.0_f32;
    report("tiring", &move |_: &[f32], action: &mut [f32]| {
        calls += 1.0;
        action[0] = 1.0 / calls;
    });
}
