//! The page of the suite: the publication's tables beside ours, and what it does not ask.

mod milder;
mod settled;
mod text;

use crate::ood_rl::cell::EXTERNAL;
use crate::ood_rl::environment::{self, ENVIRONMENTS};
use crate::ood_rl::published::{self, Published};
use crate::ood_rl::table::{Table, by_trial, of, share, spread, trials, words};
use crate::ood_rl::{Judged, MAIN, METHODS, Method, solved};
use text::*;

/// The page as Markdown.
pub fn page(rows: &[Judged]) -> String {
    let parts = [
        HEAD.to_string(),
        agents(),
        format!("{SUMMARY}\n{}\n{FOUND}{}{FOUND_TOO}", summary(rows), milder::told(rows)),
        best(rows),
        trial_tables(rows),
        figures(),
        milder::milder(rows),
        settled::settled(),
        measures(rows),
        external(rows),
        all_variants(rows),
        DIFFERENCES.to_string(),
    ];
    parts.join("\n")
}

/// The policies in nominal episodes.
fn agents() -> String {
    let table = |text: &str, title: &str, note: &str| {
        let mut reader = csv::Reader::from_reader(text.as_bytes());
        let head: Vec<String> =
            reader.headers().map(|h| h.iter().map(String::from).collect()).unwrap_or_default();
        let shown = |name: &&String| name.as_str() != "command";
        let keep: Vec<usize> = (0..head.len()).filter(|&i| shown(&&head[i])).collect();
        let mut table = Table::new(&keep.iter().map(|&i| head[i].as_str()).collect::<Vec<_>>());
        let records: Vec<_> = reader.records().flatten().collect();
        if records.is_empty() {
            return String::new();
        }
        records.iter().for_each(|r| table.line(keep.iter().map(|&i| short(&r[i])).collect()));
        format!("### {title}\n\n{note}\n\n{}\n", table.markdown())
    };
    format!(
        "{AGENTS}\n{}\n{}",
        table(include_str!("../../../../agents/ood-rl/agents.csv"), "Nominal returns", RETURNS),
        table(include_str!("../../../../agents/ood-rl/probabilities.csv"), "Probabilities", PROBABILITIES)
    )
}

/// A number with one decimal where it has more; anything else as it is.
fn short(text: &str) -> String {
    match text.parse::<f64>() {
        Ok(number) if text.contains('.') && number.abs() > 1.0 => format!("{number:.1}"),
        _ => text.into(),
    }
}

/// One line per environment and method, as a table.
pub fn summary(rows: &[Judged]) -> String {
    let mut table = Table::new(&[
        "environment, method",
        "trials",
        "variants failed",
        "AUROC where it fails",
        "of all variants",
        "at equal times, where it fails",
        "null controls",
    ]);
    for env in ENVIRONMENTS {
        for method in METHODS {
            let own = || of(rows, env, method, MAIN).filter(|r| r.anomaly != "none");
            let n = by_trial(own(), |r| r.auroc).len();
            if n == 0 {
                continue;
            }
            let failed = own().filter(|r| r.is_published() && r.fails).count() as f64 / n as f64;
            let real = own().filter(|r| r.is_published()).count() / n;
            table.line(vec![
                format!("{env}, {}", method.title()),
                n.to_string(),
                format!("{failed:.1} of {real}"),
                spread(&by_trial(own().filter(|r| r.is_published() && r.fails), |r| r.auroc)),
                spread(&by_trial(own().filter(|r| r.is_published()), |r| r.auroc)),
                spread(&by_trial(own().filter(|r| r.is_published() && r.fails), |r| r.auroc_matched)),
                spread(&by_trial(own().filter(|r| r.null), |r| r.auroc)),
            ]);
        }
    }
    table.markdown()
}

/// Our numbers for a column of the publication, and whether the policy fails there in each trial.
fn ours<'a>(rows: &'a [Judged], column: &'a [Published]) -> Vec<&'a Judged> {
    let first = &column[0];
    trials(rows, (&first.env, first.method, &first.anomaly, first.magnitude))
}

fn numbers(rows: &[&Judged]) -> Vec<f64> {
    rows.iter().filter_map(|r| r.auroc).collect()
}

fn most(values: impl Iterator<Item = f64>) -> Option<f64> {
    values.max_by(f64::total_cmp)
}

/// Tables 3 to 5.
fn best(rows: &[Judged]) -> String {
    let mut text = BEST.to_string();
    for (number, env) in [(3, "cartpole"), (4, "pendulum"), (5, "pong")] {
        let mut table = Table::new(&["method, variant", "published best", "our best", "policies that fail"]);
        for column in published::columns().iter().filter(|c| c[0].env == env) {
            let own = ours(rows, column);
            table.line(vec![
                format!("{}, {}", column[0].method.title(), words(&column[0].anomaly, column[0].magnitude)),
                share(most(column.iter().map(|p| p.auroc))),
                share(most(numbers(&own).into_iter())),
                format!("{} of {}", own.iter().filter(|r| r.fails).count(), own.len()),
            ]);
        }
        text += &format!("\n### Table {number}: {env}\n\n{}", table.markdown());
    }
    text + &own_best(rows)
}

/// The variant in which each method does best, among those where every trial fails.
fn own_best(rows: &[Judged]) -> String {
    let mut table = Table::new(&["environment, method", "variant with the best mean", "AUROC"]);
    for (env, method) in ENVIRONMENTS.iter().flat_map(|env| METHODS.map(|m| (*env, m))) {
        let variants = offnominal_worlds::ood_rl::variants();
        let found = variants
            .iter()
            .filter(|v| v.env == environment::published(env) && v.null.is_none())
            .filter_map(|v| {
                let magnitude = v.anomaly_spec.params["magnitude"].as_f64()?;
                let own = trials(rows, (env, method, &v.anomaly_spec.anomaly, magnitude));
                let all_fail = !own.is_empty() && own.iter().all(|r| r.fails);
                all_fail.then(|| (words(&v.anomaly_spec.anomaly, magnitude), numbers(&own)))
            });
        let mean = |values: &[f64]| crate::ood_rl::table::mean_sd(values).map_or(f64::NAN, |(mean, _)| mean);
        if let Some((what, values)) = found.max_by(|a, b| mean(&a.1).total_cmp(&mean(&b.1))) {
            table.line(vec![format!("{env}, {}", method.title()), what, spread(&values)]);
        }
    }
    format!("\n### Where each method does best\n\n{OWN_BEST}\n\n{}", table.markdown())
}

/// Tables 6 to 19.
fn trial_tables(rows: &[Judged]) -> String {
    let columns = published::columns();
    let mut text = TRIALS.to_string();
    for table in columns.chunk_by(|a, b| a[0].table == b[0].table) {
        let first = &table[0][0];
        text += &format!("\n### Table {}: {}, {}\n\n", first.table, first.env, first.method.title());
        text += &trial_table(rows, table).markdown();
    }
    text
}

fn trial_table(rows: &[Judged], columns: &[Vec<Published>]) -> Table {
    let names: Vec<String> = columns.iter().map(|c| words(&c[0].anomaly, c[0].magnitude)).collect();
    let head: Vec<&str> = std::iter::once("AUROC").chain(names.iter().map(String::as_str)).collect();
    let mut table = Table::new(&head);
    for trial in 1..=5 {
        let cell = |column: &Vec<Published>| {
            let own = ours(rows, column).into_iter().find(|r| r.trial == trial);
            own.map_or("–".into(), with_interval)
        };
        let cells: Vec<String> = columns.iter().map(cell).collect();
        if cells.iter().any(|cell| cell != "–") {
            table.line([vec![format!("trial {trial}")], cells].concat());
        }
    }
    let mut last = |name: &str, of: &dyn Fn(&Vec<Published>) -> String| {
        table.line(std::iter::once(name.to_string()).chain(columns.iter().map(of)).collect());
    };
    last("mean ± sd", &|c| spread(&numbers(&ours(rows, c))));
    last("published mean ± sd", &|c| spread(&c.iter().map(|p| p.auroc).collect::<Vec<_>>()));
    last("prevalence", &|c| spread(&ours(rows, c).iter().map(|r| prevalence(r)).collect::<Vec<_>>()));
    table
}

fn prevalence(row: &Judged) -> f64 {
    row.positives as f64 / (row.positives + row.negatives) as f64
}

/// The AUROC with its interval; in brackets where the policy does not fail.
fn with_interval(row: &Judged) -> String {
    let text = format!("{} [{}, {}]", share(row.auroc), share(row.auroc_low), share(row.auroc_high));
    if row.fails { text } else { format!("({text})") }
}

fn figures() -> String {
    let line = |(name, says): (String, String)| format!("![{says}](../results/ood-rl/{name})\n");
    format!("{FIGURES}\n{}", crate::ood_rl::figure::files().map(line).collect::<String>())
}

/// The environments in which policies played.
fn played(rows: &[Judged]) -> Vec<&'static str> {
    ENVIRONMENTS.into_iter().filter(|env| rows.iter().any(|r| r.env == *env)).collect()
}

/// The methods whose policies played in an environment.
fn methods(rows: &[Judged], env: &str) -> Vec<Method> {
    METHODS.into_iter().filter(|m| rows.iter().any(|r| r.env == env && r.method == *m)).collect()
}

/// One line per measure.
fn measures(rows: &[Judged]) -> String {
    let mut text = MEASURES.to_string();
    for env in played(rows) {
        let methods = methods(rows, env);
        let head: Vec<&str> = std::iter::once(env).chain(methods.iter().map(|m| m.title())).collect();
        let mut table = Table::new(&head);
        for measure in offnominal_detectors::Measure::ALL.map(|m| m.id()) {
            let cell = |&method: &Method| {
                let own = |measure| {
                    let own = of(rows, env, method, measure).filter(|r| r.fails && r.is_published());
                    by_trial(own, |r| r.auroc)
                };
                let (found, all) = (own(measure), own(MAIN).len());
                let few = if (1..all).contains(&found.len()) {
                    format!(" ({} of {all})", found.len())
                } else {
                    String::new()
                };
                spread(&found) + &few
            };
            let cells: Vec<String> = methods.iter().map(cell).collect();
            if cells.iter().any(|c| c != "–") {
                table.line([vec![format!("`{measure}`")], cells].concat());
            }
        }
        text += &format!("\n{}", table.markdown());
    }
    text
}

/// Other detectors on the episodes of the first ensemble.
fn external(rows: &[Judged]) -> String {
    let environments = played(rows);
    let heads = environments.iter().flat_map(|env| [*env, "at equal times"]);
    let mut table = Table::new(&std::iter::once("detector").chain(heads).collect::<Vec<_>>());
    let names = std::iter::once(MAIN).chain(EXTERNAL);
    for name in names {
        let cells = environments.iter().flat_map(|env| {
            let own = || {
                of(rows, env, Method::Ensemble, name).filter(|r| r.trial == 1 && r.fails && r.is_published())
            };
            let mean = |number: fn(&Judged) -> Option<f64>| share(by_trial(own(), number).first().copied());
            [mean(|r| r.auroc), mean(|r| r.auroc_matched)]
        });
        table.line(std::iter::once(format!("`{name}`")).chain(cells).collect());
    }
    format!("{OTHERS}\n{}", table.markdown())
}

/// Every variant, with the AUROC of each method; policies that were trained with corruptions have a table of their own.
fn all_variants(rows: &[Judged]) -> String {
    let mut text = ALL.to_string();
    for env in played(rows) {
        text += &format!("\n### {env}: a policy fails below {}\n", solved(env));
        let (augmented, usual): (Vec<_>, Vec<_>) =
            methods(rows, env).into_iter().partition(|m| m.is_augmented());
        for methods in [usual, augmented].iter().filter(|methods| !methods.is_empty()) {
            text += &format!("\n{}", variants_of(rows, env, methods).markdown());
        }
    }
    text
}

fn variants_of(rows: &[Judged], env: &str, methods: &[Method]) -> Table {
    let titles = methods.iter().map(|m| m.title());
    let heads = std::iter::once("variant").chain(titles).chain(["policies that fail"]);
    let mut table = Table::new(&heads.collect::<Vec<_>>());
    for v in crate::ood_rl::play::settings(env) {
        let magnitude = v.anomaly_spec.params["magnitude"].as_f64().unwrap_or(f64::NAN);
        let own: Vec<_> =
            methods.iter().map(|m| trials(rows, (env, *m, &v.anomaly_spec.anomaly, magnitude))).collect();
        let (fails, n) = own.iter().flatten().fold((0, 0), |(f, n), r| (f + usize::from(r.fails), n + 1));
        if n == 0 {
            continue;
        }
        let kind = match own.iter().flatten().next() {
            _ if v.null.is_some() => " (null)",
            Some(row) if row.is_milder() => " (ours)",
            _ => "",
        };
        let cells = own.iter().map(|rows| spread(&numbers(rows)));
        let name = format!("{}{kind}", words(&v.anomaly_spec.anomaly, magnitude));
        table.line([name].into_iter().chain(cells).chain([format!("{fails} of {n}")]).collect());
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    fn root() -> std::path::PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
    }

    #[test]
    fn the_advice_is_what_the_results_say() {
        let rows = crate::ood_rl::load(&root().join("results/ood-rl")).unwrap();
        let auroc = |env, method, measure| {
            let own = of(&rows, env, method, measure).filter(|r| r.fails && r.is_published());
            let trials = by_trial(own, |r| r.auroc);
            trials.iter().sum::<f64>() / trials.len() as f64
        };
        for method in methods(&rows, "pendulum") {
            assert!(
                auroc("pendulum", method, "raw-sd") > auroc("pendulum", method, MAIN) + 0.3,
                "{method:?}"
            );
        }
        for method in [Method::Dropout, Method::Dropconnect] {
            assert!(auroc("cartpole", method, "relative-sd") > auroc("cartpole", method, MAIN), "{method:?}");
        }
        for measure in ["centred-sd", "mutual-information"] {
            let found = auroc("cartpole", Method::Ensemble, measure);
            assert!(found > auroc("cartpole", Method::Ensemble, "relative-sd") + 0.1, "{measure}: {found}");
        }
        // A policy that loses, and an AUROC that may be one half.
        let untold = |r: &&Judged| r.is_milder() && r.measure == MAIN && r.fails && r.auroc_low < Some(0.5);
        assert!(rows.iter().filter(untold).count() > 1);
    }

    #[test]
    fn the_page_says_what_the_results_say() {
        let (folder, shown) = (root().join("results/ood-rl"), root().join("docs/ood-rl.md"));
        let rows = crate::ood_rl::load(&folder).unwrap();
        if std::env::var_os("UPDATE_EXPECT").is_some() {
            std::fs::write(&shown, page(&rows)).unwrap();
        }
        let text = std::fs::read_to_string(shown).unwrap();
        let how = "make it again: offnominal bench --suite ood-rl --out results/ood-rl --page docs/ood-rl.md";
        assert!(text == page(&rows), "docs/ood-rl.md is old; {how}");
    }
}
