//! `completions` and `man`: what a package installs beside the program, made from the one table of commands.

use super::command::{Answer, Call, asked};
use super::line;
use anyhow::Result;
use clap::{ArgMatches, Args, Command};
use clap_complete::Shell as Known;
use offnominal_files::write::atomically;
use offnominal_work::cli::one_of;
use std::path::{Path, PathBuf};
use strum::{EnumMessage, EnumString, IntoStaticStr, VariantArray};

/// A shell with completions.
#[derive(Debug, Clone, Copy, EnumString, VariantArray, IntoStaticStr, EnumMessage)]
#[strum(serialize_all = "lowercase")]
enum Shell {
    /// For ~/.local/share/bash-completion/completions/offnominal
    Bash,
    /// For a file that rc.elv reads
    Elvish,
    /// For ~/.config/fish/completions/offnominal.fish
    Fish,
    /// For a file that the profile reads
    #[strum(serialize = "powershell")]
    Power,
    /// For a file _offnominal in a folder of $fpath
    Zsh,
}

/// Arguments of `completions`.
#[derive(Debug, Args)]
pub struct Completions {
    /// The shell
    #[arg(value_parser = one_of::<Shell>())]
    shell: Shell,
}

/// Arguments of `man`.
#[derive(Debug, Args)]
pub struct Man {
    /// Output folder, such as share/man/man1
    #[arg(value_name = "DIR")]
    folder: PathBuf,
}

/// Prints the completions of one shell.
pub fn completions(matches: &ArgMatches, _: &Call) -> Result<Answer> {
    let Completions { shell } = asked(matches)?;
    let shell = match shell {
        Shell::Bash => Known::Bash,
        Shell::Elvish => Known::Elvish,
        Shell::Fish => Known::Fish,
        Shell::Power => Known::PowerShell,
        Shell::Zsh => Known::Zsh,
    };
    let mut text = Vec::new();
    clap_complete::generate(shell, &mut line(), "offnominal", &mut text);
    Ok(Answer::text(String::from_utf8(text)?))
}

/// Writes a page for the program and one for each command.
pub fn man(matches: &ArgMatches, _: &Call) -> Result<Answer> {
    let Man { folder } = asked(matches)?;
    let mut line = line().disable_help_subcommand(true);
    line.build();
    pages(&line, "offnominal", &folder)?;
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
