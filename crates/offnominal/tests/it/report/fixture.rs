//! Synthetic results of a plausible campaign: two environments × twelve anomalies × four strengths × six detectors.

use offnominal_bench::results::{CampaignRecipe, DelayCurve, Results, Row, Trace, Video};
use offnominal_core::rng::Rng;
use offnominal_files::provenance::Provenance;

pub const ENVIRONMENTS: [&str; 2] = ["mjc-half-cheetah", "sap-goal0"];
pub const DETECTORS: [&str; 6] = ["clock", "isolation-forest", "knn", "mlp-dm", "pe-dm", "random"];
pub const STRENGTHS: [&str; 4] = ["tiny", "medium", "strong", "extreme"];
pub const THRESHOLDS: [&str; 4] = ["3sigma", "q95", "max", "conformal"];
pub const ANOMALIES: [(&str, &str); 12] = [
    ("observation", "obs-noise"),
    ("observation", "obs-scaling"),
    ("observation", "obs-offset"),
    ("observation", "obs-drift"),
    ("observation", "obs-quantization"),
    ("observation", "obs-temporal-noise"),
    ("action", "act-noise"),
    ("action", "act-scaling"),
    ("action", "act-offset"),
    ("action", "act-delay"),
    ("dynamics", "dyn-friction"),
    ("dynamics", "dyn-mass"),
];

/// How well each detector sees: the separation of its scores at the largest strength.
const SKILL: [f64; 6] = [0.0, 1.4, 2.2, 2.6, 3.1, 0.0];

/// Everything a report can show. `campaign` goes wherever a name from outside goes.
pub fn results(campaign: &str) -> Results {
    let mut rng = Rng::new(20);
    let mut results = Results { recipe: recipe(campaign), ..Results::default() };
    for environment in ENVIRONMENTS {
        for (class, anomaly) in ANOMALIES {
            let hardness = rng.range(0.25, 1.0);
            for (s, strength) in STRENGTHS.iter().enumerate() {
                for (d, detector) in DETECTORS.iter().enumerate() {
                    let row = Row {
                        campaign: campaign.into(),
                        env: environment.into(),
                        modality: "vector".into(),
                        policy: "tqc".into(),
                        anomaly_class: class.into(),
                        anomaly: anomaly.into(),
                        strength: strength.to_string(),
                        magnitude: magnitude(anomaly, s),
                        detector: detector.to_string(),
                        seed: 0,
                        episodes: 100,
                        metric: String::new(),
                        threshold: String::new(),
                        value: f64::NAN,
                        low: f64::NAN,
                        high: f64::NAN,
                    };
                    let separation = SKILL[d] * hardness * (s as f64 + 0.5) / 3.5;
                    push_cell(&mut results.rows, &row, separation, &mut rng);
                }
            }
        }
        results.rows.extend(DETECTORS.iter().map(|d| control(campaign, environment, d, &mut rng)));
        results.traces.extend(traces(environment, &mut rng));
        results.curves.extend(curves(environment));
        results.videos.push(Video {
            env: environment.into(),
            caption: "obs-drift, strong".into(),
            gif: gif(s_of(environment)),
        });
    }
    results
}

/// Nominal episodes judged as if they were anomalous.
fn control(campaign: &str, environment: &str, detector: &str, rng: &mut Rng) -> Row {
    let value = if detector == "clock" { 0.5 } else { 0.5 + 0.01 * rng.normal() };
    let half = if detector == "clock" { 0.0 } else { 0.025 };
    Row {
        campaign: campaign.into(),
        env: environment.into(),
        modality: "vector".into(),
        policy: "tqc".into(),
        anomaly_class: "none".into(),
        anomaly: "none".into(),
        strength: "none".into(),
        magnitude: 0.0,
        detector: detector.into(),
        seed: 0,
        episodes: 100,
        metric: "auroc_matched".into(),
        threshold: String::new(),
        value,
        low: value - half,
        high: value + half,
    }
}

fn s_of(environment: &str) -> u16 {
    if environment.starts_with("mjc") { 0 } else { 40 }
}

/// One anomaly cannot be made extreme: its cells have no data.
fn magnitude(anomaly: &str, strength: usize) -> f64 {
    if anomaly == "act-delay" && strength == 3 { f64::NAN } else { 0.05 * (strength as f64 + 1.0).powi(2) }
}

fn recipe(campaign: &str) -> CampaignRecipe {
    CampaignRecipe {
        campaign: campaign.into(),
        made: Provenance {
            mujoco: Some("3.17.0".into()),
            ..Provenance::new(
                "offnominal bench campaigns/two-worlds.toml --out runs/two-worlds --seed 0",
                0,
                b"",
            )
        },
        config: format!(
            "name = \"{campaign}\"\nseed = 0\nenvs = [\"mjc-half-cheetah\", \"sap-goal0\"]\nanomalies = \"all\"\n"
        ),
        policies: vec!["mjc-half-cheetah tqc: return 11,204 [11,090 – 11,318], 100 episodes".into()],
        wall_secs: 812.4,
    }
}

fn push_cell(rows: &mut Vec<Row>, row: &Row, separation: f64, rng: &mut Rng) {
    let auroc = if row.detector == "clock" { 0.5 } else { phi(separation / 2f64.sqrt()) };
    let noise = if row.detector == "clock" { 0.0 } else { 0.02 };
    let half = 1.96 * noise;
    let mut put = |metric: &str, threshold: &str, value: f64, half: f64| {
        let known = !row.magnitude.is_nan();
        let value = if known { value } else { f64::NAN };
        let most = if metric == "delay_median" { f64::INFINITY } else { 1.0 };
        rows.push(Row {
            metric: metric.into(),
            threshold: threshold.into(),
            value,
            low: (value - half).max(0.0),
            high: (value + half).min(most),
            ..row.clone()
        });
    };
    let mut near = |v: f64| (v + noise * rng.normal()).clamp(0.0, 1.0);
    let clock = row.detector == "clock";
    put("auroc_matched", "", near(auroc), half);
    put("auroc_global", "", near(if clock { 0.71 } else { (auroc + 0.06).min(1.0) }), half);
    put("auroc_local", "", near(if clock { 1.0 } else { (auroc + 0.03).min(1.0) }), half);
    put("aupr_matched", "", near(auroc), half);
    put("fpr95_matched", "", near(1.9 * (1.0 - auroc)), half);
    for (i, threshold) in THRESHOLDS.iter().enumerate() {
        let strictness = [0.9, 0.5, 1.4, 1.2][i];
        let detected = if clock { 0.0 } else { near(phi(1.6 * separation - strictness)) };
        put("detection_rate", threshold, detected, 0.06);
        put("missing_rate", threshold, 1.0 - detected, 0.06);
        put("d5", threshold, near(0.5 * detected), 0.05);
        put("d10", threshold, near(0.7 * detected), 0.05);
        put("d20", threshold, near(0.9 * detected), 0.05);
        put("early_rate", threshold, near(0.02 + 0.1 * f64::from(u8::from(i == 1))), 0.03);
        let delay = if detected < 0.5 { f64::INFINITY } else { (4.0 / detected).powi(2).round() - 8.0 };
        put("delay_median", threshold, delay, 2.0);
        let false_alarms = if clock { 0.0 } else { near([0.31, 0.97, 0.11, 0.05][i]) };
        put("false_alarm_rate", threshold, false_alarms, 0.04);
    }
}

/// Φ by the logistic approximation: good enough to look plausible.
fn phi(x: f64) -> f64 {
    1.0 / (1.0 + (-1.702 * x).exp())
}

fn traces(environment: &str, rng: &mut Rng) -> Vec<Trace> {
    let (n, onset) = (if environment.starts_with("mjc") { 1000 } else { 200 }, 60);
    let mut traces = Vec::new();
    for (anomaly, growth) in [("obs-drift", 0.12), ("dyn-mass", 0.9)] {
        for detector in ["pe-dm", "knn", "isolation-forest", "clock"] {
            let mut level = 0.0;
            let nominal: Vec<f64> = (0..n).map(|_| 1.0 + 0.25 * rng.normal().abs()).collect();
            let scores = (0..n).map(|t| {
                level += if t >= onset && level < 40.0 { growth * rng.uniform() } else { 0.0 };
                let late = if detector == "isolation-forest" { 0.02 * level } else { level };
                if detector == "clock" { t as f64 } else { nominal[t] + 0.1 * rng.normal() + late }
            });
            let scores: Vec<f64> = scores.collect();
            let clock = detector == "clock";
            let twin = if clock { (0..n).map(|t| t as f64).collect() } else { nominal.clone() };
            let scale = if clock { n as f64 } else { 1.0 };
            let thresholds = [("3sigma", 1.75), ("q95", 1.5), ("max", 2.1), ("conformal", 1.95)];
            traces.push(Trace {
                env: environment.into(),
                anomaly: anomaly.into(),
                strength: "strong".into(),
                detector: detector.into(),
                episode: 17,
                dt_secs: 0.05,
                onset: onset as u32,
                scores,
                twin,
                thresholds: thresholds.iter().map(|(n, v)| (n.to_string(), v * scale)).collect(),
            });
        }
    }
    traces
}

fn curves(environment: &str) -> Vec<DelayCurve> {
    let mut curves = Vec::new();
    for (s, strength) in STRENGTHS.iter().enumerate() {
        for (d, detector) in DETECTORS.iter().enumerate() {
            for (t, threshold) in THRESHOLDS.iter().enumerate() {
                let strictness = [0.8, 0.5, 1.4, 1.1][t];
                let top = phi(1.2 * SKILL[d] * (s as f64 + 0.5) / 3.5 - strictness);
                let detected: Vec<f64> =
                    (0..=100).map(|j| top * (1.0 - (-f64::from(j) / 15.0).exp())).collect();
                curves.push(DelayCurve {
                    env: environment.into(),
                    anomaly: "all".into(),
                    strength: strength.to_string(),
                    detector: detector.to_string(),
                    threshold: threshold.to_string(),
                    false_alarm_rate: [0.31, 0.97, 0.11, 0.05][t],
                    low: detected.iter().map(|v| (v - 0.05).max(0.0)).collect(),
                    high: detected.iter().map(|v| (v + 0.05).min(1.0)).collect(),
                    detected,
                });
            }
        }
    }
    curves
}

/// A moving bar.
fn gif(hue: u16) -> Vec<u8> {
    let (w, h) = (160u16, 120u16);
    let palette = [20, 22, 26, 86, 169, 230, 230, 230, 225];
    let mut bytes = Vec::new();
    let mut encoder = gif::Encoder::new(&mut bytes, w, h, &palette).unwrap();
    encoder.set_repeat(gif::Repeat::Infinite).unwrap();
    for step in 0..20u16 {
        let at = (hue + 7 * step) % w;
        let pixel = |i: u16| if i % w == at { 1 } else { u8::from(i / w == h - 20) * 2 };
        let buffer: Vec<u8> = (0..w * h).map(pixel).collect();
        let frame =
            gif::Frame { width: w, height: h, delay: 6, buffer: buffer.into(), ..gif::Frame::default() };
        encoder.write_frame(&frame).unwrap();
    }
    drop(encoder);
    bytes
}
