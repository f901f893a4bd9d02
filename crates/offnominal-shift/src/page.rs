//! The report of an environment: one self-contained page with charts, answers with intervals, and the bodies.

use crate::analysis::{ADVANTAGE, Answer, LOG_SLOPE, LOGIT_SLOPE, NOMINAL, RANK, SKILL, TOPLINE, sigmas};
use crate::bodies::{Body, Draw, params};
use crate::figures::{self, key};
use crate::layers::AHEAD;
use crate::plan::ShiftPlan;
use crate::row::Row;
use crate::{search, table};
use anyhow::Result;
use minijinja::Value;
use offnominal_core::prelude::*;
use offnominal_engine::progress::Task;
use offnominal_engine::{catalogues, parallel};
use offnominal_files::png as image;
use offnominal_files::provenance::Provenance;
use offnominal_report::page::embedded;
use offnominal_stats::Level;
use offnominal_stats::mean::student_t;
use serde::Serialize;
use std::collections::BTreeMap;

/// Side of a body's image, in pixels.
const SIDE: usize = 96;

/// What a page is made of.
pub struct Content<'a> {
    /// What was asked.
    pub plan: &'a ShiftPlan,
    /// The rows.
    pub rows: &'a [Row],
    /// Rows of policies that were trained on such bodies.
    pub toplines: &'a [Row],
    /// The bodies.
    pub draws: &'a [(f64, Draw)],
    /// The answers.
    pub answers: &'a [Answer],
    /// What made it.
    pub made: &'a Provenance,
}

/// What the template input.
#[derive(Serialize)]
struct Page {
    environment: String,
    facts: Vec<(&'static str, String)>,
    lede: String,
    nominal: Vec<[String; 5]>,
    figures: Vec<(&'static str, &'static str, &'static str, Vec<Value>)>,
    tables: Vec<Table>,
    harms: Vec<[String; 3]>,
    worst: Vec<(String, String, String)>,
    chances: Vec<[String; 5]>,
    by_k: Vec<Vec<String>>,
    images: Value,
    made: Provenance,
}

/// The answers to one question.
#[derive(Serialize)]
struct Table {
    question: &'static str,
    rows: Vec<[String; 6]>,
}

/// The page.
///
/// # Errors
/// If a body cannot be drawn, or the template cannot be filled, which is a mistake of ours.
pub fn page(content: &Content<'_>, jobs: usize) -> Result<String> {
    let templates = [("shift.html", include_str!("../templates/shift.html"))];
    offnominal_report::page::render(&templates, content.page(jobs)?)
}

impl Content<'_> {
    fn page(&self, jobs: usize) -> Result<Page> {
        let figures = figures::all(self.rows, self.toplines).into_iter();
        let safe = |charts: Vec<String>| charts.into_iter().map(Value::from_safe_string).collect();
        Ok(Page {
            environment: self.plan.setting.env.clone(),
            facts: self.facts(),
            lede: summary(self.answers),
            nominal: nominal(self.rows),
            figures: figures.map(|f| (f.id, f.title, f.note, safe(f.charts))).collect(),
            tables: tables(self.answers),
            harms: search::harms(self.rows, self.draws).iter().take(12).map(harm).collect(),
            worst: self.worst(),
            chances: chances(self.answers),
            by_k: by_k(self.rows),
            images: Value::from_safe_string(serde_json::to_string(&self.images(jobs)?)?),
            made: self.made.clone(),
        })
    }

    fn facts(&self) -> Vec<(&'static str, String)> {
        let plan = self.plan;
        let policies = table::Table::of(self.rows.iter(), None).policies.len();
        let rejected: Vec<String> =
            self.draws.iter().map(|(s, d)| format!("{} of σ = {s}", d.rejected)).collect();
        vec![
            ("Environment", plan.setting.env.clone()),
            ("Policies", policies.to_string()),
            ("Bodies", format!("{} for each of σ = {}", plan.bodies, list(&plan.sigmas))),
            ("Rejected draws", rejected.join(", ")),
            ("Steps", format!("{} of each policy on each body", plan.steps)),
            ("Internal model", format!("{} gradient steps of 10,000 steps each", plan.updates)),
            ("Learned from", format!("{} nominal runs of each policy", plan.nominal_runs)),
            ("Randomised", plan.setting.drawn.join(", ")),
        ]
    }

    fn worst(&self) -> Vec<(String, String, String)> {
        let nominal =
            crate::bodies::nominal(&self.plan.setting.env, self.plan.setting.reading).unwrap_or_default();
        let text = |body: &Body| {
            let ratio = |name: &String, value: f64| value / nominal.get(name).copied().unwrap_or(1.0) - 1.0;
            let mut parts: Vec<(f64, &String)> = body.set.iter().map(|(n, v)| (ratio(n, *v), n)).collect();
            parts.sort_by(|a, b| b.0.abs().total_cmp(&a.0.abs()));
            let part = |(by, name): &(f64, &String)| format!("{name} {:+.0} %", 100.0 * by);
            parts.iter().take(4).map(part).collect::<Vec<_>>().join(", ")
        };
        let found = search::worst(self.rows, self.draws, 6).into_iter();
        found.map(|(b, gap)| (key(b.sigma, b.number), format!("{gap:.0}"), text(b))).collect()
    }

    /// An image of every body, by its key.
    fn images(&self, jobs: usize) -> Result<BTreeMap<String, Value>> {
        let nominal = Body::nominal();
        let bodies: Vec<&Body> =
            std::iter::once(&nominal).chain(self.draws.iter().flat_map(|(_, d)| &d.bodies)).collect();
        let hidden = Task::hidden();
        let images = parallel::map(jobs, bodies.len(), &hidden, |i| {
            let environment = catalogues::environments()
                .build(&self.plan.setting.env, &params(&self.plan.setting, bodies[i]))?;
            Ok::<_, anyhow::Error>((key(bodies[i].sigma, bodies[i].number), snapshot(environment)?))
        });
        Ok(images?.into_iter().collect())
    }
}

/// A body as it stands at the start, as the source of an image.
fn snapshot(mut environment: Box<dyn Env>) -> Result<Value> {
    let x = environment.draw(&mut Rng::new(0));
    environment.start(&x, &mut Rng::new(0));
    let mut frame = Frame::new(SIDE, SIDE);
    environment.render(Camera(0), &mut frame);
    Ok(embedded("png", &image::png(&frame)?))
}

/// The returns on the nominal body.
fn nominal(rows: &[Row]) -> Vec<[String; 5]> {
    let mut kinds: Vec<&String> = rows.iter().map(|r| &r.algorithm).collect();
    kinds.sort();
    kinds.dedup();
    let line = |kind: &String| {
        let own: Vec<&Row> = rows.iter().filter(|r| r.algorithm == *kind && r.sigma == 0.0).collect();
        let returns: Vec<f64> = own.iter().map(|r| r.median).collect();
        let interval = student_t(&returns, Level::P95)
            .map_or("–".into(), |e| format!("{:.0} to {:.0}", e.low, e.high));
        let mean = returns.iter().sum::<f64>() / returns.len().max(1) as f64;
        let tpr: Vec<f64> = own.iter().filter_map(|r| r.score("tpr")).collect();
        let tpr = tpr.iter().sum::<f64>() / tpr.len().max(1) as f64;
        [kind.clone(), own.len().to_string(), format!("{mean:.0}"), interval, format!("{tpr:.3}")]
    };
    kinds.into_iter().map(line).collect()
}

fn tables(answers: &[Answer]) -> Vec<Table> {
    let questions = [RANK, ADVANTAGE, LOGIT_SLOPE, LOG_SLOPE, SKILL, NOMINAL, TOPLINE];
    let table = |question: &'static str| {
        let own = answers.iter().filter(|a| a.question == question);
        Table { question, rows: own.map(line).collect() }
    };
    questions.into_iter().map(table).filter(|t| !t.rows.is_empty()).collect()
}

fn line(answer: &Answer) -> [String; 6] {
    let e = &answer.estimate;
    let sigma = answer.sigma.map_or("all".into(), |s| s.to_string());
    let interval = format!("{} to {}", digits(e.low), digits(e.high));
    [answer.algorithm.clone(), answer.by.clone(), sigma, digits(e.value), interval, e.method.clone()]
}

/// Two decimals, or none where the number is large.
fn digits(value: f64) -> String {
    if value.abs() >= 100.0 { format!("{value:.0}") } else { format!("{value:.2}") }
}

fn harm(h: &search::Harm) -> [String; 3] {
    [h.name.clone(), digits(h.larger), digits(h.off)]
}

/// The probabilities that the return falls too low: question, spread, by what bodies were chosen, how many were played.
fn chances(answers: &[Answer]) -> Vec<[String; 5]> {
    let asked = |a: &&Answer| search::BELOW.iter().any(|(_, question)| *question == a.question);
    let text = |a: &Answer| {
        let [_, by, sigma, value, interval, _] = line(a);
        [a.question.into(), sigma, by, format!("{value}, {interval}"), a.estimate.n.to_string()]
    };
    answers.iter().filter(asked).map(text).collect()
}

/// The mean rate of true positives for each k: on the nominal body, and for each spread.
fn by_k(rows: &[Row]) -> Vec<Vec<String>> {
    let line = |sigma: f64| {
        let rate = |k: usize| {
            let name = format!("tpr-k{k}");
            let all: Vec<f64> =
                rows.iter().filter(|r| r.sigma == sigma).filter_map(|r| r.score(&name)).collect();
            if all.is_empty() {
                "–".into()
            } else {
                format!("{:.2}", all.iter().sum::<f64>() / all.len() as f64)
            }
        };
        let name = if sigma == 0.0 { "nominal".into() } else { format!("σ = {sigma}") };
        std::iter::once(name).chain((1..=AHEAD).map(rate)).collect()
    };
    std::iter::once(0.0).chain(sigmas(rows)).map(line).collect()
}

fn list(numbers: &[f64]) -> String {
    numbers.iter().map(f64::to_string).collect::<Vec<_>>().join(", ")
}

/// The answers in one sentence: how well the internal model and the best detector predict the return gap.
pub fn summary(answers: &[Answer]) -> String {
    let ranks = || answers.iter().filter(|a| a.question == RANK && a.sigma.is_none());
    // Of several kinds of policies those of all together count; a single kind has no such rows.
    let many = ranks().any(|a| a.algorithm == "all");
    let mut ranks: Vec<&Answer> = ranks().filter(|a| a.algorithm == "all" || !many).collect();
    ranks.sort_by(|a, b| b.estimate.value.abs().total_cmp(&a.estimate.value.abs()));
    let text = |a: &Answer| format!("{} {:.2}", a.by, a.estimate);
    let Some(best) = ranks.first() else {
        return "There are too few bodies for an answer.".into();
    };
    let model = ranks.iter().find(|a| a.by == "tpr").map_or("–".into(), |a| text(a));
    format!(
        "Rank correlation with the return gap over bodies of all spreads: best {}; internal model {model}.",
        text(best)
    )
}
