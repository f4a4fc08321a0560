//! Where each unit of a sale is, in all three places. They are read one after the other, and then again: what has not
//! changed meanwhile belongs together.

use app::{
    error::AppError,
    model::{Units, Voucher, VoucherId},
};
use redis::RedisResult;

use super::RequestBackend;
use crate::{
    db,
    error::Error,
    gate::{SaleLook, backlog::Backlog},
};

/// Looks until one is quiet. While a sale is busy none will be.
const LOOKS: usize = 2;

/// What the gate and its queue say of a sale.
struct GateSide {
    look: SaleLook,
    backlog: Backlog,
    /// Orders in the queue, and units that dead letters hold.
    waiting: Option<(usize, usize)>,
}

impl RequestBackend {
    pub(super) async fn units(&self, voucher: &Voucher) -> Result<Units, AppError> {
        let (pool, id) = (&self.services.pool, voucher.id);
        let refused = self.show(db::sale_orders::refused(pool, id).await)?;
        let has_left_gate = self.show(db::sales::has_left_gate(pool, id).await)?;
        let mut units = Units {
            granted: voucher.granted,
            confirmed: voucher.sold,
            refused,
            has_left_gate,
            ..Units::default()
        };
        if has_left_gate {
            return Ok(units);
        }
        for _ in 0..LOOKS {
            let before = units;
            let Some(side) = self.unless_away(self.look_at_gate(id)).await else {
                return Ok(units);
            };
            let Some(after) = self.unless_away(self.look_at_gate_again(id)).await else {
                return Ok(units);
            };
            let sale = self.show(db::sales::by_id(pool, id).await)?;
            let sale = sale.ok_or(AppError::NotFound)?;
            units.granted = sale.granted;
            units.confirmed = sale.sold;
            units.is_moving = before.confirmed != units.confirmed || !is_same(&side, &after);
            place(&mut units, &side);
            if !units.is_moving {
                break;
            }
        }
        Ok(units)
    }

    async fn look_at_gate(&self, id: VoucherId) -> Result<GateSide, Error> {
        let (look, backlog) = self.look_at_gate_again(id).await?;
        let waiting = match self.services.gate.waiting(id).await? {
            Some(waiting) => {
                // The letter of an order that is stored holds nothing: its unit is the order's.
                let stored = db::orders::stored(&self.services.pool, &waiting.dead).await?;
                let live = stored.iter().filter(|order| order.is_live).count();
                Some((waiting.queued, waiting.dead.len().saturating_sub(live)))
            }
            None => None,
        };
        Ok(GateSide {
            look,
            backlog,
            waiting,
        })
    }

    async fn look_at_gate_again(&self, id: VoucherId) -> RedisResult<(SaleLook, Backlog)> {
        let gate = &self.services.gate;
        let look = gate.look(&[id]).await?.remove(0);
        let backlog = gate.backlog(gate.keys().shard(id)).await?;
        Ok((look, backlog))
    }
}

/// Has nothing happened between two looks at the gate?
fn is_same(before: &GateSide, (look, backlog): &(SaleLook, Backlog)) -> bool {
    let then = SaleLook {
        now: look.now,
        ..before.look.clone()
    };
    then == *look && (before.backlog.queued, before.backlog.dead) == (backlog.queued, backlog.dead)
}

/// Puts every unit where it is. What was promised and is neither stored nor a dead letter is in the queue; where the queue
/// could be counted at rest, what is not found there is told apart. An entry of an order that is stored already waits for
/// its acknowledgement alone, and is no unit.
fn place(units: &mut Units, side: &GateSide) {
    let count = |n: usize| i64::try_from(n).unwrap_or(i64::MAX);
    units.left = side.look.stock;
    units.drift = side.look.drift();
    units.dead = side.waiting.map(|(_, dead)| count(dead));
    let dead = units.dead.unwrap_or_default();
    let open = side
        .look
        .marks
        .map(|marks| (marks - units.confirmed - dead).max(0));
    let found = side.waiting.filter(|_| !units.is_moving);
    let queued = |open: i64| found.map_or(open, |(queued, _)| count(queued).min(open));
    units.queued = open.map(queued);
    units.moving = open.map(|open| open - queued(open));
}
