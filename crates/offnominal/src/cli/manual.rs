//! `manual`: what a package installs beside the program, made from the one table of commands.

use super::command::{Answer, Call, asked};
use super::line;
use anyhow::Result;
use clap::{ArgMatches, Args, Command};
use clap_complete::Shell;
use offnominal_files::write::atomically;
use std::path::{Path, PathBuf};

/// The shells that have completions, and the file of each in the folder of data, `share` in a package.
const SHELLS: [(Shell, &str); 5] = [
    (Shell::Bash, "bash-completion/completions/offnominal"),
    (Shell::Elvish, "elvish/lib/offnominal.elv"),
    (Shell::Fish, "fish/vendor_completions.d/offnominal.fish"),
    (Shell::PowerShell, "powershell/offnominal.ps1"),
    (Shell::Zsh, "zsh/site-functions/_offnominal"),
];

/// Arguments of `manual`.
#[derive(Debug, Args)]
pub struct Manual {
    /// Output folder, laid out as ~/.local/share
    #[arg(value_name = "DIR")]
    folder: PathBuf,
}

/// Writes the completions of every shell, a page for the program and one for each command.
pub fn run(matches: &ArgMatches, _: &Call) -> Result<Answer> {
    let Manual { folder } = asked(matches)?;
    for (shell, file) in SHELLS {
        let mut text = Vec::new();
        clap_complete::generate(shell, &mut line(), "offnominal", &mut text);
        atomically(&folder.join(file), &text)?;
    }
    let mut line = line().disable_help_subcommand(true);
    line.build();
    pages(&line, "offnominal", &folder.join("man/man1"))?;
    Ok(Answer::nothing())
}

/// The page of a command, and those of the commands within: `offnominal-risk-estimate.1`.
fn pages(command: &Command, name: &str, folder: &Path) -> Result<()> {
    let mut text = Vec::new();
    clap_mangen::Man::new(command.clone()).title(name).render(&mut text)?;
    atomically(&folder.join(format!("{name}.1")), &text)?;
    command
        .get_subcommands()
        .try_for_each(|inner| pages(inner, &format!("{name}-{}", inner.get_name()), folder))
}
