//! The fields of a cron expression, as sets of numbers.

use jiff::civil::{Date, DateTime};

use super::YEARS_MAX;

const MONTHS: [&str; 12] =
    ["JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"];
const WEEKDAYS: [&str; 7] = ["SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"];

/// When a job runs, by the clock on the wall.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Fields {
    seconds: Set,
    minutes: Set,
    hours: Set,
    days: Set,
    /// `L`: the last day of the month.
    last_day: bool,
    months: Set,
    /// From Sunday, 0.
    weekdays: Set,
    /// `FRI#2`: the second Friday; 0 stands for the last, `FRIL`.
    ordinals: Vec<(u8, u8)>,
    /// If days of the month or of the week begin with `*`, both must hold; else one of them is enough.
    both_days: bool,
    /// Whether hours, minutes or seconds have a `*` or a step.
    pub(super) repeats: bool,
}

/// Numbers below 64.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Set(u64);

impl Set {
    fn has(self, number: i8) -> bool {
        self.0 >> number.unsigned_abs() & 1 == 1
    }

    /// The least member that is not less.
    fn from(self, least: i8) -> Option<i8> {
        let rest = self.0 & (u64::MAX << least.unsigned_abs());
        (rest != 0).then(|| i8::try_from(rest.trailing_zeros()).unwrap_or(i8::MAX))
    }
}

impl Fields {
    /// Reads five fields, or six with seconds first.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let upper = text.to_ascii_uppercase();
        let parts: Vec<&str> = upper.split_ascii_whitespace().collect();
        let (seconds, parts) = match parts.len() {
            5 => ("0", &parts[..]),
            6 => (parts[0], &parts[1..]),
            count => return Err(format!("it has {count} fields; there are five, or six with seconds first")),
        };
        let mut fields = Self {
            seconds: set("seconds", seconds, 0, 59, &[])?,
            minutes: set("minutes", parts[0], 0, 59, &[])?,
            hours: set("hours", parts[1], 0, 23, &[])?,
            months: set("months", parts[3], 1, 12, &MONTHS)?,
            both_days: any(parts[2]) || any(parts[4]),
            repeats: [seconds, parts[0], parts[1]].iter().any(|part| part.contains(['*', '/'])),
            ..Self::default()
        };
        fields.days(parts[2])?;
        fields.weekdays(parts[4])?;
        Ok(fields)
    }

    fn days(&mut self, text: &str) -> Result<(), String> {
        for part in text.split(',') {
            match part {
                "L" => self.last_day = true,
                "?" => self.days.0 |= u64::MAX,
                part => self.days.0 |= set("days of the month", part, 1, 31, &[])?.0,
            }
        }
        Ok(())
    }

    fn weekdays(&mut self, text: &str) -> Result<(), String> {
        let name = "days of the week";
        let one = |text: &str| number(name, text, 0, 7, &WEEKDAYS).map(|day| day % 7);
        for part in text.split(',') {
            if let Some((day, ordinal)) = part.split_once('#') {
                self.ordinals.push((one(day)?, number(name, ordinal, 1, 5, &[])?));
            } else if let Some(day) = part.strip_suffix('L') {
                self.ordinals.push((one(day)?, 0));
            } else if part == "?" {
                self.weekdays.0 |= u64::MAX;
            } else {
                let found = set(name, part, 0, 7, &WEEKDAYS)?.0;
                // 7 is Sunday, too.
                self.weekdays.0 |= found | (found >> 7 & 1);
            }
        }
        Ok(())
    }

    /// The first time that matches, not before this one; none if none comes within a hundred years.
    pub(super) fn first_from(&self, wall: DateTime) -> Option<DateTime> {
        let (mut date, mut time) = (wall.date(), (wall.hour(), wall.minute(), wall.second()));
        let last_year = date.year().saturating_add(YEARS_MAX);
        while date.year() <= last_year {
            if !self.months.has(date.month()) {
                date = date.last_of_month().tomorrow().ok()?;
                time = (0, 0, 0);
                continue;
            }
            if self.on(date)
                && let Some((hour, minute, second)) = self.time_from(time)
            {
                return Some(date.at(hour, minute, second, 0));
            }
            date = date.tomorrow().ok()?;
            time = (0, 0, 0);
        }
        None
    }

    fn time_from(&self, (hour, minute, second): (i8, i8, i8)) -> Option<(i8, i8, i8)> {
        let (first_minute, first_second) = (self.minutes.from(0)?, self.seconds.from(0)?);
        if self.hours.has(hour) {
            if self.minutes.has(minute)
                && let Some(second) = self.seconds.from(second)
            {
                return Some((hour, minute, second));
            }
            if let Some(minute) = self.minutes.from(minute + 1) {
                return Some((hour, minute, first_second));
            }
        }
        self.hours.from(hour + 1).map(|hour| (hour, first_minute, first_second))
    }

    fn on(&self, date: Date) -> bool {
        let in_month = self.days.has(date.day()) || self.last_day && date.day() == date.days_in_month();
        let weekday = date.weekday().to_sunday_zero_offset();
        let ordinal = |(day, ordinal): &(u8, u8)| {
            *day == weekday.unsigned_abs()
                && match ordinal {
                    0 => date.day() + 7 > date.days_in_month(),
                    nth => (date.day().unsigned_abs() - 1) / 7 + 1 == *nth,
                }
        };
        let in_week = self.weekdays.has(weekday) || self.ordinals.iter().any(ordinal);
        if self.both_days { in_month && in_week } else { in_month || in_week }
    }
}

/// Whether a field of days begins with "any": then the other one decides.
fn any(field: &str) -> bool {
    field.starts_with(['*', '?'])
}

/// A list of `a`, `a-b`, `*`, each with a step if it likes.
fn set(name: &str, text: &str, least: u8, most: u8, words: &[&str]) -> Result<Set, String> {
    let mut found = 0_u64;
    for part in text.split(',') {
        let (range, step) = match part.split_once('/') {
            Some((range, step)) => (range, Some(number(name, step, 1, most.max(1), &[])?)),
            None => (part, None),
        };
        let (from, to) = match range.split_once('-') {
            _ if range == "*" => (least, most),
            Some((from, to)) => (number(name, from, least, most, words)?, end(name, to, least, most, words)?),
            None => {
                let from = number(name, range, least, most, words)?;
                (from, if step.is_some() { most } else { from })
            }
        };
        if from > to {
            return Err(format!("{name}: {range} runs backwards"));
        }
        (from..=to).step_by(usize::from(step.unwrap_or(1))).for_each(|number| found |= 1 << number);
    }
    Ok(Set(found))
}

/// The end of a range: a week may end with Sunday.
fn end(name: &str, text: &str, least: u8, most: u8, words: &[&str]) -> Result<u8, String> {
    if most == 7 && text == "SUN" {
        return Ok(7);
    }
    number(name, text, least, most, words)
}

fn number(name: &str, text: &str, least: u8, most: u8, words: &[&str]) -> Result<u8, String> {
    if let Some(at) = words.iter().position(|word| *word == text) {
        let at = u8::try_from(at).unwrap_or(u8::MAX);
        // Months count from 1, weekdays from 0.
        return Ok(at + u8::from(words.len() == MONTHS.len()));
    }
    let plain = !text.is_empty() && text.len() <= 3 && text.bytes().all(|byte| byte.is_ascii_digit());
    let number: Option<u16> = if plain { text.parse().ok() } else { None };
    match number.and_then(|number| u8::try_from(number).ok()) {
        Some(number) if (least..=most).contains(&number) => Ok(number),
        Some(number) => Err(format!("{name}: {number} is not {least} to {most}")),
        None => Err(format!("{name}: \"{text}\" is not understood")),
    }
}
