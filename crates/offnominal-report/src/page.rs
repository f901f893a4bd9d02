//! Self-contained HTML pages: one file with its style, its images and its data, and no link to anything that a reader
//! may not have.
//!
//! A subsystem brings a template that extends `page.html`, which has the blocks `title`, `style` (more of it) and `body`,
//! and may import `recipe` from `made.html`, which shows what made a result, and `fact_list` and `tile_row` from `lists.html`.

use anyhow::{Context, Result};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use minijinja::syntax::SyntaxConfig;
use minijinja::value::Serde;
use minijinja::{Environment, Value};
use serde::Serialize;

/// Fills a template; the first one is the page, the others are what it imports.
///
/// # Errors
/// If a template is broken or cannot be filled, which is a mistake of ours.
pub fn render(templates: &[(&'static str, &'static str)], content: impl Serialize) -> Result<String> {
    let (page, _) = templates.first().context("expected a template, found none")?;
    let environment = environment(templates).with_context(|| format!("template {page} is broken"))?;
    let filled = environment.get_template(page)?.render(Serde(content));
    filled.with_context(|| format!("template {page} cannot be filled"))
}

fn environment(templates: &[(&'static str, &'static str)]) -> Result<Environment<'static>, minijinja::Error> {
    let mut environment = Environment::new();
    environment.set_syntax(SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).build()?);
    environment.add_template("page.html", include_str!("../templates/page.html"))?;
    environment.add_template("made.html", include_str!("../templates/made.html"))?;
    environment.add_template("lists.html", include_str!("../templates/lists.html"))?;
    environment.add_global("style", Value::from_safe_string(include_str!("../templates/page.css").into()));
    templates.iter().try_for_each(|(name, text)| environment.add_template(name, text))?;
    Ok(environment)
}

/// An image that is a part of the page; `kind` is the end of its media type, such as `png`.
pub fn embedded(kind: &str, bytes: &[u8]) -> Value {
    Value::from_safe_string(format!("data:image/{kind};base64,{}", encoded(bytes)))
}

/// Bytes as base64.
pub fn encoded(bytes: &[u8]) -> String {
    STANDARD.encode(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    const PLAIN: (&str, &str) = (
        "plain.html",
        r#"{% extends "page.html" %}{% block title %}T{% endblock %}{% block body %}<p>{{ text }}</p>{% endblock %}"#,
    );

    #[test]
    fn a_page_has_its_style_and_escapes_its_content() {
        let page = render(&[PLAIN], json!({ "text": "<script>" })).unwrap();
        assert!(page.starts_with("<!doctype html>") && page.trim_end().ends_with("</html>"), "{page}");
        assert!(page.contains("<title>T – Offnominal</title>") && page.contains("<p>&lt;script&gt;</p>"));
        assert!(page.contains("font-family"), "the style is missing");
    }

    #[test]
    fn a_broken_template_is_named() {
        let error = render(&[("x.html", "{% if %}")], json!({})).unwrap_err();
        assert!(error.to_string().contains("x.html"), "{error:#}");
    }

    #[test]
    fn images_are_embedded() {
        assert_eq!(embedded("png", b"hi").as_str(), Some("data:image/png;base64,aGk="));
    }
}
