//! The environment of the robot as others use it: after warm-up neither reading nor stepping allocates, bytes included.

use offnominal_core::prelude::*;
use offnominal_worlds::env::catalogue;

#[test]
fn steps_and_readings_allocate_nothing() {
    let mut environment = catalogue().build("urr-reach", &serde_json::json!({})).unwrap();
    let (mut rng, mut obs) = (Rng::new(1), [0.0; 9]);
    let x = environment.draw(&mut rng);
    environment.start(&x, &mut rng);
    let mut play = |steps: u32| {
        for t in 0..steps {
            let swing = (0.1 * t as f32).sin();
            assert_eq!(environment.step(&[swing, -0.3 * swing, 0.2], &mut rng).status, Status::Running);
            environment.observe(&mut obs);
        }
    };
    play(60);
    assert_eq!(allocation_counter::measure(|| play(60)).count_total, 0);
    assert_eq!(allocation_counter::measure(|| drop(std::hint::black_box(vec![0_u8; 9]))).count_total, 1);
}
