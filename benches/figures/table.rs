//! The tables that are printed.

/// Rows under a heading.
pub struct Table {
    heading: String,
    rows: Vec<(String, String)>,
}

impl Table {
    /// An empty table.
    pub fn new(heading: &str) -> Self {
        Self {
            heading: heading.to_owned(),
            rows: Vec::new(),
        }
    }

    /// Adds a row.
    pub fn row(&mut self, what: &str, value: impl Into<String>) {
        self.rows.push((what.to_owned(), value.into()));
    }

    /// Prints it.
    pub fn print(&self) {
        let width = self
            .rows
            .iter()
            .map(|(what, _)| what.chars().count())
            .max()
            .unwrap_or_default();
        println!("\n{}", self.heading);
        for (what, value) in &self.rows {
            println!("  {what:width$}  {value}");
        }
    }
}

/// The value in the middle; 0 of none.
pub fn median(values: &[f64]) -> f64 {
    let mut values = values.to_vec();
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or_default()
}
