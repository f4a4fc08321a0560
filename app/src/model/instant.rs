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

    /// The local time of an instant for an `<input type="datetime-local">`: `2026-11-29T10:00`.
    #[must_use]
    pub fn input(&self, at: OffsetDateTime) -> String {
        self.zoned(at).strftime("%Y-%m-%dT%H:%M").to_string()
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

/// The hours that any clock of the world is ahead or behind, at most: Kiribati's.
const FARTHEST_OFFSET: u8 = 14;

/// Reads an instant: RFC 3339 with offset, or a local time (`2026-11-29T10:00`) in `zone`.
/// Years 2000 to 2100: outside them it is a slip of the hand. Programs write clocks to the nanosecond; the gate counts in
/// milliseconds, and what is finer is cut off.
///
/// # Errors
/// `Missing`, `NotATime`, and for local times `NoSuchTime` (the clock jumped over it) and `DoubledTime`
/// (the clock showed it twice).
pub fn parse_instant(text: &str, zone: Option<&Zone>) -> Result<OffsetDateTime, Problem> {
    let text = text.trim();
    if text.is_empty() {
        return Err(Problem::Missing);
    }
    let timestamp = match text.parse::<jiff::Timestamp>() {
        Ok(timestamp) => timestamp,
        Err(_) => local(text, zone.ok_or(Problem::NotATime)?)?,
    };
    if is_odd(text) {
        return Err(Problem::NotATime);
    }
    let at = OffsetDateTime::from_unix_timestamp_nanos(timestamp.as_nanosecond())
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

fn local(text: &str, zone: &Zone) -> Result<jiff::Timestamp, Problem> {
    // Text with a zone or an offset of its own has been refused as RFC 3339; it is no local time either.
    if text.contains(['[', '+', 'Z', 'z']) {
        return Err(Problem::NotATime);
    }
    let civil: civil::DateTime = text.parse().map_err(|_| Problem::NotATime)?;
    let ambiguous = zone.0.to_ambiguous_timestamp(civil);
    match ambiguous.offset() {
        jiff::tz::AmbiguousOffset::Gap { .. } => Err(Problem::NoSuchTime),
        jiff::tz::AmbiguousOffset::Fold { .. } => Err(Problem::DoubledTime),
        jiff::tz::AmbiguousOffset::Unambiguous { .. } => {
            ambiguous.unambiguous().map_err(|_| Problem::NotATime)
        }
    }
}

#[cfg(test)]
mod tests {
    use time::macros::datetime;

    use super::*;

    #[test]
    fn local_times_mean_their_zone_and_instants_mean_their_offset() {
        let shanghai = Zone::parse("Asia/Shanghai").unwrap();
        let ten = datetime!(2026-11-30 02:00 UTC);
        assert_eq!(parse_instant("2026-11-30T10:00", Some(&shanghai)), Ok(ten));
        assert_eq!(
            parse_instant("2026-11-30T10:00:00", Some(&shanghai)),
            Ok(ten)
        );
        assert_eq!(parse_instant("2026-11-30T10:00:00+08:00", None), Ok(ten));
        assert_eq!(
            parse_instant("2026-11-30T02:00:00Z", Some(&shanghai)),
            Ok(ten)
        );
        assert_eq!(
            parse_instant("2026-11-30T10:00", None),
            Err(Problem::NotATime)
        );
        for written in [
            "2026-11-30T16:00:00.000+14:00",
            "2026-11-29T14:30:00-11:30",
            "20261130T02:00:00Z",
        ] {
            assert_eq!(parse_instant(written, None), Ok(ten), "{written}");
        }
        assert_eq!(shanghai.show(ten), "2026-11-30 10:00 UTC+08:00");
        assert_eq!(shanghai.show_seconds(ten), "2026-11-30 10:00:00 UTC+08:00");
        assert_eq!(shanghai.input(ten), "2026-11-30T10:00");
    }

    #[test]
    fn a_missing_hour_is_refused_and_a_doubled_one_is_named() {
        let berlin = Zone::parse("Europe/Berlin").unwrap();
        assert_eq!(
            parse_instant("2027-03-28T02:30", Some(&berlin)),
            Err(Problem::NoSuchTime)
        );
        assert_eq!(
            parse_instant("2027-10-31T02:30", Some(&berlin)),
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
                parse_instant(text, Some(&berlin)),
                Err(Problem::NotATime),
                "{text:?}"
            );
        }
        assert!(matches!(
            Zone::parse("Mars/Olympus"),
            Err(Problem::UnknownZone)
        ));
    }
}
