//! Runs the half-cheetah with random actions and prints what its camera sees, as letters in the terminal.

use offnominal_core::policy::Random;
use offnominal_core::prelude::*;

fn main() -> Result<(), BuildError> {
    let mut environment =
        offnominal_worlds::env::catalogue().build("mjc-half-cheetah", &serde_json::json!({}))?;
    let mut rng = Seed(1).rng();
    let x = environment.draw(&mut rng);
    environment.start(&x, &mut rng);
    let mut policy = Random::new(&environment.spec().action);
    let (mut action, mut total) = ([0.0; 6], 0.0);
    for _ in 0..environment.spec().horizon {
        policy.act(&[], &mut action, &mut rng);
        total += environment.step(&action, &mut rng).reward;
    }
    let mut frame = Frame::new(72, 30);
    environment.render(Camera(0), &mut frame);
    for row in frame.classes.chunks(frame.width) {
        println!("{}", row.iter().map(|&class| b" .THFB"[usize::from(class)] as char).collect::<String>());
    }
    println!("return of random actions: {total:.1}");
    Ok(())
}
