//! What the laws say of a sound policy and of a broken one: `cargo run -p offnominal-laws --example check`.
//!
//! The broken one pushes harder than the environment allows.

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
    for violation in violations.iter().take(3) {
        println!("  {violation}");
    }
}

fn main() {
    report("push-back", &|obs: &[f32], action: &mut [f32]| action[0] = (-obs[0]).clamp(-1.0, 1.0));
    report("push-too-hard", &|obs: &[f32], action: &mut [f32]| action[0] = -2.0 * obs[0]);
}
