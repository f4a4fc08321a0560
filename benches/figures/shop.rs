//! What the measurements need in the stores, made with the program's own code: users in one statement, their login
//! sessions, sales.

use app::model::{
    Cents, Line, NewSale, NewShop, Paragraph, SaleState, ShopId, UserId, VoucherId, Zone,
};
use futures::{StreamExt, TryStreamExt};
use seckill::{
    auth::{current_user, session_store::RedisSessions},
    clock, db,
    gate::{BuyAnswer, SaleSettings},
    stores::Stores,
};
use std::sync::Arc;
use time::Duration;
use tower_sessions::{Expiry, Session};

use crate::Result;

/// Calls under way at once while things are made.
const AT_ONCE: usize = 500;

/// Somebody signed in.
#[derive(Clone, Debug)]
pub struct Shopper {
    pub id: UserId,
    /// The value of the cookie `session`.
    pub cookie: String,
}

/// Creates so many users, signed in.
pub async fn shoppers(stores: &Stores, count: usize) -> Result<Vec<Shopper>> {
    let ids: Vec<i64> = sqlx::query_scalar(
        "WITH made AS (
             INSERT INTO users (name, password_hash)
             SELECT 'bench-' || n, '!'
             FROM generate_series(1, $1) n
             RETURNING id
         )
         SELECT id
         FROM made
         ORDER BY id",
    )
    .bind(i64::try_from(count)?)
    .fetch_all(&stores.pool)
    .await?;
    sqlx::query("ANALYZE users").execute(&stores.pool).await?;
    let sessions = Arc::new(RedisSessions::new(
        stores.gate.connection().clone(),
        stores.gate.keys().clone(),
    ));
    let signing_in = futures::stream::iter(ids).map(|id| {
        let session = Session::new(
            None,
            Arc::clone(&sessions),
            Some(Expiry::OnInactivity(Duration::days(30))),
        );
        async move {
            current_user::sign_in(&session, UserId(id)).await?;
            let cookie = session.id().ok_or("a session without an id")?.to_string();
            Ok::<_, Box<dyn std::error::Error>>(Shopper {
                id: UserId(id),
                cookie,
            })
        }
    });
    signing_in.buffered(AT_ONCE).try_collect().await
}

/// Opens a sale of so many units.
pub async fn sale(stores: &Stores, units: usize) -> Result<VoucherId> {
    let shop = NewShop {
        name: line("咖啡小馆")?,
        category: line("咖啡")?,
        address: line("人民路 1 号")?,
    };
    let shop = db::shops::insert(&stores.pool, &shop, "bench").await?;
    let settings = settings(0, i64::try_from(units)?)?;
    let sale = NewSale {
        shop_id: ShopId(shop.0),
        title: line("双人下午茶套餐")?,
        subtitle: line("周末通用")?,
        rules: Paragraph::parse(
            "每人限购一张。\n有效期三十天，过期自动失效。\n到店出示订单即可使用。",
            1000,
        )
        .map_err(|_| "rules")?,
        price: Cents(1990),
        face_value: Cents(9900),
        stock: settings.granted,
        begins_at: settings.begins_at,
        ends_at: settings.ends_at,
        zone: Zone::parse("Asia/Shanghai").map_err(|_| "zone")?,
    };
    let voucher = db::vouchers::insert(&stores.pool, &sale, "bench").await?;
    stores
        .gate
        .apply(
            &SaleSettings {
                voucher,
                ..settings
            },
            true,
        )
        .await?;
    Ok(voucher)
}

/// An open sale of so many units.
pub fn settings(voucher: i64, granted: i64) -> Result<SaleSettings> {
    let now = clock::system();
    Ok(SaleSettings {
        voucher: VoucherId(i32::try_from(voucher)?),
        version: 1,
        granted,
        begins_at: now - Duration::minutes(1),
        ends_at: now + Duration::days(1),
        state: SaleState::Open,
    })
}

/// Lets these shoppers buy at the gate itself.
pub async fn fill_queue(stores: &Stores, voucher: VoucherId, shoppers: &[Shopper]) -> Result<()> {
    let buying = futures::stream::iter(shoppers).map(|shopper| {
        let order = stores.order_ids.make(shopper.id, voucher, clock::system());
        async move {
            match stores.gate.buy(shopper.id, voucher, order).await? {
                BuyAnswer::Decided(app::model::BuyOutcome::Queued(_)) => Ok(()),
                answer => Err(format!("the gate answered {answer:?}").into()),
            }
        }
    });
    buying.buffer_unordered(AT_ONCE).try_collect().await
}

fn line(text: &str) -> Result<Line> {
    Line::parse(text, 0, 120).map_err(|problem| format!("{text}: {problem:?}").into())
}
