//! A network learns a sine, the same way at every run: `cargo run --release -p offnominal-nets --example sine`.

use offnominal_core::Rng;
use offnominal_nets::{Activation, Adam, AdamState, Gradients, Init, Mlp, loss};

const STEPS: usize = 2000;
const BATCH: usize = 64;

fn main() {
    let mut rng = Rng::new(1);
    let net = Mlp::new(&[1, 32, 32, 1], Activation::Tanh);
    let (mut params, mut grad) = (vec![0.0; net.n_params()], vec![0.0; net.n_params()]);
    net.init(&mut params, Init::Uniform, &mut rng);
    let (adam, mut state) = (Adam::default(), AdamState::new(net.n_params()));
    let (mut work, mut d_out) = (net.workspace(BATCH), [0.0; BATCH]);
    for step in 1..=STEPS {
        let x: Vec<f32> = (0..BATCH).map(|_| rng.range(-3.0, 3.0) as f32).collect();
        let y: Vec<f32> = x.iter().map(|x| x.sin()).collect();
        let loss = loss::mse(net.forward(&params, &x, &mut work), &y, &mut d_out);
        net.backward(&params, &x, &mut work, &d_out, Gradients::params(&mut grad));
        adam.step(&mut params, &grad, &mut state);
        if step % 400 == 0 {
            println!("step {step:4}: mean squared error {loss:.6}");
        }
    }
    for x in [-2.0_f32, -0.5, 1.0, 2.5] {
        println!("sin({x:4.1}) = {:6.3}, learned {:6.3}", x.sin(), net.forward(&params, &[x], &mut work)[0]);
    }
}
