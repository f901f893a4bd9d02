//! `risk budget`: episodes that plain counting needs.

use crate::cli::risk::print;
use crate::cli::{Common, Outcome};
use anyhow::Result;
use clap::Args;
use offnominal_risk::budget::{self, Request};

/// Arguments of `risk budget`.
#[derive(Debug, Args)]
pub struct BudgetArgs {
    /// Failure probability, above 0 and below 1
    #[arg(long, value_name = "P")]
    p: f64,
    /// The estimate is to lie between P / D and D P; at least 1.01
    #[arg(long, default_value_t = budget::delta(), value_name = "D")]
    delta: f64,
    /// Probability with which it is to, between 0 and 1
    #[arg(long, default_value_t = offnominal_risk::request::level(), value_name = "C")]
    confidence: f64,
}

impl BudgetArgs {
    /// Computes the budget and prints it.
    ///
    /// # Errors
    /// If a number is out of its range.
    pub fn run(&self, common: &Common) -> Result<Outcome> {
        let request = Request { p: self.p, delta: self.delta, confidence: self.confidence };
        print(common, &budget::run(&request, &common.context())?)
    }
}
