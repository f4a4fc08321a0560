//! Carries what PostgreSQL says of a sale to the gate. Whoever changes a sale does so at once; the keeper does it for all
//! that was left half-way, within a second. In this order, so that the gate never holds more units than are granted:
//!
//! - Units are added, a window or a state is changed: PostgreSQL first, as a new version; then `apply.lua`, which ignores
//!   what is not newer. Whoever is stopped in between has promised nothing: the gate sells less, or by the old settings.
//! - Units are cut: what is wanted is stored first (`cut_to`, a new version), while `granted` stays. The gate takes what
//!   is still in its stock, in one step, and stops at what is promised; only then `granted` follows what the gate holds, as
//!   one more version. A rebuild that comes in between ends with the same rule (`rebuild_end.lua`). Whoever is stopped in
//!   between leaves `cut_to`, from which anybody goes on.
//!
//! A PostgreSQL that has lost its last commits (a fail-over, a backup that was put back) counts all the same: what it says
//! becomes a version that the gate has not seen.
//!
//! Proven by `src/tests/interleavings.rs` and `src/tests/sale_actions.rs`.

use app::model::VoucherId;
use sqlx::PgPool;

use crate::{
    db::{self, sales::Sale},
    error::Error,
    gate::{Applied, Gate, SaleSettings},
};

/// The settings that the gate holds of a sale.
#[must_use]
pub fn settings(sale: &Sale) -> SaleSettings {
    SaleSettings {
        voucher: sale.voucher,
        version: sale.version,
        granted: sale.granted,
        cut_to: sale.cut_to,
        begins_at: sale.begins_at,
        ends_at: sale.ends_at,
        state: sale.state,
    }
}

/// Tells the gate what PostgreSQL says of a sale, and finishes its cut, if one is under way. `actor` is noted for the cut.
///
/// # Errors
/// When a store is away; asking again is safe.
pub async fn carry(pool: &PgPool, gate: &Gate, sale: &Sale, actor: &str) -> Result<Applied, Error> {
    let applied = gate.apply(&settings(sale), false).await?;
    let (Some(_), Applied::Applied(held) | Applied::Known(held)) = (sale.cut_to, applied) else {
        return Ok(applied);
    };
    let cut = db::sales::finish_cut(pool, sale.voucher, sale.version, held, actor);
    if db::in_time(cut).await?
        && let Some(sale) = db::in_time(db::sales::by_id(pool, sale.voucher)).await?
    {
        return Ok(gate.apply(&settings(&sale), false).await?);
    }
    Ok(applied)
}

/// The gate holds version `held` of a sale, which PostgreSQL does not seem to know: tells the gate anew, as a newer one, if
/// that is so.
///
/// # Errors
/// When a store is away; asking again is safe.
pub async fn overtake(
    pool: &PgPool,
    gate: &Gate,
    voucher: VoucherId,
    held: i64,
) -> Result<Applied, Error> {
    if db::in_time(db::sales::overtake(pool, voucher, held)).await? {
        tracing::warn!(
            voucher.id = voucher.0,
            "the gate held settings that the database has lost; it is told anew"
        );
    }
    match db::in_time(db::sales::by_id(pool, voucher)).await? {
        Some(sale) => carry(pool, gate, &sale, "program").await,
        None => Ok(Applied::Newer),
    }
}
