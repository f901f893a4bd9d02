//! How the dates of a column are written: the forms that all of them have, and the steps between them in each form.

use crate::inspect::steps::Steps;
use offnominal_topics::dates::{Form, Midnight, clear, forms};

/// The forms that all dates so far have.
#[derive(Clone, Default)]
pub struct Dates {
    /// `None` before the first text.
    open: Option<Vec<Open>>,
}

#[derive(Clone, Default)]
struct Open {
    /// A form in which day and month could be confused; `None` for any other.
    form: Option<&'static Form>,
    /// The clear form of the last text.
    hint: usize,
    origin: i64,
    midnight: Midnight,
    steps: Steps,
}

impl std::fmt::Debug for Dates {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "{} forms of dates", self.open.as_ref().map_or(0, Vec::len))
    }
}

impl Dates {
    /// One more text.
    pub fn add(&mut self, text: &str) {
        let has_digits = text.bytes().filter(u8::is_ascii_digit).count() >= 3;
        match &mut self.open {
            None if has_digits => self.open = Some(Open::all(text)),
            None => self.open = Some(Vec::new()),
            Some(open) => open.retain_mut(|open| open.add(text)),
        }
    }

    /// Whether all texts have a form in common.
    pub fn are_all(&self) -> bool {
        self.open.as_ref().is_some_and(|open| !open.is_empty())
    }

    /// How they are written, if day and month could be confused, and the steps between them. Of several forms that is meant
    /// by which the dates lie closest together.
    pub fn found(&mut self) -> (Option<String>, Option<Steps>) {
        let open = self.open.take().unwrap_or_default();
        let is_clear = |open: &Open| open.form.is_none();
        let disorder = |open: &Open| (open.steps.falls(), open.steps.longest());
        let order = |a: &Open, b: &Open| {
            let (a, b) = (disorder(a), disorder(b));
            a.0.cmp(&b.0).then(a.1.total_cmp(&b.1))
        };
        let clear = open.iter().position(is_clear);
        let best = clear.or_else(|| (0..open.len()).min_by(|&a, &b| order(&open[a], &open[b])));
        let Some(found) = best.map(|at| open[at].clone()) else { return (None, None) };
        (found.form.and_then(|form| form.format.clone()), Some(found.steps).filter(Steps::is_ordered))
    }
}

impl Open {
    /// All forms that a first text has.
    fn all(text: &str) -> Vec<Open> {
        let unclear = forms().iter().filter(|form| form.is_unclear).map(Some);
        let of = |form| {
            let mut open = Open { form, ..Open::default() };
            open.origin = open.nanos(text)?;
            open.add(text).then_some(open)
        };
        std::iter::once(None).chain(unclear).filter_map(of).collect()
    }

    fn nanos(&mut self, text: &str) -> Option<i64> {
        match self.form {
            Some(form) => form.nanos(text),
            None => clear(text, self.hint).map(|(form, time)| {
                self.hint = form;
                time
            }),
        }
    }

    fn add(&mut self, text: &str) -> bool {
        let Some(time) = self.nanos(text) else { return false };
        let time = self.midnight.pass(time);
        self.steps.add(time.saturating_sub(self.origin) as f64 * 1e-9);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(texts: &[&str]) -> (bool, Option<String>, Option<f64>) {
        let mut dates = Dates::default();
        texts.iter().for_each(|text| dates.add(text));
        let are_all = dates.are_all();
        let (format, steps) = dates.found();
        (are_all, format, steps.and_then(|steps| steps.median()))
    }

    #[test]
    fn the_form_of_dates_is_found_or_chosen_by_how_close_they_lie() {
        assert_eq!(found(&["2020-03-09 10:00:00", "2020-03-09 10:00:02"]), (true, None, Some(2.0)));
        let unclear = found(&["03/04/2020 23:59:59", "04/04/2020 00:00:00"]);
        assert_eq!(unclear, (true, Some("%d/%m/%Y %H:%M:%S%.f".into()), Some(1.0)));
        assert!(!found(&["open", "2020-03-09"]).0);
    }
}
