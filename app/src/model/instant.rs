//! Instants and zones. Stored in UTC; typed and shown in a zone that is named (case O17).

use jiff::{civil, tz::TimeZone};
use time::OffsetDateTime;

use super::Problem;

/// An IANA time zone, for example `Asia/Shanghai`.
#[derive(Clone, Debug)]
pub struct Zone(TimeZone);

impl Default for Zone {
    /// UTC.
    fn default() -> Self {
        Self(TimeZone::UTC)
    }
}

impl Zone {
    /// Reads an IANA name.
    ///
    /// # Errors
    /// `Missing`, `UnknownZone`.
    pub fn parse(name: &str) -> Result<Self, Problem> {
        let name = name.trim();
        if name.is_empty() {
            return Err(Problem::Missing);
        }
        TimeZone::get(name)
            .map(Self)
            .map_err(|_| Problem::UnknownZone)
    }

    /// The zone's IANA name.
    #[must_use]
    pub fn name(&self) -> &str {
        self.0.iana_name().unwrap_or("UTC")
    }

    /// The local time of an instant with its offset, for people: `2026-11-29 10:00 UTC+08:00`.
    #[must_use]
    pub fn show(&self, at: OffsetDateTime) -> String {
        let zoned = self.zoned(at);
        format!(
            "{} UTC{}",
            zoned.strftime("%Y-%m-%d %H:%M"),
            zoned.strftime("%:z")
        )
    }

    /// The same to the second: `2026-11-29 10:00:07 UTC+08:00`.
    #[must_use]
    pub fn show_seconds(&self, at: OffsetDateTime) -> String {
        self.zoned(at)
            .strftime("%Y-%m-%d %H:%M:%S UTC%:z")
            .to_string()
    }

    /// The local time of an instant for an `<input type="datetime-local">`: `2026-11-29T10:00`, with seconds and
    /// milliseconds where they are not zero, so that it is read as the same instant again (but see [`Self::offsets`]).
    #[must_use]
    pub fn input(&self, at: OffsetDateTime) -> String {
        let zoned = self.zoned(at);
        let fine = match (zoned.second(), zoned.millisecond()) {
            (0, 0) => "%Y-%m-%dT%H:%M",
            (_, 0) => "%Y-%m-%dT%H:%M:%S",
            _ => "%Y-%m-%dT%H:%M:%S%.3f",
        };
        zoned.strftime(fine).to_string()
    }

    /// The zone's offset at an instant: `+08:00`.
    #[must_use]
    pub fn offset(&self, at: OffsetDateTime) -> String {
        self.zoned(at).strftime("%:z").to_string()
    }

    /// The two offsets of a local time that the clocks show twice, the earlier instant's first; `None` for any other.
    #[must_use]
    pub fn offsets(&self, local: &str) -> Option<[String; 2]> {
        let civil: civil::DateTime = local.trim().parse().ok()?;
        match self.0.to_ambiguous_timestamp(civil).offset() {
            jiff::tz::AmbiguousOffset::Fold { before, after } => Some([before, after].map(written)),
            _ => None,
        }
    }

    /// The same local times on the first day on which the first of them lies after `now`: a window of the past, moved.
    /// `None` where a clock does not show one of them on that day, or shows it twice.
    #[must_use]
    pub fn next(
        &self,
        window: [OffsetDateTime; 2],
        now: OffsetDateTime,
    ) -> Option<[OffsetDateTime; 2]> {
        let [begins, ends] = window.map(|at| self.zoned(at).datetime());
        let days = (now - window[0]).whole_days().max(0);
        // The length of a day differs with the clocks; a day more is enough.
        (days..=days + 2)
            .filter_map(|days| {
                let moved = |at: civil::DateTime| {
                    let day = at
                        .checked_add(jiff::Span::new().try_days(days).ok()?)
                        .ok()?;
                    let instant = self.0.to_ambiguous_timestamp(day).unambiguous().ok()?;
                    OffsetDateTime::from_unix_timestamp_nanos(instant.as_nanosecond()).ok()
                };
                Some([moved(begins)?, moved(ends)?])
            })
            .find(|[begins, ends]| *begins > now && begins < ends)
    }

    /// The local time of an instant in a format of `strftime`, for places where the zone is named elsewhere.
    #[must_use]
    pub fn format(&self, at: OffsetDateTime, format: &str) -> String {
        self.zoned(at).strftime(format).to_string()
    }

    fn zoned(&self, at: OffsetDateTime) -> jiff::Zoned {
        let millis = i64::try_from(at.unix_timestamp_nanos() / 1_000_000).unwrap_or_default();
        jiff::Timestamp::from_millisecond(millis)
            .unwrap_or_default()
            .to_zoned(self.0.clone())
    }
}

/// Are two local times the same? Browsers leave out what is zero: of `10:00:07.100` they send `10:00:07.1`.
#[must_use]
pub fn is_same_local(one: &str, other: &str) -> bool {
    let read = |local: &str| local.trim().parse::<civil::DateTime>().ok();
    one == other || read(one).is_some_and(|one| read(other) == Some(one))
}

/// An offset as people and forms write it.
fn written(offset: jiff::tz::Offset) -> String {
    let minutes = offset.seconds().abs() / 60;
    let sign = if offset.is_negative() { '-' } else { '+' };
    format!("{sign}{:02}:{:02}", minutes / 60, minutes % 60)
}

/// The hours that any clock of the world is ahead or behind, at most: Kiribati's.
const FARTHEST_OFFSET: u8 = 14;

/// A time as a form has it.
#[derive(Clone, Copy, Debug, Default)]
pub struct TypedTime<'a> {
    /// RFC 3339 with offset, or a local time (`2026-11-29T10:00`).
    pub text: &'a str,
    /// Which of the two is meant of a local time that the clocks show twice: `+02:00`. Else it says nothing.
    pub offset: &'a str,
}

/// Reads an instant: RFC 3339 with offset, or a local time (`2026-11-29T10:00`) in `zone`.
/// Years 2000 to 2100: outside them it is a slip of the hand. Programs write clocks to the nanosecond; the gate counts in
/// milliseconds, and what is finer is cut off.
///
/// # Errors
/// `Missing`, `NotATime`, and for local times `NoSuchTime` (the clock jumped over it) and `DoubledTime`
/// (the clock showed it twice, and the offset is neither's).
pub fn parse_instant(typed: TypedTime<'_>, zone: Option<&Zone>) -> Result<OffsetDateTime, Problem> {
    let text = typed.text.trim();
    if text.is_empty() {
        return Err(Problem::Missing);
    }
    let timestamp = match text.parse::<jiff::Timestamp>() {
        Ok(timestamp) => timestamp,
        Err(_) => local(text, typed.offset, zone.ok_or(Problem::NotATime)?)?,
    };
    if is_odd(text) {
        return Err(Problem::NotATime);
    }
    let millis = i128::from(timestamp.as_millisecond());
    let at = OffsetDateTime::from_unix_timestamp_nanos(millis * 1_000_000)
        .map_err(|_| Problem::NotATime)?;
    if (2000..=2100).contains(&at.year()) {
        Ok(at)
    } else {
        Err(Problem::NotATime)
    }
}

/// A leap second, which would be stored as the second before it, or an offset that no place has.
fn is_odd(text: &str) -> bool {
    let offset = text.get(10..).and_then(|time| time.rsplit_once(['+', '-']));
    let hours = offset.and_then(|(_, offset)| offset.get(..2)?.parse::<u8>().ok());
    text.contains(":60") || hours.is_some_and(|hours| hours > FARTHEST_OFFSET)
}

fn local(text: &str, offset: &str, zone: &Zone) -> Result<jiff::Timestamp, Problem> {
    // Text with a zone or an offset of its own has been refused as RFC 3339; it is no local time either.
    if text.contains(['[', '+', 'Z', 'z']) {
        return Err(Problem::NotATime);
    }
    let civil: civil::DateTime = text.parse().map_err(|_| Problem::NotATime)?;
    let ambiguous = zone.0.to_ambiguous_timestamp(civil);
    match ambiguous.offset() {
        jiff::tz::AmbiguousOffset::Gap { .. } => Err(Problem::NoSuchTime),
        jiff::tz::AmbiguousOffset::Fold { before, after } => {
            let meant = [before, after]
                .into_iter()
                .find(|one| written(*one) == offset.trim())
                .ok_or(Problem::DoubledTime)?;
            meant.to_timestamp(civil).map_err(|_| Problem::NotATime)
        }
        jiff::tz::AmbiguousOffset::Unambiguous { .. } => {
            ambiguous.unambiguous().map_err(|_| Problem::NotATime)
        }
    }
}

#[cfg(test)]
mod tests {
    use time::macros::datetime;

    use super::*;

    fn read(text: &str, zone: Option<&Zone>) -> Result<OffsetDateTime, Problem> {
        parse_instant(TypedTime { text, offset: "" }, zone)
    }

    #[test]
    fn local_times_mean_their_zone_and_instants_mean_their_offset() {
        let shanghai = Zone::parse("Asia/Shanghai").unwrap();
        let ten = datetime!(2026-11-30 02:00 UTC);
        assert_eq!(read("2026-11-30T10:00", Some(&shanghai)), Ok(ten));
        assert_eq!(read("2026-11-30T10:00:00", Some(&shanghai)), Ok(ten));
        assert_eq!(read("2026-11-30T10:00:00+08:00", None), Ok(ten));
        assert_eq!(read("2026-11-30T02:00:00Z", Some(&shanghai)), Ok(ten));
        assert_eq!(read("2026-11-30T10:00", None), Err(Problem::NotATime));
        for written in [
            "2026-11-30T16:00:00.000+14:00",
            "2026-11-29T14:30:00-11:30",
            "20261130T02:00:00Z",
        ] {
            assert_eq!(read(written, None), Ok(ten), "{written}");
        }
        assert_eq!(shanghai.show(ten), "2026-11-30 10:00 UTC+08:00");
        assert_eq!(shanghai.show_seconds(ten), "2026-11-30 10:00:00 UTC+08:00");
        assert_eq!(shanghai.input(ten), "2026-11-30T10:00");
    }

    #[test]
    fn a_missing_hour_is_refused_and_a_doubled_one_is_named() {
        let berlin = Zone::parse("Europe/Berlin").unwrap();
        assert_eq!(
            read("2027-03-28T02:30", Some(&berlin)),
            Err(Problem::NoSuchTime)
        );
        assert_eq!(
            read("2027-10-31T02:30", Some(&berlin)),
            Err(Problem::DoubledTime)
        );
        for text in [
            "tomorrow",
            "0001-01-01T00:00",
            "9999-12-31T00:00:00Z",
            "2026-13-01T00:00",
            "a\0b",
            "2026-11-30T10:00:60Z",
            "2026-11-30T10:00:00+25:00",
            "2026-11-30T10:00:00-15:00",
        ] {
            assert_eq!(
                read(text, Some(&berlin)),
                Err(Problem::NotATime),
                "{text:?}"
            );
        }
        assert!(matches!(
            Zone::parse("Mars/Olympus"),
            Err(Problem::UnknownZone)
        ));
    }

    #[test]
    fn a_doubled_hour_is_read_by_its_offset_and_no_other_time_needs_one() {
        let berlin = Zone::parse("Europe/Berlin").unwrap();
        let at =
            |text: &str, offset: &str| parse_instant(TypedTime { text, offset }, Some(&berlin));
        let doubled = "2027-10-31T02:30";
        let (first, second) = (
            datetime!(2027-10-31 00:30 UTC),
            datetime!(2027-10-31 01:30 UTC),
        );
        assert_eq!(at(doubled, "+02:00"), Ok(first));
        assert_eq!(at(doubled, " +01:00 "), Ok(second));
        for offset in ["", "+03:00", "1", "+2:00"] {
            assert_eq!(at(doubled, offset), Err(Problem::DoubledTime), "{offset}");
        }
        // The answer to a question that is not asked any more.
        assert_eq!(
            at("2027-10-31T04:30", "+02:00"),
            Ok(datetime!(2027-10-31 03:30 UTC))
        );
        assert_eq!(at("2027-03-28T02:30", "+01:00"), Err(Problem::NoSuchTime));
        assert_eq!(
            berlin.offsets(doubled),
            Some(["+02:00".to_owned(), "+01:00".to_owned()])
        );
        assert_eq!(berlin.offsets("2027-10-31T04:30"), None);
        assert_eq!(berlin.offsets("x"), None);
        for instant in [first, second] {
            assert_eq!(berlin.input(instant), doubled);
            let (local, offset) = (berlin.input(instant), berlin.offset(instant));
            assert_eq!(at(&local, &offset), Ok(instant));
        }
    }

    #[test]
    fn what_a_form_shows_is_read_as_the_same_instant_to_the_millisecond() {
        let shanghai = Zone::parse("Asia/Shanghai").unwrap();
        for (instant, shown) in [
            (datetime!(2026-11-30 02:00 UTC), "2026-11-30T10:00"),
            (datetime!(2026-11-30 02:00:07 UTC), "2026-11-30T10:00:07"),
            (
                datetime!(2026-11-30 02:00:07.25 UTC),
                "2026-11-30T10:00:07.250",
            ),
        ] {
            assert_eq!(shanghai.input(instant), shown);
            assert_eq!(read(shown, Some(&shanghai)), Ok(instant));
        }
        assert_eq!(
            read("2026-11-30T02:00:00.123999Z", None),
            Ok(datetime!(2026-11-30 02:00:00.123 UTC))
        );
    }

    #[test]
    fn a_window_of_the_past_moves_to_the_next_day_on_which_it_can_be() {
        let berlin = Zone::parse("Europe/Berlin").unwrap();
        // 10:00 to 11:00 in summer, looked at in winter: still 10:00 to 11:00.
        let window = [
            datetime!(2026-07-01 08:00 UTC),
            datetime!(2026-07-01 09:00 UTC),
        ];
        assert_eq!(
            berlin.next(window, datetime!(2026-11-30 08:59 UTC)),
            Some([
                datetime!(2026-11-30 09:00 UTC),
                datetime!(2026-11-30 10:00 UTC)
            ])
        );
        assert_eq!(
            berlin.next(window, datetime!(2026-11-30 09:00 UTC)),
            Some([
                datetime!(2026-12-01 09:00 UTC),
                datetime!(2026-12-01 10:00 UTC)
            ])
        );
        assert_eq!(
            berlin.next(window, datetime!(2026-06-01 09:00 UTC)),
            Some(window)
        );
    }
}
