//! The cards of environments and anomalies, as Markdown, from their specifications.
//!
//! What a card says is what the code does: it is written from the same data that checks user input.

use crate::anomaly::{self, Class};
use offnominal_core::spec::{Channel, EnvSpec, Image, Parameter};

/// The card of an environment.
pub fn environment(spec: &EnvSpec) -> String {
    let mut card = format!("# {}\n\n{}\n", spec.id, sentence(&spec.summary));
    section(&mut card, "Observation", &channels(&spec.observation));
    section(&mut card, "Action", &channels(&spec.action));
    section(&mut card, "Clock", &clock(spec));
    section(&mut card, "Reward", &sentence(&spec.reward));
    section(&mut card, "Reset", &sentence(&spec.reset));
    section(&mut card, "Initial condition", &initial(spec));
    section(&mut card, "Success and end", &sentence(&spec.success));
    section(&mut card, "Parameters", &parameters(&spec.parameters));
    section(&mut card, "Images", &images(spec));
    section(&mut card, "Source", &sentence(&spec.source));
    card
}

/// The card of all anomalies.
pub fn anomalies() -> String {
    let mut card = String::from("# Anomalies\n\n");
    card += "Every anomaly has one `magnitude`. The neutral one changes nothing. Those of signals take `channels`, a \
             list of names or numbers, or `one`: a channel that is drawn anew for each episode; all channels unless given. \
             Where a magnitude is in the unit of the channel, `units` may list another unit for each channel, such as its \
             nominal deviation (`--deviations`). \
             The schedule is independent of the anomaly: each can stay to the end, end after a window of steps, or come \
             and go.\n\n";
    card += "The recorded action is always the policy's own action. The observation of the reset is never disturbed.\n";
    for (title, class) in [
        ("Observation anomalies", Class::Observation),
        ("Action anomalies", Class::Action),
        ("Dynamics anomalies", Class::Dynamics),
        ("Camera faults", Class::Camera),
    ] {
        section(&mut card, title, &anomalies_of(class));
    }
    card
}

fn section(card: &mut String, title: &str, body: &str) {
    *card += &format!("\n## {title}\n\n{}\n", body.trim_end());
}

fn channels(channels: &[Channel]) -> String {
    let row = |(i, c): (usize, &Channel)| {
        let (low, high) = (number(c.low), number(c.high));
        [i.to_string(), code(&c.name), meaning(c), c.unit.clone(), low, high]
    };
    table(["#", "channel", "meaning", "unit", "low", "high"], channels.iter().enumerate().map(row))
}

/// What a channel means, and what it is if not a real number.
fn meaning(channel: &Channel) -> String {
    match (channel.choices, channel.image) {
        (0, None) => channel.meaning.clone(),
        (0, Some(Image { frames, planes, height, columns })) => {
            let kind = if planes == 1 { "grey" } else { "coloured" };
            format!("{}; an image: {frames} {kind} frames of {height} × {columns}", channel.meaning)
        }
        (n, _) => format!("{}; a choice among {n}", channel.meaning),
    }
}

fn parameters(parameters: &[Parameter]) -> String {
    let row = |p: &Parameter| {
        let dynamics = code(&format!("dyn-{}", p.name));
        [dynamics, p.meaning.clone(), p.unit.clone(), number(p.nominal), number(p.low), number(p.high)]
    };
    table(["anomaly", "meaning", "unit", "nominal", "low", "high"], parameters.iter().map(row))
}

fn anomalies_of(class: Class) -> String {
    let row = |a: &anomaly::Listed| {
        let id = if class == Class::Dynamics { "dyn-<parameter>" } else { a.entry.id };
        let neutral = if class == Class::Dynamics { "nominal".into() } else { number(a.kind.neutral) };
        let (k, equation) = (&a.kind, code(a.kind.equation));
        [code(id), equation, k.magnitude.into(), neutral, k.imitates.into(), k.shows.into()]
    };
    let listed = anomaly::ALL.iter().filter(|a| a.kind.class == class);
    table(["anomaly", "equation", "magnitude", "neutral", "imitates", "shows in"], listed.map(row))
}

fn clock(spec: &EnvSpec) -> String {
    let (step, end) = (number(spec.dt_secs), f64::from(spec.horizon) * spec.dt_secs);
    let end = number((end * 1e6).round() / 1e6);
    format!("A step lasts {step} s. An episode ends after {} steps ({end} s) at the latest.", spec.horizon)
}

fn initial(spec: &EnvSpec) -> String {
    let names: Vec<String> = spec.initial.iter().map(|n| code(n)).collect();
    format!("{} numbers: {}.", names.len(), names.join(", "))
}

fn images(spec: &EnvSpec) -> String {
    if spec.cameras.is_empty() {
        return "None.".into();
    }
    format!("Cameras: {}. Classes, from 0: {}.", spec.cameras.join(", "), spec.classes.join(", "))
}

fn table<const N: usize>(head: [&str; N], rows: impl Iterator<Item = [String; N]>) -> String {
    let line = |cells: &[String]| format!("| {} |\n", cells.join(" | "));
    let body: String = rows.map(|r| line(&r.map(|cell| cell.replace('|', "\\|")))).collect();
    if body.is_empty() {
        return "None.".into();
    }
    line(&head.map(String::from)) + &line(&head.map(|_| "---".to_string())) + &body
}

fn code(text: &str) -> String {
    format!("`{text}`")
}

fn number(value: f64) -> String {
    match value {
        f64::INFINITY => "∞".into(),
        f64::NEG_INFINITY => "−∞".into(),
        v if v < 0.0 => format!("−{}", -v),
        v => v.to_string(),
    }
}

/// The text with a capital letter and a full stop, whoever wrote it.
fn sentence(text: &str) -> String {
    let mut letters = text.trim_end_matches('.').chars();
    let first = letters.next().map(char::to_uppercase).into_iter().flatten();
    first.chain(letters.clone()).chain(['.']).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_written_for_people() {
        let written = [1.0, -0.25, f64::INFINITY, f64::NEG_INFINITY, 0.0].map(number);
        assert_eq!(written, ["1", "−0.25", "∞", "−∞", "0"]);
    }

    #[test]
    fn prose_is_made_of_sentences() {
        assert_eq!(["a cart", "A cart.", "−|x|²"].map(sentence), ["A cart.", "A cart.", "−|x|²."]);
    }

    #[test]
    fn a_bar_cannot_break_a_table() {
        let one = table(["a"], [["|x|".to_string()]].into_iter());
        assert_eq!(one, "| a |\n| --- |\n| \\|x\\| |\n");
    }
}
