//! What the measurements need in the stores, made with the program's own code: users in one statement, their login
//! sessions, sales.

use app::model::{
    Cents, Line, NewSale, NewShop, Paragraph, SaleState, ShopId, UserId, VoucherId, Zone,
};
use futures::{StreamExt, TryStreamExt};
use seckill::{
    clock, db,
    gate::{BuyAnswer, SaleSettings},
    stores::Stores,
};
use time::Duration;

use crate::Result;

/// How long a sale is open that outlives its measurement.
pub const DAY: Duration = Duration::days(1);

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
    let signing_in = futures::stream::iter(accounts(stores, count).await?).map(|id| async move {
        let cookie = stores.logins.admit(id).await?;
        Ok(Shopper { id, cookie })
    });
    signing_in.buffered(AT_ONCE).try_collect().await
}

/// Creates so many users.
pub async fn accounts(stores: &Stores, count: usize) -> Result<Vec<UserId>> {
    let ids: Vec<i64> = sqlx::query_scalar(
        "WITH made AS (
             INSERT INTO users (name, name_key, password_hash)
             SELECT 'bench-' || n, 'bench-' || n || '-' || gen_random_uuid(), '!'
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
    Ok(ids.into_iter().map(UserId).collect())
}

/// Opens a sale of so many units, for so long.
pub async fn sale(stores: &Stores, units: usize, lasts: Duration) -> Result<VoucherId> {
    create(stores, settings(0, i64::try_from(units)?, lasts)?).await
}

/// A sale that begins in a day.
pub async fn coming_sale(stores: &Stores) -> Result<VoucherId> {
    let mut settings = settings(0, 1, DAY)?;
    settings.begins_at += DAY;
    settings.ends_at += DAY;
    create(stores, settings).await
}

async fn create(stores: &Stores, settings: SaleSettings) -> Result<VoucherId> {
    let shop = NewShop {
        name: line("咖啡小馆")?,
        category: line("咖啡")?,
        address: line("人民路 1 号")?,
    };
    let shop = db::shops::insert(&stores.pool, &shop, "bench").await?;
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

/// A sale of so many units, open since a minute and for so long.
pub fn settings(voucher: i64, granted: i64, lasts: Duration) -> Result<SaleSettings> {
    let now = clock::system();
    Ok(SaleSettings {
        voucher: VoucherId(i32::try_from(voucher)?),
        version: 1,
        granted,
        cut_to: None,
        begins_at: now - Duration::minutes(1),
        ends_at: now + lasts,
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
