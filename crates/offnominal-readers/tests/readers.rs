//! Readers accept their seeds, and survive some mutants of them. `mutate` does the same for longer.

use offnominal_readers::{TARGETS, mutate, seeds};

#[test]
fn every_reader_accepts_its_seeds() {
    for target in TARGETS {
        let seeds = seeds::read(target);
        assert!(!seeds.is_empty(), "{}", target.name);
        for (i, seed) in seeds.iter().enumerate() {
            let again = "`mutate --write-seeds` makes the seeds anew";
            assert!((target.read)(seed), "{}, seed {i}; {again}", target.name);
            assert!(seed.len() < 64 << 10, "{}, seed {i}: {} bytes", target.name, seed.len());
        }
        for seed in seeds::refused(target) {
            assert!(!(target.read)(&seed), "{}: what declares more than it holds", target.name);
        }
    }
}

#[test]
fn every_reader_is_a_fuzz_target() {
    let fuzz = offnominal_readers::corpus().join("..");
    let manifest = std::fs::read_to_string(fuzz.join("Cargo.toml")).unwrap();
    for target in TARGETS {
        let (name, path) = (target.name, format!("fuzz_targets/{}.rs", target.name));
        assert!(manifest.contains(&format!("path = {path:?}")), "fuzz/Cargo.toml lacks {path}");
        let text = std::fs::read_to_string(fuzz.join(&path)).expect(&path);
        assert!(text.contains(&format!("read({name:?}")), "{path} reads something else");
    }
    assert_eq!(manifest.matches("[[bin]]").count(), TARGETS.len());
}

#[test]
fn every_reader_survives_some_mutants() {
    let n = if skips::is_slow_tier("thousands of mutants of every reader") { 3_000 } else { 60 };
    for target in TARGETS {
        let seeds = [seeds::read(target), seeds::refused(target)].concat();
        for index in 0..n {
            (target.read)(&mutate::mutant(target, &seeds, 7, index));
        }
    }
}

#[test]
fn a_mutant_is_the_same_again_and_rarely_the_seed() {
    for target in TARGETS {
        let seeds = seeds::read(target);
        let mutants: Vec<Vec<u8>> = (0..20).map(|i| mutate::mutant(target, &seeds, 3, i)).collect();
        assert_eq!(mutants[7], mutate::mutant(target, &seeds, 3, 7), "{}", target.name);
        let same = mutants.iter().filter(|m| seeds.contains(m)).count();
        assert!(same < 8, "{}: {same} of 20 mutants are seeds", target.name);
    }
}
