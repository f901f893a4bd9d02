//! Dates and times of day as people and programs write them.
//!
//! A text is split into a date, a time of day and a zone. Which of two numbers is the day cannot be read from `03/04/2020`:
//! such a form is used only if a mapping names it, or if all texts of a column were tried.

use chrono::{DateTime, NaiveDate, NaiveDateTime, NaiveTime};
use std::sync::LazyLock;

/// Nanoseconds of a day.
const DAY: i64 = 86_400_000_000_000;

/// Dates of which each number has one meaning.
const CLEAR: [&str; 10] = [
    "%Y-%m-%d",
    "%Y/%m/%d",
    "%Y.%m.%d",
    "%Y%m%d",
    "%d.%m.%Y",
    "%d.%m.%y",
    "%d-%b-%Y",
    "%d %b %Y",
    "%b %d %Y",
    "%a, %d %b %Y",
];
/// Dates that may have the day or the month first.
const UNCLEAR: [&str; 6] = ["%m/%d/%Y", "%d/%m/%Y", "%m-%d-%Y", "%d-%m-%Y", "%m/%d/%y", "%d/%m/%y"];
/// Times of day.
const TIMES: [&str; 5] = ["%H:%M:%S%.f", "%H:%M", "%I:%M:%S%.f %p", "%I:%M %p", "%H%M%S%.f"];

/// A way to write a time.
#[derive(Debug, PartialEq, Eq)]
pub struct Form {
    /// As `strftime` has it; `None` for a duration such as `1 days 10:14:33`, or a time of day.
    pub format: Option<String>,
    /// Whether the day and the month could be the other way round.
    pub is_unclear: bool,
    /// How often each of [`MARKS`] stands in it.
    marks: [usize; 4],
}

/// What stands between numbers: a text with others is not of a form, and is not tried.
const MARKS: [u8; 4] = [b'-', b'/', b':', b' '];

fn marks(text: &str) -> [usize; 4] {
    MARKS.map(|mark| text.bytes().filter(|&b| b == mark).count())
}

/// All forms that are known.
static FORMS: LazyLock<Vec<Form>> = LazyLock::new(|| {
    let form = |format: String, is_unclear| Form { marks: marks(&format), format: Some(format), is_unclear };
    let of = |dates: &[&str], is_unclear| -> Vec<Form> {
        let with_time = |date: &&str| -> Vec<String> {
            let timed = TIMES.iter().flat_map(|time| [format!("{date}T{time}"), format!("{date} {time}")]);
            timed.chain([(*date).to_string()]).collect()
        };
        let formats = dates.iter().flat_map(with_time);
        formats.map(|format| form(format, is_unclear)).collect()
    };
    let mut forms = of(&CLEAR, false);
    for format in ["%a %b %e %H:%M:%S %Y", "%Y%m%d%H%M%S"] {
        forms.push(form(format.into(), false));
    }
    forms.push(Form { format: None, is_unclear: false, marks: [0; 4] });
    forms.extend(of(&UNCLEAR, true));
    forms
});

/// All forms, those that are clear first.
pub fn forms() -> &'static [Form] {
    &FORMS
}

impl Form {
    /// The time in nanoseconds since 1970, or since the beginning of the day or of the duration.
    pub fn nanos(&self, text: &str) -> Option<i64> {
        let whole = marks(text);
        // A zone has a hyphen and a colon more, and `%e` is a day after two blanks.
        let may_be = |at: usize, more: usize| (self.marks[at]..=self.marks[at] + more).contains(&whole[at]);
        if self.format.is_some()
            && !(may_be(0, 1) && may_be(1, 1) && may_be(2, 1) && whole[3] >= self.marks[3])
        {
            return None;
        }
        let (text, offset) = zone(text.trim());
        let Some(format) = &self.format else { return duration(text) };
        let shift = |time: i64| time.checked_sub(offset);
        let point = with_point(text);
        by_format(point.as_deref().unwrap_or(text), format).and_then(shift)
    }
}

/// A time by a form of `strftime`, which may have a zone.
pub fn by_format(text: &str, format: &str) -> Option<i64> {
    if format.contains("z") {
        return DateTime::parse_from_str(text, format).ok()?.timestamp_nanos_opt();
    }
    let has = |all: &[&str]| all.iter().any(|item| format.contains(item));
    let of_day = NaiveTime::MIN;
    let has_date = has(&["%d", "%e", "%j", "%D", "%F", "%c", "%x", "%v"]);
    match (has_date, has(&["%H", "%I", "%k", "%l", "%T", "%R", "%X", "%c", "%r"])) {
        (true, true) => NaiveDateTime::parse_from_str(text, format).ok()?.and_utc().timestamp_nanos_opt(),
        (true, false) => {
            NaiveDate::parse_from_str(text, format).ok()?.and_time(of_day).and_utc().timestamp_nanos_opt()
        }
        (false, true) => {
            NaiveTime::parse_from_str(text, format).ok()?.signed_duration_since(of_day).num_nanoseconds()
        }
        (false, false) => DateTime::parse_from_str(&format!("{text} +0000"), &format!("{format} %z"))
            .ok()?
            .timestamp_nanos_opt(),
    }
}

/// Why a form of `strftime` cannot be used, if it cannot.
pub fn wrong_format(format: &str) -> Option<String> {
    let is_wrong = chrono::format::StrftimeItems::new(format).any(|item| item == chrono::format::Item::Error);
    is_wrong.then(|| format!("expected a form such as \"%d.%m.%Y %H:%M:%S\", found {format:?}"))
}

/// The text without its zone, and by how many nanoseconds the zone is ahead of UTC.
fn zone(text: &str) -> (&str, i64) {
    // Java appends the name of the place.
    let text = text.strip_suffix(']').and_then(|t| Some(t.rsplit_once('[')?.0)).unwrap_or(text);
    const HOUR: i64 = 3_600_000_000_000;
    const NAMED: [(&str, i64); 15] = [
        ("Z", 0),
        ("UTC", 0),
        ("GMT", 0),
        ("CET", 1),
        ("CEST", 2),
        ("EET", 2),
        ("EEST", 3),
        ("EST", -5),
        ("EDT", -4),
        ("CST", -6),
        ("CDT", -5),
        ("MST", -7),
        ("MDT", -6),
        ("PST", -8),
        ("PDT", -7),
    ];
    let before = |rest: &str| rest.ends_with(|c: char| c.is_ascii_digit() || c == ' ' || c == 'M');
    let named = NAMED.iter().find_map(|(name, hours)| {
        let rest = text.strip_suffix(name).filter(|rest| before(rest))?;
        Some((rest.trim_end(), hours * HOUR))
    });
    named.or_else(|| numeric_zone(text)).unwrap_or((text, 0))
}

/// A zone such as `+01:00`, `-0530` or `+02` behind a time.
fn numeric_zone(text: &str) -> Option<(&str, i64)> {
    let at = text.rfind(['+', '-']).filter(|&at| text[..at].contains(':'))?;
    let (rest, zone) = text.split_at(at);
    let digits = zone[1..].replace(':', "");
    if !digits.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    let minutes = match digits.len() {
        2 => digits.parse::<i64>().ok()? * 60,
        4 => digits[..2].parse::<i64>().ok()? * 60 + digits[2..].parse::<i64>().ok()?,
        _ => return None,
    };
    let sign = if zone.starts_with('-') { -1 } else { 1 };
    Some((rest.trim_end(), sign * minutes * 60_000_000_000))
}

/// The text with a point before the fraction of a second, if it has a comma there.
fn with_point(text: &str) -> Option<String> {
    let (before, after) = text.rsplit_once(',')?;
    (before.contains(':') && after.starts_with(|c: char| c.is_ascii_digit()))
        .then(|| format!("{before}.{after}"))
}

/// `10:14:33.5`, `125:00:00`, `1 days 10:14:33`, `1 day, 10:14:33`, or `-1 days +23:59:59`, which is a second before 0.
fn duration(text: &str) -> Option<i64> {
    let (sign, text) = text.strip_prefix('-').map_or((1, text), |rest| (-1, rest));
    let (days, of_days, time) = match text.split_once("day") {
        Some((days, rest)) => {
            let rest = rest.trim_start_matches(['s', ' ']);
            let time = rest.trim_start_matches([',', ' ', '+']);
            // pandas and Python count the time of day forward from the days, which alone are negative.
            (days.trim().parse::<i64>().ok()?, rest.starts_with([',', '+']), time)
        }
        None => (0, false, text),
    };
    let mut parts = time.split(':');
    let (hours, minutes, secs) = (parts.next()?, parts.next()?, parts.next()?);
    if parts.next().is_some() || minutes.len() != 2 || !secs.starts_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    let whole = |text: &str| text.parse::<u32>().ok().map(i64::from);
    let (whole_secs, fraction) = secs.split_once(['.', ',']).unwrap_or((secs, ""));
    let billionths = format!("{fraction:0<9}");
    let fraction = billionths.get(..9).filter(|_| fraction.bytes().all(|b| b.is_ascii_digit()))?;
    let of_day = (whole(hours)? * 60 + whole(minutes)?) * 60 + whole(whole_secs)?;
    let nanos = of_day.checked_mul(1_000_000_000)?.checked_add(whole(fraction)?)?;
    let nanos = if of_days { sign * nanos } else { nanos };
    days.checked_mul(DAY)?.checked_add(nanos).map(|all| sign * all)
}

/// The time of a text by the first clear form that it has, and which one that is; `hint` is tried first.
pub fn clear(text: &str, hint: usize) -> Option<(usize, i64)> {
    let of = |at: usize| Some((at, FORMS.get(at).filter(|form| !form.is_unclear)?.nanos(text)?));
    of(hint).or_else(|| (0..FORMS.len()).find_map(of))
}

/// Times of day one after the other: what has passed midnight belongs to the next day.
#[derive(Debug, Clone, Default)]
pub struct Midnight {
    last: i64,
    days: i64,
}

impl Midnight {
    /// The time since the first midnight. What is no time of day stays as it is.
    pub fn pass(&mut self, time: i64) -> i64 {
        const HOUR: i64 = DAY / 24;
        if !(0..DAY).contains(&time) {
            return time;
        }
        self.days += i64::from((DAY - HOUR..DAY).contains(&self.last) && time < HOUR);
        self.last = time;
        time + self.days * DAY
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Option<i64> {
        clear(text, 0).map(|(_, nanos)| nanos)
    }

    #[test]
    fn one_moment_is_the_same_in_every_usual_form() {
        let moment = of("2020-03-09T10:14:33.5Z").unwrap();
        assert_eq!(moment, 1_583_748_873_500_000_000);
        for text in [
            "2020-03-09 10:14:33.5",
            "2020-03-09 11:14:33,5+01:00",
            "2020/03/09 10:14:33.500 UTC",
            "09.03.2020 10:14:33.5",
            "9.3.20 10:14:33,5",
            "20200309T101433.5",
            "09-Mar-2020 10:14:33.5",
            "Mar 09 2020 10:14:33.5 AM",
            "2020-03-09 11:14:33.5 CET",
            "2020-03-09T05:44:33.5-0430",
            "2020-03-09T11:14:33.5+01:00[Europe/Berlin]",
        ] {
            assert_eq!(of(text), Some(moment), "{text}");
        }
        assert_eq!(of("Mon Mar  9 10:14:33 2020"), Some(moment - 500_000_000));
        assert_eq!(of("Mon, 9 Mar 2020 10:14:33 +0000"), Some(moment - 500_000_000));
        assert_eq!(of("20200309101433"), Some(moment - 500_000_000));
        assert_eq!(by_format("09/03/2020 10:14:33.5", "%d/%m/%Y %H:%M:%S%.f"), Some(moment));
        assert_eq!(
            by_format("2020-03-09 11:14:33 +0100", "%Y-%m-%d %H:%M:%S %z"),
            Some(moment - 500_000_000)
        );
    }

    #[test]
    fn what_is_unclear_or_no_date_is_none() {
        for text in ["03/04/2020 10:00:00", "open", "12.5", "10:14", "2020-13-01", ""] {
            assert_eq!(of(text), None, "{text}");
        }
        assert!(wrong_format("%Q").is_some() && wrong_format("%d.%m.%Y").is_none());
    }

    #[test]
    fn durations_and_times_of_day_count_from_their_beginning() {
        assert_eq!(of("00:00:01.25"), Some(1_250_000_000));
        assert_eq!(of("1 days 00:00:01"), Some(DAY + 1_000_000_000));
        assert_eq!(of("125:00:00"), Some(125 * 3_600_000_000_000));
        for text in ["-1 days +23:59:59.900000", "-1 day, 23:59:59.900000", "-00:00:00.1"] {
            assert_eq!(of(text), Some(-100_000_000), "{text}");
        }
        assert_eq!(of("1 day, 00:00:01"), of("1 days +00:00:01"));
        let (late, early) = (of("23:59:59").unwrap(), of("00:00:01").unwrap());
        let mut midnight = Midnight::default();
        assert_eq!([early, late, early].map(|time| midnight.pass(time)), [early, late, DAY + early]);
    }
}
