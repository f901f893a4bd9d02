//! Options whose value is one of the words of an enumeration of the library.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use std::str::FromStr;
use strum::{EnumMessage, VariantArray};

/// Reads one of the words of `T`; help lists them with what their documentation says.
pub fn one_of<T>() -> impl TypedValueParser<Value = T>
where
    T: FromStr + VariantArray + EnumMessage + Copy + Send + Sync + 'static,
    &'static str: From<T>,
{
    let words = T::VARIANTS.iter().map(|&value| {
        let word = PossibleValue::new(<&'static str>::from(value));
        value.get_documentation().map_or(word.clone(), |help| word.help(help.trim_end_matches('.')))
    });
    PossibleValuesParser::new(words)
        .map(|word| word.parse().unwrap_or_else(|_| unreachable!("clap has checked the word")))
}
