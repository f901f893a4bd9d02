//! Scenes drawn per second on one core at 128 × 256: `cargo bench -p offnominal-scenes`.

use divan::counter::ItemsCount;
use divan::{Bencher, black_box};
use offnominal_core::Seed;
use offnominal_scenes::{Difficulty, SceneRecipe, Set, Split};

fn main() {
    divan::main();
}

#[divan::bench(args = [Set::Road, Set::Indoor, Set::ThreeWheeler], sample_count = 20, sample_size = 1)]
fn scenes(bencher: Bencher, set: Set) {
    let recipe =
        SceneRecipe { set, split: Split::Test, difficulty: Difficulty::default(), width: 256, height: 128 };
    let mut number = 0;
    bencher.counter(ItemsCount::new(4_usize)).bench_local(|| {
        for _ in 0..4 {
            number += if set == Set::Indoor { 2 } else { 1 };
            black_box(recipe.draw(Seed(1), number));
        }
    });
}
