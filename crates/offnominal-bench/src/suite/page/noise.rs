//! Who is good only because simulators are exact? The order of detectors at each level of nominal noise.

use crate::report::aggregate;
use crate::suite::Suite;
use crate::suite::page::gain::{OURS, THEIRS, against, signed};
use crate::suite::page::pick::Pick;
use crate::suite::page::{Column, Found, POLICY, estimate, is_held_out, table, table_of, two};
use anyhow::Result;
use offnominal_engine::noise;
use std::path::Path;

/// The metric of this section, and the weakest strength, which noise hides first.
const METRIC: &str = "auroc_matched";
const STRENGTH: &str = "tiny";

/// The results of a level that are there, and those without noise in the same environments.
struct Level {
    name: &'static str,
    noisy: Found,
    plain: Found,
}

/// The section; nothing, where there are no results with noise.
pub(super) fn section(suite: &Suite, found: &Found, out: &Path) -> Result<String> {
    let mut levels = Vec::new();
    for name in noise::LEVELS {
        let noisy = Found::at(suite, &out.join(name), Some(name))?;
        if !noisy.environments.is_empty() {
            let plain = found.within(&noisy);
            levels.push(Level { name, noisy, plain });
        }
    }
    let sections: String = levels.iter().map(Level::section).collect();
    Ok(if sections.is_empty() { sections } else { format!("{HEAD}{sections}") })
}

const HEAD: &str = "## With nominal noise\n\nSensors and actuators of a simulator are exact; those of a robot are not. Here both \
     nominal and anomalous episodes have the noise of a level ([noise.md](noise.md)), the same for an episode and its twin. \
     Strengths were calibrated again at each level: tiny costs the policy one per cent of what it scores with that noise.\n";

impl Level {
    fn section(&self) -> String {
        let own = self.noisy.worlds();
        let missing = match &self.noisy.missing[..] {
            [] => String::new(),
            ids => format!(" Not run yet: {}.", names(ids.iter().map(|id| noise::base(id)))),
        };
        format!(
            "\n### `{}`\n\nIn {}.{missing} Matched AUROC at {STRENGTH}, means over environments and anomalies.\n\n{}\n\
             From best to worst without noise: {}. With it: {}.\n\n{}\n{}\n```sh no-run: takes hours\n{}\n```\n",
            self.name,
            names(own.iter().copied()),
            self.detectors(),
            ordered(&self.plain, &self.names()),
            ordered(&self.noisy, &self.names()),
            self.gains(),
            self.environments(),
            self.commands(),
        )
    }

    fn commands(&self) -> String {
        let all: Vec<&str> = self.noisy.environments.iter().map(|e| &*e.made.command).collect();
        all.join("\n")
    }

    /// The detectors that were asked with noise in all of its environments: means over others would not compare.
    fn names(&self) -> Vec<&str> {
        let everywhere =
            |d: &&str| self.noisy.environments.iter().all(|e| e.detectors.iter().any(|own| own == d));
        self.noisy.detectors().into_iter().filter(everywhere).collect()
    }

    fn detectors(&self) -> String {
        let (plain, noisy) = (tiny(&self.plain), tiny(&self.noisy));
        let columns: [Column<'_, &str>; 3] = [
            ("detector", &|d| format!("`{d}`")),
            ("without noise", &|d| estimate(plain.detector(d).mean(METRIC, ""))),
            ("with it", &|d| estimate(noisy.detector(d).mean(METRIC, ""))),
        ];
        table_of(&self.names(), &columns)
    }

    /// What our default gains over PE-DM, in held-out environments and in the others.
    fn gains(&self) -> String {
        let gain = |found: &Found, held_out: bool| {
            let part = tiny(found).only(|r| is_held_out(noise::base(&r.env)) == held_out);
            signed(aggregate::mean(&against(&part, METRIC, "", |a, b| a - b), (-1.0, 1.0)))
        };
        let row = |(title, held_out): (&str, bool)| {
            vec![title.to_string(), gain(&self.plain, held_out), gain(&self.noisy, held_out)]
        };
        let head = [format!("gain of `{OURS}` over `{THEIRS}`"), "without noise".into(), "with it".into()];
        let head: Vec<&str> = head.iter().map(String::as_str).collect();
        let parts =
            [("environments of the choice and their siblings", false), ("held-out environments", true)];
        table(&head, &parts.map(row))
    }

    fn environments(&self) -> String {
        let (plain, noisy, names) = (tiny(&self.plain), tiny(&self.noisy), self.noisy.detectors());
        let cell = |world: &str, detector: &str| {
            let value = |pick: &Pick<'_>| {
                let own = pick.only(|r| noise::base(&r.env) == world).detector(detector);
                own.mean(METRIC, "").map_or(f64::NAN, |e| e.value)
            };
            format!("{} → {}", two(value(&plain)), two(value(&noisy)))
        };
        let row = |world: &&str| {
            let cells = names.iter().map(|d| cell(world, d));
            std::iter::once(format!("`{world}`")).chain(cells).collect::<Vec<_>>()
        };
        let head: Vec<&str> = std::iter::once("environment").chain(names.iter().copied()).collect();
        table(&head, &self.noisy.worlds().iter().map(row).collect::<Vec<_>>())
    }
}

fn tiny(found: &Found) -> Pick<'_> {
    Pick::anomalies(&found.rows, POLICY, &[METRIC]).strength(STRENGTH)
}

fn ordered(found: &Found, detectors: &[&str]) -> String {
    let lines = tiny(found);
    let mean = |d: &str| lines.detector(d).mean(METRIC, "").map(|e| e.value);
    let mut known: Vec<(&str, f64)> = detectors.iter().filter_map(|d| Some((*d, mean(d)?))).collect();
    known.sort_by(|a, b| b.1.total_cmp(&a.1));
    names(known.into_iter().map(|(d, _)| d))
}

fn names<'a>(ids: impl Iterator<Item = &'a str>) -> String {
    ids.map(|id| format!("`{id}`")).collect::<Vec<_>>().join(", ")
}

impl Found {
    /// The environments without their noise.
    fn worlds(&self) -> Vec<&str> {
        self.environments.iter().map(|e| noise::base(&e.env)).collect()
    }

    /// The part of these results that is of the environments of others.
    fn within(&self, others: &Found) -> Found {
        let worlds = others.worlds();
        let is_in = |env: &str| worlds.contains(&noise::base(env));
        let environments = self.environments.iter().filter(|e| is_in(&e.env)).cloned().collect();
        let rows = self.rows.iter().filter(|r| is_in(&r.env)).cloned().collect();
        Found { environments, missing: vec![], rows }
    }
}
