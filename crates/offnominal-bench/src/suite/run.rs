//! Running a suite: one environment after the other, each to its end.

use crate::results::{CampaignRecipe, Results, Row};
use crate::run::run_open;
use crate::suite::kept::Kept;
use crate::suite::narrow::{Narrowed, Selection};
use crate::suite::{Environment, Suite, table};
use crate::{cells as bench, report};
use anyhow::{Result, bail, ensure};
use offnominal_core::limits::REPETITIONS;
use offnominal_core::suggest::unknown;
use offnominal_engine::context::Context;
use offnominal_engine::noise;
use offnominal_engine::request::within;
use serde::Serialize;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// What of a suite is asked for, by name.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Request {
    /// The suite.
    pub suite: String,
    /// The environments; all, if none is named.
    pub envs: Vec<String>,
    /// The detectors; all, if none is named.
    pub detectors: Vec<String>,
    /// Repetitions at most, if not as many as the suite has.
    pub seeds: Option<u64>,
    /// The level of nominal noise, or a file; results are then kept in a folder of that name within `out`.
    pub noise: Option<String>,
    /// Where results are kept; `runs/<suite>`, if no folder is named.
    pub out: Option<PathBuf>,
}

/// How a suite stands after a call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Ran {
    /// The suite.
    pub suite: &'static str,
    /// The level of nominal noise, if any.
    pub noise: Option<String>,
    /// The environments that were asked for.
    pub environments: Vec<State>,
    /// Where results are kept.
    #[serde(skip)]
    pub out: PathBuf,
}

/// How an environment stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct State {
    /// The environment.
    pub env: String,
    /// Its table, if its results are there.
    pub table: Option<PathBuf>,
    /// Why it cannot be run, if it cannot.
    pub missing: Option<String>,
}

/// Runs the environments whose results are not there, and says of each asked for how it stands.
///
/// # Errors
/// If a name is wrong, a cell fails, or a file cannot be written. Environments that were finished before stay finished.
pub fn run(request: &Request, context: &Context) -> Result<Ran> {
    within("seeds", request.seeds.unwrap_or(1), 1..=REPETITIONS as u64)?;
    let suite = Suite::find(&request.suite)?;
    let noise = level(suite, request)?;
    let out = request.out.clone().unwrap_or_else(|| Path::new("runs").join(suite.id));
    let out = noise.as_deref().map_or(out.clone(), |level| out.join(&*noise::folder(level)));
    let (envs, detectors) = (&request.envs[..], &request.detectors[..]);
    let selection =
        Selection { suite, envs, detectors, seeds: request.seeds, noise: noise.as_deref(), out: &out };
    let environments = selection.run(context)?;
    Ok(Ran { suite: suite.id, noise, environments, out })
}

/// The level of noise that is asked for, as ids have it.
fn level(suite: &Suite, request: &Request) -> Result<Option<String>> {
    let level = request.noise.as_deref().map(noise::canonical).transpose()?;
    let level = level.filter(|level| level != noise::NONE);
    ensure!(
        level.is_none() || suite.takes_noise,
        "suite {}: expected no noise, found {:?}: only the suite vector is run with it",
        suite.id,
        level.unwrap_or_default()
    );
    Ok(level)
}

impl Ran {
    /// One line per detector over all environments of the folder, whichever of them this call ran, and what is missing.
    ///
    /// # Errors
    /// If the results of an environment cannot be read.
    pub fn summary(&self) -> Result<String> {
        let found = SuiteResults::load(Suite::find(self.suite)?, self.noise.as_deref(), &self.out)?;
        let missing = self.environments.iter().filter_map(|state| {
            state.missing.as_ref().map(|why| format!("\n{} is missing: no {why}", state.env))
        });
        Ok(format!("{}\n{}{}", found.text(), self.out.display(), missing.collect::<String>()))
    }
}

/// The results of a suite that are in a folder.
struct SuiteResults {
    rows: Vec<Row>,
    detectors: Vec<String>,
    environments: Vec<Environment>,
    /// How many environments the suite has.
    of: usize,
}

impl SuiteResults {
    fn load(suite: &Suite, noise: Option<&str>, out: &Path) -> Result<SuiteResults> {
        let all = suite.environments()?;
        let mut found = SuiteResults { rows: vec![], detectors: vec![], environments: vec![], of: all.len() };
        for env in &all {
            let Some(environment) = Environment::load(out, &noise::id(env, noise))? else { continue };
            let own = environment.rows(out)?;
            // Tables are of the first policy.
            let first = own.first().map(|row| row.policy.clone());
            found
                .rows
                .extend(own.into_iter().filter(|row| Some(&row.policy) == first.as_ref()).map(Row::from));
            for detector in &environment.detectors {
                if !found.detectors.contains(detector) {
                    found.detectors.push(detector.clone());
                }
            }
            found.environments.push(environment);
        }
        Ok(found)
    }

    fn text(&self) -> String {
        let there: Vec<&str> = self.environments.iter().map(|e| noise::base(&e.env)).collect();
        format!(
            "{}\n{} of {} environments: {}\nmeans over anomalies and strengths with 95 % intervals; alarms at the conformal \
             threshold",
            bench::summary(&self.rows, &self.detectors),
            there.len(),
            self.of,
            there.join(", "),
        )
    }
}

/// The results of a suite that are in a folder, as a page of Markdown: one line per detector, and the commands that made them.
///
/// # Errors
/// If no environment of the suite is in the folder, or a file there is damaged.
pub fn page(suite: &Suite, out: &Path) -> Result<String> {
    let (id, found) = (suite.id, SuiteResults::load(suite, None, out)?);
    ensure!(
        !found.environments.is_empty(),
        "expected results of an environment of suite {id} in {}, found none; `offnominal bench --suite {id}` makes them",
        out.display()
    );
    let commands: String = found.environments.iter().map(|e| format!("{}\n", e.made.command)).collect();
    Ok(format!("# Suite {id}\n\n```text\n{}\n```\n\n```sh\n{commands}```\n", found.text()))
}

impl Selection<'_> {
    fn run(&self, context: &Context) -> Result<Vec<State>> {
        let environments = self.environments()?;
        let mut states = Vec::new();
        for (i, env) in environments.iter().enumerate() {
            context.note(&format!("environment {} of {}: {env}", i + 1, environments.len()));
            let missing = one(self, env, context)?;
            let table = missing.is_none().then(|| self.out.join(format!("{env}.parquet")));
            states.push(State { env: env.clone(), table, missing });
        }
        Ok(states)
    }

    /// The environments asked for, in the order of the suite.
    fn environments(&self) -> Result<Vec<String>> {
        let all = self.suite.environments()?;
        if let Some(name) = unknown(self.envs, all.iter().map(String::as_str)) {
            bail!("suite {} has no environment {name}", self.suite.id);
        }
        let wanted = |env: &String| self.envs.is_empty() || self.envs.contains(env);
        Ok(all.into_iter().filter(wanted).collect())
    }

    /// Whether the detectors that are asked for are all of the suite's.
    fn names_all(&self) -> Result<bool> {
        let campaigns = self.suite.campaigns(None)?;
        let mut names =
            campaigns.iter().flat_map(|(campaign, _)| &campaign.detectors).map(|d| &d.choice.name);
        Ok(names.all(|name| self.detectors.contains(name)))
    }

    /// The command that makes an environment's results again, wherever they are to lie.
    fn command(&self, env: &str, seeds: u64) -> String {
        let some = match self.detectors {
            [] => String::new(),
            names => format!(" --detector {}", names.join(",")),
        };
        let noise = self.noise.map_or(String::new(), |level| format!(" --noise {level}"));
        format!("offnominal bench --suite {}{noise} --env {env}{some} --seeds {seeds}", self.suite.id)
    }
}

/// Runs an environment whose results are not there; returns why it cannot be run, if it cannot.
fn one(request: &Selection<'_>, env: &str, context: &Context) -> Result<Option<String>> {
    let narrowed = Narrowed::new(request, env)?;
    if narrowed.benches.is_empty() {
        context.note(&format!("left out: no {}", narrowed.missing.join(", no ")));
        return Ok(Some(narrowed.missing.join(", ")));
    }
    let digest = narrowed.digest();
    let there = Environment::load(request.out, &request.id(env))?;
    if there.as_ref().is_some_and(|environment| environment.digest == digest) {
        context.note("finished already");
        return Ok(None);
    }
    let others = others(request, there.as_ref());
    let kept = Kept::of(request, env, there)?;
    if kept.is_none() && !others.is_empty() {
        context.note(&format!("what was there of {others} is of another specification, and is replaced"));
    }
    let began = Instant::now();
    let mut n_cells = 0;
    for bench in &narrowed.benches {
        n_cells += run_open(bench, context)?;
    }
    let last_call = (began.elapsed().as_secs_f64(), n_cells);
    save(request, env, &narrowed, kept, (last_call, context.jobs))?;
    Ok(None)
}

/// The detectors that have results and are not asked for, if some are.
fn others(request: &Selection<'_>, there: Option<&Environment>) -> String {
    let there = there.filter(|_| !request.detectors.is_empty());
    let names = there.into_iter().flat_map(|environment| &environment.detectors);
    names.filter(|name| !request.detectors.contains(name)).cloned().collect::<Vec<_>>().join(", ")
}

/// Writes the results of an environment.
fn save(
    request: &Selection<'_>,
    env: &str,
    narrowed: &Narrowed,
    kept: Option<Kept>,
    (last_call, jobs): ((f64, usize), usize),
) -> Result<()> {
    let (mut results, mut scores) = (Results::default(), Vec::new());
    for bench in &narrowed.benches {
        join(&mut results, bench::results(bench)?);
        scores.extend(bench::scores(bench)?);
    }
    let plan = &narrowed.benches[0].plan;
    let detectors = kept.as_ref().map_or(request.detectors, |kept| &kept.detectors);
    let whole = Selection { detectors, ..*request };
    let whole = Selection { detectors: if whole.names_all()? { &[] } else { detectors }, ..whole };
    let described = Narrowed::new(&whole, env)?;
    results.recipe.made_by(&whole.command(env, plan.campaign.seeds), &narrowed.texts.join("\n"));
    results.recipe.wall_secs = last_call.0;
    let CampaignRecipe { made, policies, .. } = results.recipe.clone();
    let mut environment = Environment {
        env: request.id(env),
        digest: described.digest(),
        made,
        policies,
        seeds: plan.campaign.seeds,
        missing: described.missing.clone(),
        hardware: if request.suite.id == "images" { hardware(jobs) } else { String::new() },
        detectors: narrowed.detector_names(),
        last_call,
        coverage: results.coverage.clone(),
        diagnoses: results.diagnoses.clone(),
        scores,
    };
    let mut rows = table::averaged(&results.rows);
    if let Some(kept) = kept {
        kept.join(&mut environment, &mut rows);
    }
    environment.save(request.out, &rows, &report::render(&results)?)
}

/// What computed, in words.
fn hardware(jobs: usize) -> String {
    let text = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = text.lines().find_map(|line| line.strip_prefix("model name")?.split_once(':'));
    let model = model.map_or("a processor that does not say its name", |(_, name)| name.trim());
    let threads = if jobs == 1 { "one thread".into() } else { format!("{jobs} threads") };
    format!("{threads}, {model}")
}

/// Adds the results of another campaign in the same environment.
fn join(results: &mut Results, more: Results) {
    let Results { recipe, rows, traces, curves, diagnoses, videos, coverage, panels } = more;
    if results.recipe.campaign.is_empty() {
        results.recipe = recipe;
    } else {
        results.recipe.campaign = format!("{}, {}", results.recipe.campaign, recipe.campaign);
        results.recipe.policies.extend(recipe.policies);
    }
    results.rows.extend(rows);
    results.traces.extend(traces);
    results.curves.extend(curves);
    results.diagnoses.extend(diagnoses);
    results.videos.extend(videos);
    results.coverage.extend(coverage);
    results.panels.extend(panels);
}

#[cfg(test)]
mod tests {
    use super::*;
    use offnominal_detectors::diagnosis::AFTER;

    /// Two environments, of which one has no such policy.
    static SMALL: Suite =
        Suite { id: "small", takes_noise: true, files: &[("one.toml", ONE), ("two.toml", TWO)] };

    const ONE: &str = r#"
name = "one"
seed = 3
envs = ["sap-goal1"]
detectors = ["clock", "knn"]
diagnosis = "knn"
anomalies = ["obs-offset", "act-noise"]
strengths = ["strong"]
false_alarms = 0.2
replicates = 10
video = false
episodes = { train = 6, validation = 6, test = 6 }
"#;

    const TWO: &str = r#"
name = "two"
seed = 3
envs = ["sap-goal0", "sap-goal1"]
policies = ["td3x"]
detectors = ["clock"]
anomalies = ["obs-offset"]
strengths = ["strong"]
false_alarms = 0.2
episodes = { train = 6, validation = 6, test = 6 }
"#;

    fn run_small(out: &Path, envs: &[&str]) -> Result<Vec<State>> {
        run_some(out, envs, &[])
    }

    fn run_some(out: &Path, envs: &[&str], detectors: &[&str]) -> Result<Vec<State>> {
        let [envs, detectors] =
            [envs, detectors].map(|names| names.iter().map(ToString::to_string).collect::<Vec<_>>());
        let (envs, detectors) = (&envs[..], &detectors[..]);
        let context = Context::silent(0, 2);
        Selection { suite: &SMALL, envs, detectors, seeds: None, noise: None, out }.run(&context)
    }

    #[test]
    fn detectors_that_are_not_asked_for_keep_their_results() {
        let (whole, parts) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        run_small(whole.path(), &["sap-goal1"]).unwrap();
        for detector in ["knn", "clock"] {
            run_some(parts.path(), &["sap-goal1"], &[detector]).unwrap();
        }
        let of = |folder: &Path| {
            let environment = Environment::load(folder, "sap-goal1").unwrap().unwrap();
            let mut rows: Vec<String> =
                environment.rows(folder).unwrap().iter().map(|row| format!("{row:?}")).collect();
            rows.sort();
            let Environment { digest, detectors, coverage, diagnoses, missing, made, .. } = environment;
            (rows, digest, detectors, coverage.len(), format!("{diagnoses:?}"), missing, made.command)
        };
        assert!(of(parts.path()) == of(whole.path()));
        run_small(parts.path(), &["sap-goal1"]).unwrap();
        let cells = |folder: &Path| std::fs::read_dir(folder.join("cells")).unwrap().count();
        assert_eq!(cells(parts.path()), cells(whole.path()));
    }

    #[test]
    fn detectors_of_further_campaigns_are_named_too() {
        const MORE: &str = r#"
name = "more"
seed = 3
envs = ["sap-goal1"]
detectors = ["clock", "random"]
anomalies = ["obs-offset"]
strengths = ["strong"]
false_alarms = 0.2
replicates = 10
video = false
episodes = { train = 6, validation = 6, test = 6 }
"#;
        static WIDE: Suite =
            Suite { id: "wide", takes_noise: true, files: &[("one.toml", ONE), ("more.toml", MORE)] };
        let (folder, context) = (tempfile::tempdir().unwrap(), Context::silent(0, 2));
        let out = folder.path();
        let all = Selection { suite: &WIDE, envs: &[], detectors: &[], seeds: None, noise: None, out };
        all.run(&context).unwrap();
        let environment = Environment::load(out, "sap-goal1").unwrap().unwrap();
        assert_eq!(environment.detectors, ["clock", "knn", "random"]);
        let rows = environment.rows(out).unwrap();
        assert!(rows.iter().all(|row| environment.detectors.contains(&row.detector)));
    }

    #[test]
    fn a_finished_environment_is_kept_and_one_that_cannot_be_run_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let states = run_small(folder.path(), &[]).unwrap();
        let found: Vec<_> =
            states.iter().map(|s| (&*s.env, s.table.is_some(), s.missing.as_deref())).collect();
        assert_eq!(found, [("sap-goal0", false, Some("policy td3x")), ("sap-goal1", true, None)]);
        let environment = Environment::load(folder.path(), "sap-goal1").unwrap().unwrap();
        let rows = environment.rows(folder.path()).unwrap();
        let matched: Vec<_> = rows.iter().filter(|r| r.metric == "auroc_matched").collect();
        assert_eq!(matched.len(), 2 * (1 + 2), "the control and two anomalies for each detector");
        assert_eq!(
            (environment.missing.len(), environment.detectors.len(), environment.last_call.1),
            (1, 2, 4 + 2 + 2 + 1)
        );
        let ways = 2;
        assert_eq!(
            environment.diagnoses.len(),
            2 * ways * AFTER.len(),
            "by rules and by faults, at each time"
        );
        assert!(
            environment.scores.len() == 2 && environment.scores.iter().all(|s| s.value < 1.0),
            "{:?}",
            environment.scores
        );
        assert!(environment.coverage.iter().any(|c| c.threshold == "conformal" && c.detector == "knn"));
        assert!(matched.iter().filter(|r| r.detector == "clock").all(|r| r.value == 0.5));

        std::fs::remove_dir_all(folder.path().join("cells")).unwrap();
        let file = || std::fs::read(folder.path().join("sap-goal1.json")).unwrap();
        let before = file();
        run_small(folder.path(), &["sap-goal1"]).unwrap();
        assert!(!folder.path().join("cells").exists(), "what is finished is not run again");
        assert!(before == file());
    }

    #[test]
    fn an_environment_that_was_changed_or_cut_off_is_noticed() {
        let folder = tempfile::tempdir().unwrap();
        assert!(
            format!("{:#}", run_small(folder.path(), &["sap-goal2"]).unwrap_err()).contains("there are: ")
        );
        std::fs::write(folder.path().join("sap-goal1.json"), "{\"env\": \"sap-goal1\"").unwrap();
        let error = format!("{:#}", run_small(folder.path(), &["sap-goal1"]).unwrap_err());
        assert!(error.contains("sap-goal1.json"), "{error}");
    }
}
