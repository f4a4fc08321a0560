//! Whole numbers as people read them. In the browser too, so it is small.

/// A number with a comma between groups of three digits: `1,234,567`.
#[must_use]
pub fn grouped(number: i64) -> String {
    let mut text = number.to_string();
    let sign = usize::from(number < 0);
    let mut at = text.len();
    while at > sign + 3 {
        at -= 3;
        text.insert(at, ',');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_stand_in_groups_of_three() {
        for (number, text) in [
            (0, "0"),
            (999, "999"),
            (1000, "1,000"),
            (-999, "-999"),
            (-1000, "-1,000"),
            (1_234_567, "1,234,567"),
            (i64::MIN, "-9,223,372,036,854,775,808"),
        ] {
            assert_eq!(grouped(number), text);
        }
    }
}
