//! `completions` and `man`: what a package installs beside the program, made from the one table of commands.
//!
//! The builds that are packaged have both, by the feature `manual`; `cargo run` does without, so that the demo compiles
//! two crates less. Commands and help are the same in both builds.

use crate::cli::one_of::one_of;
use crate::cli::{Common, Outcome};
use anyhow::Result;
use clap::Args;
use std::path::PathBuf;
use strum::{EnumMessage, EnumString, IntoStaticStr, VariantArray};

/// A shell with completions.
#[derive(Debug, Clone, Copy, EnumString, VariantArray, IntoStaticStr, EnumMessage)]
#[strum(serialize_all = "lowercase")]
enum Shell {
    /// Bash, for ~/.local/share/bash-completion/completions/offnominal
    Bash,
    /// Elvish, for a file that rc.elv reads
    Elvish,
    /// Fish, for ~/.config/fish/completions/offnominal.fish
    Fish,
    /// PowerShell, for a file that the profile reads
    #[strum(serialize = "powershell")]
    Power,
    /// Zsh, for a file _offnominal in a folder of $fpath
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
    /// The folder to write to, such as share/man/man1
    #[arg(value_name = "DIR")]
    folder: PathBuf,
}

impl Completions {
    /// Prints the completions of one shell.
    ///
    /// # Errors
    /// If this build has none, or nothing can be printed.
    pub fn run(self, common: &Common) -> Result<Outcome> {
        common.print_text(made::completions(self.shell)?)
    }
}

impl Man {
    /// Writes a page for the program and one for each command.
    ///
    /// # Errors
    /// If this build has none, or a page cannot be written.
    pub fn run(self, _: &Common) -> Result<Outcome> {
        made::man(&self.folder)?;
        Ok(Outcome::Done)
    }
}

#[cfg(feature = "manual")]
mod made {
    use super::Shell;
    use crate::cli::line;
    use anyhow::Result;
    use clap::Command;
    use clap_complete::Shell as Known;
    use offnominal_files::write::atomically;
    use std::path::Path;

    pub(super) fn completions(shell: Shell) -> Result<String> {
        let shell = match shell {
            Shell::Bash => Known::Bash,
            Shell::Elvish => Known::Elvish,
            Shell::Fish => Known::Fish,
            Shell::Power => Known::PowerShell,
            Shell::Zsh => Known::Zsh,
        };
        let mut text = Vec::new();
        clap_complete::generate(shell, &mut line(), "offnominal", &mut text);
        Ok(String::from_utf8(text)?)
    }

    pub(super) fn man(folder: &Path) -> Result<()> {
        let mut line = line().disable_help_subcommand(true);
        line.build();
        pages(&line, "offnominal", folder)
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
}

#[cfg(not(feature = "manual"))]
mod made {
    use super::Shell;
    use anyhow::{Result, bail};
    use std::path::Path;

    pub(super) fn completions(_: Shell) -> Result<String> {
        bail!(
            "expected a build with the manual, which packages have: `cargo build --release --features manual`"
        )
    }

    pub(super) fn man(_: &Path) -> Result<()> {
        completions(Shell::Bash).map(drop)
    }
}
