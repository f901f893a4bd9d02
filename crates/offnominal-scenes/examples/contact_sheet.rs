//! A sheet of scenes beside their classes, as one PNG: `cargo run --release -p offnominal-scenes --example
//! contact_sheet`.

use offnominal_core::Seed;
use offnominal_scenes::{ClassSet, Difficulty, SceneRecipe, Set, Split};

const SIZE: (usize, usize) = (256, 128);
const GRID: (usize, usize) = (4, 8);

fn main() {
    let name = std::env::args().nth(1).unwrap_or_else(|| "scenes.png".into());
    let recipe =
        |set, split, difficulty| SceneRecipe { set, split, difficulty, width: SIZE.0, height: SIZE.1 };
    let rows = [
        recipe(Set::Road, Split::Train, Difficulty::default()),
        recipe(Set::Road, Split::Validation, Difficulty::default()),
        recipe(Set::Road, Split::Test, Difficulty::EASIEST),
        recipe(Set::Road, Split::Test, Difficulty::default()),
        recipe(Set::Road, Split::Test, Difficulty::HARDEST),
        recipe(Set::ThreeWheeler, Split::Test, Difficulty::default()),
        recipe(Set::Indoor, Split::Test, Difficulty::default()),
        recipe(Set::Perlin, Split::Test, Difficulty::default()),
    ];
    let width = GRID.0 * SIZE.0;
    let mut sheet = vec![0; 3 * width * GRID.1 * SIZE.1];
    for (row, recipe) in rows.iter().enumerate() {
        for pair in 0..GRID.0 / 2 {
            let image = recipe.draw(Seed(1), 2 * pair + usize::from(row == 7) * pair).image;
            let labels = image.classes.iter().flat_map(|&c| colour(c as u8));
            paste(&mut sheet, width, (2 * pair * SIZE.0, row * SIZE.1), &image.rgb);
            paste(&mut sheet, width, ((2 * pair + 1) * SIZE.0, row * SIZE.1), &labels.collect::<Vec<u8>>());
        }
    }
    let file = std::fs::File::create(&name).expect("the file can be made");
    let mut encoder = png::Encoder::new(file, width as u32, (GRID.1 * SIZE.1) as u32);
    encoder.set_color(png::ColorType::Rgb);
    encoder.write_header().and_then(|mut w| w.write_image_data(&sheet)).expect("the sheet can be written");
}

fn colour(label: u8) -> [u8; 3] {
    let names = ClassSet::Nineteen.names();
    names.get(usize::from(label)).map_or(if label == 254 { [255, 120, 0] } else { [0; 3] }, |n| n.1)
}

fn paste(sheet: &mut [u8], width: usize, (left, top): (usize, usize), rgb: &[u8]) {
    for (row, line) in rgb.chunks_exact(3 * SIZE.0).enumerate() {
        let at = 3 * ((top + row) * width + left);
        sheet[at..at + line.len()].copy_from_slice(line);
    }
}
