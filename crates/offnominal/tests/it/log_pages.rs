//! The pages of `inspect` and `score` in a real browser, where one is installed: on a wide screen and on a phone, light and
//! dark, nothing overflows, every rule of structure holds, and the overview can be zoomed.

use crate::browser::{find, visit};
use crate::{bare, succeeds};
use std::fmt::Write;
use std::path::Path;

/// Appended to a page: complains of what a reader of screens, of a phone or with a keyboard would stumble over.
const CHECK: &str = r##"<script>
addEventListener("load", () => {
  const all = (selector) => [...document.querySelectorAll(selector)];
  const found = [];
  const insist = (holds, what) => holds || found.push(what);
  insist(document.documentElement.scrollWidth <= innerWidth, `overflow: ${document.documentElement.scrollWidth} px`);
  insist(document.documentElement.lang, "no language");
  insist(all("main").length === 1, "main landmark");
  const outside = [...document.body.children].filter((e) => !e.matches("header, nav, main, footer, script"));
  insist(outside.length === 0, `outside of landmarks: ${outside.map((e) => e.tagName)}`);
  const levels = all("h1, h2, h3, h4, h5, h6").map((h) => Number(h.tagName[1]));
  insist(levels.filter((level) => level === 1).length === 1, "one h1");
  insist(levels.every((level, i) => level <= (levels[i - 1] ?? 0) + 1), `heading order: ${levels}`);
  insist(all(".legend").length <= 1, "more than one legend");
  const ids = all("[id]").map((e) => e.id);
  insist(new Set(ids).size === ids.length, "an id twice");
  insist(all('a[href^="#"]').every((a) => ids.includes(a.hash.slice(1))), "a link that leads nowhere");
  insist(all("th").every((th) => th.scope && th.textContent.trim()), "a header cell without scope or text");
  insist(all("svg[role=img], img").every((e) => e.getAttribute("aria-label") || e.alt), "a picture without a name");
  insist(all("button").every((e) => e.textContent.trim()), "a button without a name");
  const wide = all("*").filter((e) => /auto|scroll/.test(getComputedStyle(e).overflowX) && e.scrollWidth > e.clientWidth);
  insist(wide.every((e) => e.tabIndex === 0 && e.getAttribute("aria-label")), "what scrolls cannot be focused, or has no name");
  const light = (colour) => {
    const parts = colour.match(/[\d.]+/g).slice(0, 3).map((x) => x / 255);
    const [r, g, b] = parts.map((x) => (x <= 0.04045 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const paper = light(getComputedStyle(document.body).backgroundColor);
  const pale = all("main *:not(svg):not(option)").filter((e) => {
    const has = [...e.childNodes].some((n) => n.nodeType === 3 && n.textContent.trim());
    if (!has || e.disabled) return false;
    const style = getComputedStyle(e);
    const ink = light(e.closest("svg") ? style.fill : style.color);
    return (Math.max(ink, paper) + 0.05) / (Math.min(ink, paper) + 0.05) < 4.5;
  });
  insist(pale.length === 0, `pale text: ${pale[0]?.outerHTML.slice(0, 90)}`);
  const plane = document.querySelector(".overview .plane");
  const box = () => plane?.getAttribute("viewBox").split(" ").map(Number);
  const press = (name) => all(".zoom button").find((b) => b.textContent === name)?.click();
  const whole = box();
  press("Zoom in");
  press("Later");
  const part = box();
  insist(!plane || (part[2] === whole[2] / 2 && part[0] > whole[0]), `zoom: ${part}`);
  press("Show all");
  insist(String(box()) === String(whole), `zoom out: ${box()}`);
  const dark = matchMedia("(prefers-color-scheme: dark)").matches;
  parent.postMessage({ width: innerWidth, dark, found, planes: all(".plane").length, text: document.body.innerText.length }, "*");
});
addEventListener("error", (event) => parent.postMessage({ width: innerWidth, found: [event.message] }, "*"));
</script>"##;

/// A page in two frames, as a browser without a screen has no narrow windows: what each said is in its title.
const FRAMES: &str = r#"<!doctype html><html lang="en"><title>frames</title><body>
<iframe src="page.html" width="1400" height="900"></iframe><iframe src="page.html" width="400" height="800"></iframe>
<script>addEventListener("message", (event) => {
  const said = event.data; const line = document.createElement("pre");
  line.textContent = `[${said.width}${said.dark ? " dark" : ""}] ${said.planes} planes: ${said.found.join("; ") || "fine"}`;
  document.body.append(line);
});</script></body></html>"#;

/// What the check says of a page on a wide screen and on a phone, sorted.
fn said(browser: &Path, page: &str, dark: bool) -> Vec<String> {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("page.html"), page.replace("</body>", &format!("{CHECK}</body>")))
        .unwrap();
    let frames = folder.path().join("frames.html");
    std::fs::write(&frames, FRAMES).unwrap();
    let scheme = format!("--blink-settings=preferredColorScheme={}", if dark { 0 } else { 1 });
    let more = ["--virtual-time-budget=5000", "--window-size=1900,1000", &scheme];
    let shown =
        visit(browser, &format!("file://{}", frames.display()), &folder.path().join("profile"), &more);
    let log = String::from_utf8_lossy(&shown.stderr);
    assert!(!log.contains("CONSOLE"), "the console is not empty: {log}");
    let dom = String::from_utf8_lossy(&shown.stdout).into_owned();
    let mut lines: Vec<String> =
        dom.split("<pre>").skip(1).map(|s| s.split("</pre>").next().unwrap().into()).collect();
    lines.sort();
    lines
}

/// Rows of five minutes from a date on, with a fault from a row on.
fn plant(rows: std::ops::Range<u32>, fault: std::ops::Range<u32>, label: bool) -> String {
    let mut text = String::from("time,temperature_of_the_second_heat_exchanger,pressure,label\n");
    for i in rows {
        // Nothing for a day, and later no pressure for half a day.
        if (5000..5288).contains(&i) {
            continue;
        }
        let noise = f64::from(i.wrapping_mul(2_654_435_761) >> 16) / 65_536.0;
        let is_wrong = fault.contains(&i);
        let pressure =
            if (5600..5744).contains(&i) { String::new() } else { format!("{}", noise * 0.1 + 1.0) };
        let day = f64::from(i) / 288.0;
        let heat = (day * std::f64::consts::TAU).sin() + 0.1 * noise + if is_wrong { 3.0 } else { 0.0 };
        let (at, mark) = (1_709_251_200 + 300 * i, u8::from(label && is_wrong));
        writeln!(text, "{at},{heat},{pressure},{mark}").unwrap();
    }
    text
}

/// The pages of a log with dates, faults, a gap and a lost sensor, which is cut into days.
fn pages(folder: &Path) -> [String; 2] {
    let at = |name: &str| folder.join(name).display().to_string();
    std::fs::write(at("nominal.csv"), plant(0..288 * 44, 0..0, false)).unwrap();
    std::fs::write(at("plant.csv"), plant(4000..288 * 40, 4300..4400, true)).unwrap();
    let map = "version = 1\nlabel = \"label\"\ncommand = []\nobservation = [\n  \
               { column = \"temperature_of_the_second_heat_exchanger\" },\n  { column = \"pressure\" },\n]\n\
               [clock]\ncolumn = \"time\"\nunit = \"s\"\nmax_age_secs = 1500\n[episodes]\nby = \"window\"\nsecs = 86400\n";
    std::fs::write(at("map.toml"), map).unwrap();
    let run = |args: &[&str]| String::from_utf8(succeeds(&mut bare(args)).stdout).unwrap();
    run(&["inspect", &at("plant.csv"), "--report", &at("inspect.html"), "--out", &at("proposed.toml")]);
    run(&[
        "fit",
        &at("nominal.csv"),
        "--map",
        &at("map.toml"),
        "--detector",
        "mewma",
        "--out",
        &at("plant.monitor"),
    ]);
    let told = run(&["score", &at("plant.monitor"), &at("plant.csv"), "--report", &at("alarms.html")]);
    assert!(told.contains(" quiet windows\n"), "{told}");
    ["inspect.html", "alarms.html"].map(|name| std::fs::read_to_string(at(name)).unwrap())
}

#[test]
fn pages_of_logs_hold_on_a_wide_screen_and_on_a_phone_in_light_and_dark() {
    let folder = tempfile::tempdir().unwrap();
    let [inspect, alarms] = pages(folder.path());
    let decision = alarms.find("class=\"lede\"").unwrap();
    assert!(
        decision < alarms.find("AUROC").unwrap() && alarms.contains("quiet windows</summary>"),
        "{alarms}"
    );
    let Some(browser) = find() else { return };
    for dark in [false, true] {
        let shade = if dark { " dark" } else { "" };
        let fine =
            |planes: usize| ["1400", "400"].map(|width| format!("[{width}{shade}] {planes} planes: fine"));
        assert_eq!(said(&browser, &inspect, dark), fine(0));
        assert_eq!(said(&browser, &alarms, dark), fine(alarms.matches("class=\"plane\"").count()));
    }
}

#[test]
fn the_check_sees_what_is_wrong_with_a_page() {
    let Some(browser) = find() else { return };
    let wrong = "<!doctype html><html><body style='background:#fff'><h1>A</h1><h3 id=a>B</h3><p style='width:3000px; color:#888' id=a>C</p>\
                 <ul class=legend></ul><ul class=legend></ul><a href='#b'>D</a><table><tr><th></th></tr></table>\
                 <svg role=img></svg><button></button>\
                 <div style='overflow-x:auto; width:50px'><div style='width:90px'>E</div></div>\
                 <main><p style='color:#999'>F</p></main></body></html>";
    let lines = said(&browser, wrong, false);
    assert_eq!(lines.len(), 2, "{lines:?}");
    for what in [
        "overflow: ",
        "no language",
        "outside of landmarks",
        "heading order: 1,3",
        "more than one legend",
        "an id twice",
        "a link that leads nowhere",
        "a header cell",
        "a picture without a name",
        "a button without a name",
        "cannot be focused",
        "pale text",
    ] {
        assert!(lines.iter().all(|line| line.contains(what)), "{what}: {lines:?}");
    }
    assert!(said(&browser, "<p>no page</p></body>", false).iter().all(|line| line.contains("main landmark")));
}
