//! The page: what the monitor is, and a script that shows what the events say.

use anyhow::Result;
use offnominal_monitor::About;
use offnominal_report::{number, page};
use serde::Serialize;

/// What the page may do: run what is in it and ask this server, and be in no frame, so that nobody can make a reader press
/// a button that he does not see.
pub const POLICY: &str = "Content-Security-Policy: default-src 'none'; style-src 'unsafe-inline'; \
                          script-src 'unsafe-inline'; connect-src 'self'; img-src data:; base-uri 'none'; \
                          form-action 'none'; frame-ancestors 'none'\r\n";

#[derive(Serialize)]
struct Content<'a> {
    file: &'a str,
    detector: &'a str,
    environment: &'a str,
    policy: &'a str,
    rule: String,
    n_observation: usize,
    n_action: usize,
    diagnoses: bool,
}

/// The page of a monitor.
///
/// # Errors
/// If the template is broken, which is a mistake of ours.
pub fn render(file: &str, about: &About) -> Result<String> {
    let alpha = about.threshold.alpha.map(|alpha| format!(", α {}", number::plain(alpha)));
    let content = Content {
        file,
        detector: &about.detector.id,
        environment: &about.environment.id,
        policy: &about.policy.id,
        rule: about.threshold.rule.clone() + &alpha.unwrap_or_default(),
        n_observation: about.obs_width(),
        n_action: about.act_width(),
        diagnoses: about.diagnoses,
    };
    page::render(&[("monitor.html", include_str!("../templates/monitor.html"))], content)
}
