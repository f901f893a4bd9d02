//! Figures 1 to 4 of Uesato et al. (2018), from the results of this project.
//!
//! `cargo run --release -p studies -- risk-figures studies/risk/driving docs/figures`
//!
//! | file                | what it shows                                                                |
//! |---------------------|------------------------------------------------------------------------------|
//! | `risk-figure-1.svg` | how often an estimate is off by more than a factor of 3, against its cost     |
//! | `risk-figure-2.svg` | how often the policy fails that has the lowest estimate so far                |
//! | `risk-figure-3.svg` | the first with other factors                                                 |
//! | `risk-figure-4.svg` | how often the policies of one training run fail                               |

use anyhow::{Context as _, Result, ensure};
use offnominal_files::{read, write};
use offnominal_report::axis::Axis;
use offnominal_report::colour::Pen;
use offnominal_report::curves::{Curve, Curves, Point};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Runs the study.
///
/// # Errors
/// If an argument, or a file that is read or written, is wrong.
pub fn run(args: &[String]) -> Result<()> {
    let [results, figures] = folders(args)?;
    let save = |name: &str, chart: &Curves| {
        write::atomically(&figures.join(name), (chart.alone() + "\n").as_bytes())
    };
    save("risk-figure-1.svg", &reliability(&results, &[3.0], &["thinned-gain-2", "thinned-gain-4"])?)?;
    save("risk-figure-2.svg", &choices(&results)?)?;
    save("risk-figure-3.svg", &reliability(&results, &[1.5, 2.0, 5.0, 10.0], &["thinned-gain-2"])?)?;
    save("risk-figure-4.svg", &policies(&results)?)
}

fn folders(args: &[String]) -> Result<[PathBuf; 2]> {
    let given: Vec<PathBuf> = args.iter().map(PathBuf::from).collect();
    let n = given.len();
    given
        .try_into()
        .ok()
        .with_context(|| format!("expected a folder of results and one for figures, found {n} words"))
}

/// Figures 1 and 3: curves of `risk replicates`, each method beside counting.
fn reliability(results: &Path, factors: &[f64], runs: &[&str]) -> Result<Curves> {
    let mut curves = Vec::new();
    for &factor in factors {
        for (i, run) in runs.iter().enumerate() {
            let report: Value = read::json(&results.join(format!("{run}.json")))?;
            let curve = list(&report, "curves")?.iter().find(|curve| curve["factor"] == factor).cloned();
            let points = list(
                &curve.with_context(|| format!("{run}: expected a curve of factor {factor}"))?,
                "points",
            )?;
            let name =
                |what: &str| if factors.len() > 1 { format!("{what}, factor {factor}") } else { what.into() };
            let pen = Pen::detector(if factors.len() > 1 { place(factors, factor) } else { i });
            if i == 0 {
                let counted = points.iter().map(|p| exactly(number(&p["cost"])?, number(&p["counting"])?));
                curves.push(Curve {
                    name: name("counting"),
                    pen: counting(&pen, factors),
                    points: counted.collect::<Result<_>>()?,
                });
            }
            let method = if factors.len() > 1 { "thinned".into() } else { label(&report) };
            let measured = points.iter().map(|p| measured(number(&p["cost"])?, &p["off"]));
            curves.push(Curve { name: name(&method), pen, points: measured.collect::<Result<_>>()? });
        }
    }
    let of = if factors.len() > 1 { "a factor".into() } else { format!("a factor of {}", factors[0]) };
    Ok(Curves {
        title: format!("Share of estimates that are off by more than {of}"),
        what: ("cost in plain episodes".into(), "share".into()),
        x: Axis { low: 30.0, high: 12_000.0, logarithmic: true },
        y: Axis::linear(0.0, 1.0),
        curves,
    })
}

/// Figure 2: the true failure probability of the choice after each round, mean with the smallest and largest of the seeds.
fn choices(results: &Path) -> Result<Curves> {
    let text = read::text(&results.join("figure2.csv"))?;
    let mut found: BTreeMap<(&str, u32), BTreeMap<u32, f64>> = BTreeMap::new();
    for line in text.lines().skip(1) {
        let [method, seed, experiments, truth] = line.split(',').collect::<Vec<_>>()[..] else {
            anyhow::bail!("figure2.csv: expected four columns, found {line:?}")
        };
        // A round ends a few per cent before or after a multiple of 1,400.
        let round = (experiments.parse::<f64>()? / 1400.0).round() as u32;
        found.entry((method, round)).or_default().insert(seed.parse()?, truth.parse()?);
    }
    let curve = |method: &str, name: &str, i: usize| Curve {
        name: name.into(),
        pen: Pen::detector(i),
        points: found
            .iter()
            .filter(|((of, round), seeds)| *of == method && *round > 0 && seeds.len() == 20)
            .map(|((_, round), seeds)| {
                let ends = seeds.values().fold((1.0_f64, 0.0_f64), |(l, h), &v| (l.min(v), h.max(v)));
                let mean = seeds.values().sum::<f64>() / seeds.len() as f64;
                Point { x: f64::from(*round) * 1400.0, y: mean, interval: ends }
            })
            .collect(),
    };
    Ok(Curves {
        title: "Failure probability of the policy with the lowest estimate".into(),
        what: ("experiments of all policies".into(), "mean, least and most of 20 seeds".into()),
        x: Axis::linear(0.0, 20_000.0),
        y: Axis { low: 1e-5, high: 1e-2, logarithmic: true },
        curves: vec![curve("plain", "counting", 0), curve("avf", "predictor", 1)],
    })
}

/// Figure 4: every policy of the training run.
fn policies(results: &Path) -> Result<Curves> {
    let report: Value = read::json(&results.join("select-truth.json"))?;
    let point = |row: &Value| {
        let name = Path::new(row["policy"].as_str().context("a policy")?).file_stem().context("a file")?;
        measured(name.to_string_lossy().parse::<f64>()?, &row["risk"])
    };
    let points = list(&report, "policies")?.iter().map(point).collect::<Result<Vec<_>>>()?;
    ensure!(!points.is_empty(), "select-truth.json: expected policies, found none");
    Ok(Curves {
        title: "Failure probability along one training run".into(),
        what: ("steps of training".into(), "failure probability".into()),
        x: Axis::linear(0.0, 3e6),
        y: Axis { low: 1e-5, high: 1.0, logarithmic: true },
        curves: vec![Curve { name: "driving, TQC".into(), pen: Pen::detector(0), points }],
    })
}

fn counting(pen: &Pen, factors: &[f64]) -> Pen {
    if factors.len() > 1 {
        Pen { dash: "7 3", ..pen.clone() }
    } else {
        Pen { dash: "7 3", ..Pen::detector(4) }
    }
}

fn place(factors: &[f64], factor: f64) -> usize {
    factors.iter().position(|&f| f == factor).unwrap_or_default()
}

fn label(report: &Value) -> String {
    report["method"]
        .as_str()
        .unwrap_or_default()
        .replace(" of episodes in progress", "")
        .replace(" draws", "")
}

fn exactly(x: f64, y: f64) -> Result<Point> {
    Ok(Point { x, y, interval: (y, y) })
}

fn measured(x: f64, estimate: &Value) -> Result<Point> {
    let [y, low, high] = ["value", "low", "high"].map(|name| number(&estimate[name]));
    Ok(Point { x, y: y?, interval: (low?, high?) })
}

fn number(value: &Value) -> Result<f64> {
    value.as_f64().with_context(|| format!("expected a number, found {value}"))
}

fn list(value: &Value, name: &str) -> Result<Vec<Value>> {
    value[name].as_array().cloned().with_context(|| format!("expected a list of {name}"))
}
