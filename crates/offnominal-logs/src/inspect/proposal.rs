//! A proposed mapping as the TOML that a person edits: each line with the reason of its guess.

use crate::inspect::guess::Proposal;
use crate::mapping::{Channel, Episodes, Mapping};
use std::fmt::Write;

impl Proposal {
    /// The text of the file.
    pub fn to_toml(&self) -> String {
        let mut text = String::from(
            "# Which column of the logs is what: a proposal, to be edited. `offnominal fit --map` and `score --map` read it.\n\
             # Lines marked `guess` were inferred from names and values only; check them.\n",
        );
        if let Some(units) = &self.units {
            let _ = writeln!(text, "# {}", units.replace(char::is_control, " "));
        }
        let Mapping { version, clock, episodes, outcome, label, task, .. } = &self.mapping;
        let _ = writeln!(text, "version = {version}");
        match label.0.as_slice() {
            [] => {}
            [one] => {
                let _ = writeln!(text, "label = {}  # {}", quoted(one), self.why_of(one));
            }
            several => {
                let names = several.iter().map(|name| quoted(name)).collect::<Vec<_>>().join(", ");
                let _ =
                    writeln!(text, "label = [{names}]  # each a kind of event; {}", self.why_of(&several[0]));
            }
        }
        if let Some(column) = task {
            let _ = writeln!(text, "task = {}  # {}", quoted(column), self.why_of(column));
        }
        if !self.mapping.missing.is_empty() {
            let _ = writeln!(
                text,
                "missing = {:?}  # guess: these numbers lie far from all others, so they say that nothing was read",
                self.mapping.missing
            );
        }
        self.channels(&mut text, "observation", &self.mapping.observation);
        self.channels(&mut text, "command", &self.mapping.command);
        self.ignored(&mut text);
        let _ = writeln!(text, "\n[clock]  # {}", self.clock_why);
        text += &toml::to_string(clock).unwrap_or_default();
        let _ = writeln!(text, "\n[episodes]  # {}", self.episodes_why);
        text += &toml::to_string(episodes).unwrap_or_default();
        if *episodes == Episodes::File {
            text += "# by = \"column\", column = …; or \"gap\", secs = …; \"event\", column = …; \"ends\", columns = […];\n# \"window\", secs = …\n";
        }
        if let Some(outcome) = outcome {
            let _ = writeln!(text, "\n[outcome]  # {}", self.why_of(&outcome.column));
            text += &toml::to_string(outcome).unwrap_or_default();
        }
        text
    }

    fn channels(&self, text: &mut String, key: &str, channels: &[Channel]) {
        if channels.is_empty() {
            let _ = writeln!(text, "\n{key} = []");
            return;
        }
        let _ = writeln!(text, "\n{key} = [");
        for channel in channels {
            let unit =
                channel.unit.as_ref().map_or(String::new(), |unit| format!(", unit = {}", quoted(unit)));
            let why = self.why_of(&channel.column);
            let _ = writeln!(text, "    {{ column = {}{unit} }},  # {why}", quoted(&channel.column));
        }
        text.push_str("]\n");
    }

    fn ignored(&self, text: &mut String) {
        let Some(ignored) = self.mapping.ignored.as_ref().filter(|list| !list.is_empty()) else { return };
        text.push_str("\nignored = [\n");
        for column in ignored {
            let _ = writeln!(text, "    {},  # {}", quoted(column), self.why_of(column));
        }
        text.push_str("]\n");
    }

    fn why_of(&self, column: &str) -> String {
        // A line break in a name would end the comment.
        self.why.get(column).map_or("", String::as_str).replace(char::is_control, " ")
    }
}

fn quoted(text: &str) -> String {
    toml::Value::String(text.into()).to_string()
}
