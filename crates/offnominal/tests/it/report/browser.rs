//! The page in a real browser, where one is installed: no console errors, plots drawn, choices work.

use super::fixture;
use crate::browser::find;
use offnominal_bench::report;
use std::path::Path;
use std::process::Output;

/// Appended to the page: uses what a reader would use, and writes down what came of it.
const VISIT: &str = r##"<script>
const seen = {};
addEventListener("error", (event) => (seen.error = event.message));
const metric = document.getElementById("metric");
metric.value = [...metric.options].findIndex((o) => o.textContent.startsWith("AUROC global"));
metric.dispatchEvent(new Event("change"));
const clock = [...document.querySelectorAll("td[data-cell]")].find((td) => td.dataset.tip.includes("· clock ·"));
seen.clock = clock.textContent;
clock.click();
seen.listed = document.querySelectorAll("#list tbody tr").length;
seen.found = document.querySelector("tr.found").textContent.includes("clock");
document.querySelectorAll("#summary thead th")[1].click();
seen.first = document.querySelector("#summary tbody th").textContent;
seen.shown = document.querySelectorAll("#delays .chart:not(.off)").length;
const chart = document.querySelector("#traces svg");
const box = chart.getBoundingClientRect();
const [x, y] = [box.left + box.width / 2, box.top + box.height / 2];
chart.dispatchEvent(new PointerEvent("pointermove", { clientX: x, clientY: y, bubbles: true }));
seen.tip = document.getElementById("tip").textContent;
document.documentElement.dataset.seen = JSON.stringify(seen);
</script>"##;

#[test]
fn a_browser_shows_everything_without_complaint() {
    let Some(browser) = find() else { return };
    let page = report::render(&fixture::results("two-worlds")).unwrap();
    let shown = visit(&browser, &page);
    let (dom, log) = (String::from_utf8_lossy(&shown.stdout), String::from_utf8_lossy(&shown.stderr));
    assert!(!log.contains("CONSOLE"), "the console is not empty: {log}");
    assert!(dom.contains("data-ready=\"48\""), "48 plots are drawn");
    let seen = dom.split("data-seen=\"").nth(1).and_then(|s| s.split('"').next()).unwrap_or("nothing");
    let seen = seen.replace("&quot;", "\"");
    assert!(seen.contains("\"clock\":\".71\""), "the heat map shows the chosen metric: {seen}");
    assert!(seen.contains("\"listed\":588") && seen.contains("\"found\":true"), "the list of cells: {seen}");
    assert!(seen.contains("\"first\":\"pe-dm\""), "sorted by AUROC: {seen}");
    assert!(seen.contains("\"shown\":8"), "only the preferred threshold: {seen}");
    assert!(seen.contains("step ") && seen.contains("nominal twin: "), "values under the pointer: {seen}");
    assert!(!seen.contains("error"), "{seen}");
}

#[test]
fn the_check_sees_a_broken_page() {
    let Some(browser) = find() else { return };
    let shown = visit(&browser, "<!doctype html><script>console.error('broken'); nothing.at.all();</script>");
    assert!(String::from_utf8_lossy(&shown.stderr).contains("CONSOLE"));
    assert!(!String::from_utf8_lossy(&shown.stdout).contains("data-ready"));
}

fn visit(browser: &Path, page: &str) -> Output {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("report.html");
    let page = if page.contains("</body>") {
        page.replace("</body>", &format!("{VISIT}</body>"))
    } else {
        page.into()
    };
    std::fs::write(&file, page).unwrap();
    let (profile, address) = (folder.path().join("profile"), format!("file://{}", file.display()));
    crate::browser::visit(browser, &address, &profile, &["--virtual-time-budget=3000"])
}
