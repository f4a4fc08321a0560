//! What an admin does to a sale besides editing its form, and what each makes of the sale. Pure: who may, and how the gate
//! is told, is the server's.

use time::OffsetDateTime;

use super::{
    Field, Problem, SaleChange, SaleState, Voucher,
    sale::MAX_STOCK,
    sale_form::{parse_units, parse_version},
};
use crate::error::AppError;

/// An action on a sale.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SaleAction {
    /// Sells nothing until it is resumed.
    Pause,
    /// Sells again.
    Resume,
    /// Ends now; for good.
    End,
    /// Sells nothing any more; for good.
    Withdraw,
    /// Grants more units.
    Add(UnitsChange),
    /// Takes units that are not sold out of the sale.
    Cut(UnitsChange),
}

/// So many units, from a form that was made at a version: sent twice, it counts once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnitsChange {
    count: i64,
    version: i64,
}

/// Why an action changes nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoChange {
    /// The sale is not such that it could.
    Outcome(SaleChange),
    /// A field asks for too much.
    Field(Field, Problem),
}

impl UnitsChange {
    /// Reads the fields `units` and `version`.
    ///
    /// # Errors
    /// `AppError::Invalid` with every field's problem.
    pub fn parse(units: &str, version: &str) -> Result<Self, AppError> {
        let mut fields = super::Fields::default();
        let count = fields.take("units", parse_units(units));
        let version = fields.take("version", parse_version(version));
        match (count, version) {
            (Some(count), Some(version)) => Ok(Self { count, version }),
            _ => Err(fields.into()),
        }
    }
}

impl SaleAction {
    /// The word, as in calls, addresses and the audit log.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Pause => "pause",
            Self::Resume => "resume",
            Self::End => "end",
            Self::Withdraw => "withdraw",
            Self::Add(_) => "add",
            Self::Cut(_) => "cut",
        }
    }

    /// The word in the audit log. Of a cut it is what was asked for; what came of it is noted once the gate has decided.
    #[must_use]
    pub fn noted_as(self) -> &'static str {
        match self {
            Self::Pause => "pause_sale",
            Self::Resume => "resume_sale",
            Self::End => "end_sale",
            Self::Withdraw => "withdraw_sale",
            Self::Add(_) => "add_units",
            Self::Cut(_) => "ask_to_cut_units",
        }
    }

    /// The sale after the action; the very same where that is how it was. `now` is the gate's clock.
    ///
    /// # Errors
    /// Why it changes nothing.
    pub fn of(self, sale: &Voucher, now: OffsetDateTime) -> Result<Voucher, NoChange> {
        let mut sale = sale.clone();
        let is_over = sale.is_over(now);
        let over = Err(NoChange::Outcome(SaleChange::Over));
        match self {
            Self::Withdraw if sale.state == SaleState::Withdrawn => {}
            Self::End if is_over && sale.state != SaleState::Withdrawn => {}
            _ if is_over => return over,
            Self::Pause => sale.state = SaleState::Paused,
            Self::Resume => sale.state = SaleState::Open,
            Self::Withdraw => sale.state = SaleState::Withdrawn,
            // What has not begun has no end yet that could be now.
            Self::End if sale.begins_at >= now => {
                return Err(NoChange::Outcome(SaleChange::NotStarted));
            }
            Self::End => sale.ends_at = now,
            Self::Add(units) => units.added_to(&mut sale)?,
            Self::Cut(units) => units.cut_from(&mut sale)?,
        }
        Ok(sale)
    }
}

impl UnitsChange {
    fn added_to(self, sale: &mut Voucher) -> Result<(), NoChange> {
        self.is_fresh(sale)?;
        let room = MAX_STOCK - sale.granted;
        if self.count > room {
            return Err(NoChange::Field("units", Problem::TooLarge(room)));
        }
        sale.granted += self.count;
        // A cut under way is of the units that there were.
        sale.cut_to = sale.cut_to.map(|units| units + self.count);
        Ok(())
    }

    fn cut_from(self, sale: &mut Voucher) -> Result<(), NoChange> {
        self.is_fresh(sale)?;
        let wanted = sale.cut_to.unwrap_or(sale.granted);
        // One is left: a sale of nothing is one to withdraw. What is sold cannot be cut either, and is not said to be.
        if self.count >= wanted {
            let most = wanted - sale.sold.clamp(1, wanted);
            return Err(NoChange::Field("units", Problem::TooLarge(most)));
        }
        sale.cut_to = Some(wanted - self.count);
        Ok(())
    }

    fn is_fresh(self, sale: &Voucher) -> Result<(), NoChange> {
        if self.version == sale.version {
            Ok(())
        } else {
            Err(NoChange::Outcome(SaleChange::OldForm))
        }
    }
}
