//! The publication's Figures 4 and 5: what a policy predicts in one nominal episode and in one of a variant, and how far
//! the predictions lie apart, with the best threshold.

use crate::ood_rl::{Judged, Method};
use anyhow::Result;
use offnominal_core::episode::Episode;
use offnominal_detectors::Measurements;
use offnominal_report::axis::Axis;
use offnominal_report::colour::Pen;
use offnominal_report::plot::{Level, Line, Plot};
use serde::{Deserialize, Serialize};

/// What is drawn: number of the figure, environment, method, and variant.
const DRAWN: [(u32, &str, Method, &str, f64); 2] = [
    (4, "cartpole", Method::Ensemble, "dyn-pole-length", 2.0),
    (5, "pendulum", Method::Dropout, "dyn-gravity", 50.0),
];

/// Whether a variant is drawn for this policy.
pub(super) fn is_drawn(env: &str, method: Method, anomaly: &str, magnitude: f64) -> bool {
    let is_it = |d: &(u32, &str, Method, &str, f64)| {
        (d.1, d.2, d.3) == (env, method, anomaly) && (d.4 - magnitude).abs() < 1e-9
    };
    DRAWN.iter().any(is_it)
}

/// One policy in one nominal episode and in one of a variant.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Trace {
    env: String,
    method: Method,
    trial: u32,
    auroc: f64,
    threshold: f64,
    nominal: Predicted,
    anomalous: Predicted,
}

/// Mean and standard deviation of the predictions at each step, `[actions][T]`: values of choices, or commands.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
struct Predicted {
    mean: Vec<Vec<f64>>,
    sd: Vec<Vec<f64>>,
}

impl Trace {
    pub(super) fn of(row: &Judged, panel: &mut Measurements, nominal: &Episode, anomalous: &Episode) -> Trace {
        Trace {
            env: row.env.clone(),
            method: row.method,
            trial: row.trial,
            auroc: row.auroc.unwrap_or(f64::NAN),
            threshold: row.youden.unwrap_or(f64::NAN),
            nominal: Predicted::of(panel, nominal),
            anomalous: Predicted::of(panel, anomalous),
        }
    }
}

impl Predicted {
    fn of(panel: &mut Measurements, episode: &Episode) -> Predicted {
        let mut found = Predicted::default();
        for step in episode.signals().transitions() {
            let shape = panel.shape();
            let told = panel.predict(step.next_obs);
            let (values, width) =
                if shape.is_choice { (told.heads, shape.heads) } else { (told.actions, shape.actions) };
            found.mean.resize(width, vec![]);
            found.sd.resize(width, vec![]);
            for a in 0..width {
                let own: Vec<f64> = values.iter().skip(a).step_by(width).map(|&v| f64::from(v)).collect();
                let (mean, sd) = crate::ood_rl::table::mean_sd(&own).unwrap_or_default();
                found.mean[a].push(mean);
                found.sd[a].push(sd);
            }
        }
        found
    }

    /// Mean over the actions of the deviations, which is the score.
    fn score(&self) -> Vec<f64> {
        let steps = self.sd.first().map_or(0, Vec::len);
        let mean = |t: usize| self.sd.iter().map(|sd| sd[t]).sum::<f64>() / self.sd.len() as f64;
        (0..steps).map(mean).collect()
    }

    fn band(&self, a: usize) -> Vec<(f64, f64)> {
        self.mean[a].iter().zip(&self.sd[a]).map(|(m, s)| (m - s, m + s)).collect()
    }
}

/// The parts of a figure.
const PARTS: [&str; 2] = ["predictions", "scores"];

fn file(number: u32, part: &str) -> String {
    format!("figure-{number}-{part}.svg")
}

/// The images of the best trials, each with the name of its file.
pub(super) fn all(traces: &[Trace]) -> Result<Vec<(String, String)>> {
    let best = |(number, env, method, anomaly, magnitude): &(u32, &str, Method, &str, f64)| {
        let own = traces.iter().filter(|t| t.env == *env && t.method == *method);
        let best = own.max_by(|a, b| a.auroc.total_cmp(&b.auroc))?;
        Some((*number, crate::ood_rl::table::words(anomaly, *magnitude), best))
    };
    let drawn = DRAWN.iter().filter_map(best).flat_map(|(number, what, trace)| {
        let title = |part: &str| {
            format!("{part}: {}, trial {}, {} and {what}", trace.method.title(), trace.trial, trace.env)
        };
        [
            (file(number, PARTS[0]), predictions(trace, title("Mean prediction ± deviation"), &what).alone()),
            (file(number, PARTS[1]), scores(trace, title("Mean deviation"), &what).alone()),
        ]
    });
    Ok(drawn.collect())
}

fn line(name: String, pen: usize, values: Vec<f64>, band: Vec<(f64, f64)>) -> Line {
    Line { name, note: String::new(), pen: Pen::detector(pen), width: 1.6, values, band }
}

fn predictions(trace: &Trace, title: String, what: &str) -> Plot {
    let name = |a: usize, place: &str| {
        if trace.nominal.mean.len() > 1 { format!("choice {a}, {place}") } else { place.to_string() }
    };
    let of = |from: &Predicted, place: &str, pen: usize| -> Vec<Line> {
        (0..from.mean.len())
            .map(|a| line(name(a, place), pen + 2 * a, from.mean[a].clone(), from.band(a)))
            .collect()
    };
    plot(title, [of(&trace.nominal, "nominal", 0), of(&trace.anomalous, what, 1)].concat(), vec![])
}

fn scores(trace: &Trace, title: String, what: &str) -> Plot {
    let lines = vec![
        line("nominal".into(), 0, trace.nominal.score(), vec![]),
        line(what.into(), 1, trace.anomalous.score(), vec![]),
    ];
    plot(title, lines, vec![Level { name: "Youden".into(), value: trace.threshold, main: true }])
}

fn plot(title: String, lines: Vec<Line>, levels: Vec<Level>) -> Plot {
    let bands = lines.iter().flat_map(|l| l.band.iter().flat_map(|b| [b.0, b.1]));
    let values = lines.iter().flat_map(|l| l.values.iter().copied());
    let all: Vec<f64> = values.chain(bands).chain(levels.iter().map(|l| l.value)).collect();
    let (low, high) = all.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), &v| (l.min(v), h.max(v)));
    let axis = Axis::linear(low.min(0.0), if high > low { high } else { low + 1.0 });
    Plot { title, what: "step".into(), axis, lines, levels, onset: None, mark: None, size: (720.0, 260.0) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn predicted(values: &[f64]) -> Predicted {
        Predicted { mean: vec![values.to_vec()], sd: vec![values.iter().map(|v| 0.1 * v).collect()] }
    }

    #[test]
    fn the_best_trial_is_drawn_with_its_threshold() {
        let trace = |trial: u32, auroc: f64| Trace {
            env: "pendulum".into(),
            method: Method::Dropout,
            trial,
            auroc,
            threshold: 0.15,
            nominal: predicted(&[1.0, 2.0]),
            anomalous: predicted(&[2.0, 3.0, 1.0]),
        };
        let found = all(&[trace(1, 0.6), trace(2, 0.7), trace(3, 0.5)]).unwrap();
        let names: Vec<&str> = found.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["figure-5-predictions.svg", "figure-5-scores.svg"]);
        assert!(found.iter().all(|(_, svg)| svg.contains("trial 2") && svg.contains("gravity 50")));
        assert!(found[1].1.contains(">Youden</text>"));
    }
}
