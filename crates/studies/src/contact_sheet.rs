//! A sheet of scenes, each beside its classes, as one PNG: `cargo run --release -p studies -- contact-sheet FILE`.

use anyhow::Result;
use offnominal_core::Seed;
use offnominal_scenes::{ClassSet, Contrast, Difficulty, SceneRecipe, Set, Split};

const SIZE: (usize, usize) = (256, 128);
const COLUMNS: usize = 4;

/// Which scenes: number, split and set, and the contrast of unknown things.
const SCENES: [(usize, Split, Set, Contrast); 14] = [
    // A junction, a curve.
    (4, Split::Train, Set::Road, Contrast::Usual),
    (7, Split::Train, Set::Road, Contrast::Usual),
    // Night, and night after rain.
    (6, Split::Train, Set::Road, Contrast::Usual),
    (27, Split::Train, Set::Road, Contrast::Usual),
    // Rain, fog.
    (31, Split::Test, Set::Road, Contrast::Usual),
    (30, Split::Train, Set::Road, Contrast::Usual),
    // A hill; a cow on a crossing.
    (3, Split::Test, Set::Road, Contrast::Usual),
    (21, Split::Test, Set::Road, Contrast::Usual),
    // Unknown things.
    (27, Split::Test, Set::Road, Contrast::Usual),
    (9, Split::Test, Set::Road, Contrast::Usual),
    // The same with high and with low contrast.
    (9, Split::Test, Set::Road, Contrast::High),
    (9, Split::Test, Set::Road, Contrast::Low),
    // Three-wheelers among cars, furniture.
    (1, Split::Test, Set::ThreeWheeler, Contrast::Usual),
    (4, Split::Test, Set::Indoor, Contrast::Usual),
];

/// Runs the study.
///
/// # Errors
/// If an argument, or a file that is read or written, is wrong.
pub fn run(args: &[String]) -> Result<()> {
    let name = args.first().map_or("scenes.png", String::as_str);
    let (width, height) = (COLUMNS * SIZE.0, 2 * SCENES.len() / COLUMNS * SIZE.1);
    let mut sheet = vec![0; 3 * width * height];
    for (i, &(number, split, set, contrast)) in SCENES.iter().enumerate() {
        let difficulty = Difficulty { contrast, ..Difficulty::default() };
        let recipe = SceneRecipe { set, split, difficulty, width: SIZE.0, height: SIZE.1 };
        let image = recipe.draw(Seed(1), number).image;
        // Steps of ten grey levels: without the noise of the sensor the file is a third as large.
        let seen: Vec<u8> = image.rgb.iter().map(|v| v / 10 * 10 + 5).collect();
        let labels: Vec<u8> = image.classes.iter().flat_map(|&c| colour(c as u8)).collect();
        for (k, rgb) in [seen, labels].iter().enumerate() {
            let at = 2 * i + k;
            paste(&mut sheet, width, (at % COLUMNS * SIZE.0, at / COLUMNS * SIZE.1), rgb);
        }
    }
    write(name, &sheet, width, height);
    Ok(())
}

fn write(name: &str, sheet: &[u8], width: usize, height: usize) {
    let file = std::fs::File::create(name).expect("the file can be made");
    let mut encoder = png::Encoder::new(file, width as u32, height as u32);
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_compression(png::Compression::High);
    encoder.write_header().and_then(|mut w| w.write_image_data(sheet)).expect("the sheet can be written");
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
