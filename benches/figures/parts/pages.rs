//! The pages that a crowd looks at: a voucher's and the list of shops, where the program may remember what it has just
//! shown, and where it cannot: another voucher, or other words, with every request. In stores of their own, without a
//! consumer, since thousands of sales would be in the way of the other parts.

use app::model::{SaleState, VoucherId};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use seckill::{gate::SaleSettings, shop_search, stores::Stores};

use crate::{
    Result, Run,
    http::{Answers, Load},
    own_stores::OwnStores,
    record::Record,
    shop::{self, Shopper},
    site::Site,
};

/// Connections.
const CONNECTIONS: usize = 50;

/// Shoppers who look at a voucher.
const SHOPPERS: usize = 1_000;

/// Measures in rounds.
pub async fn measure(run: &Run, record: &mut Record) -> Result<()> {
    let from = record.len();
    vouchers(run, record).await?;
    lists(run, record).await?;
    record.print("pages", from);
    Ok(())
}

async fn vouchers(run: &Run, record: &mut Record) -> Result<()> {
    let own = OwnStores::open(&run.args, "vouchers").await?;
    let vouchers = offers(&own.stores, run.args.pages).await?;
    unattended(&own.stores).await?;
    let shoppers = shop::shoppers(&own.stores, SHOPPERS).await?;
    let site = Site::start(&run.args, &own.addresses, &own.stores, "web", &[]).await?;
    let one = || page_of(&vouchers[..1]);
    for round in 1..=run.args.rounds {
        eprintln!("voucher pages, round {round}");
        let mut at = (&site, &mut *record, run.args.reads);
        look(&mut at, "page_cached", "voucher page", &[], one()).await?;
        let label = "voucher page, signed in";
        look(&mut at, "page_signed_in", label, &shoppers, one()).await?;
        let label = "voucher page, another with every request";
        look(&mut at, "page_uncached", label, &[], page_of(&vouchers)).await?;
    }
    site.stop().await?;
    own.remove().await
}

async fn lists(run: &Run, record: &mut Record) -> Result<()> {
    let own = OwnStores::open(&run.args, "shops").await?;
    offers(&own.stores, run.args.shops).await?;
    let site = Site::start(&run.args, &own.addresses, &own.stores, "web", &[]).await?;
    let list = |_| ("/".to_owned(), "咖啡小馆".to_owned());
    for round in 1..=run.args.rounds {
        eprintln!("list of shops, round {round}");
        let mut at = (&site, &mut *record, run.args.reads / 5);
        look(&mut at, "shops_cached", "list of shops", &[], list).await?;
        let label = "list of shops, other words with every request";
        let words = words(run.args.shops);
        look(&mut at, "shops_uncached", label, &[], words).await?;
    }
    site.stop().await?;
    own.remove().await
}

async fn look(
    (site, record, times): &mut (&Site, &mut Record, usize),
    name: &str,
    label: &str,
    shoppers: &[Shopper],
    page: impl Fn(usize) -> (String, String) + 'static,
) -> Result<()> {
    let before = site.times()?;
    let answers: Answers = site
        .look(Load::closed(CONNECTIONS, *times), shoppers, page)
        .await?;
    let costs = site.times()?.each_since(&before, answers.count());
    record.load(name, label, &answers, costs);
    Ok(())
}

/// The page of each of these vouchers in turn, with its title.
fn page_of(vouchers: &[VoucherId]) -> impl Fn(usize) -> (String, String) + 'static {
    let vouchers = vouchers.to_vec();
    move |number| {
        let place = number % vouchers.len();
        (format!("/vouchers/{}", vouchers[place]), title(place + 1))
    }
}

/// A search for each of the shops in turn, that finds it.
fn words(shops: usize) -> impl Fn(usize) -> (String, String) + 'static {
    move |number| {
        let name = shop_name(number % shops + 1);
        let words = utf8_percent_encode(&name, NON_ALPHANUMERIC);
        (format!("/?words={words}"), name)
    }
}

fn shop_name(number: usize) -> String {
    format!("咖啡小馆 {number}")
}

fn title(number: usize) -> String {
    format!("双人下午茶套餐 {number}")
}

/// The keeper looks after these sales no more: it would once a second, all of them, and what is measured are pages.
async fn unattended(stores: &Stores) -> Result<()> {
    sqlx::query("UPDATE sales SET left_gate_at = now()")
        .execute(&stores.pool)
        .await?;
    Ok(())
}

/// So many shops, each with a voucher on sale.
async fn offers(stores: &Stores, number: usize) -> Result<Vec<VoucherId>> {
    let settings = shop::settings(0, 1_000, shop::DAY)?;
    let vouchers: Vec<i32> = sqlx::query_scalar(
        "WITH made AS (
             INSERT INTO shops (name, category, address)
             SELECT '咖啡小馆 ' || n, (ARRAY['咖啡', '面馆', '书店'])[n % 3 + 1], '人民路 ' || n || ' 号'
             FROM generate_series(1, $1) n
             ORDER BY n
             RETURNING id
         ), offered AS (
             INSERT INTO vouchers (shop_id, title, subtitle, rules, price_cents, face_value_cents)
             SELECT id, '双人下午茶套餐 ' || row_number() OVER (ORDER BY id), '周末通用',
                    E'每人限购一张。\\n有效期三十天，过期自动失效。\\n到店出示订单即可使用。', 1990, 9900
             FROM made
             ORDER BY id
             RETURNING id
         ), sold AS (
             INSERT INTO sales (voucher_id, granted, begins_at, ends_at, zone)
             SELECT id, $2, $3, $4, 'Asia/Shanghai'
             FROM offered
         )
         SELECT id
         FROM offered
         ORDER BY id",
    )
    .bind(i64::try_from(number)?)
    .bind(settings.granted)
    .bind(settings.begins_at)
    .bind(settings.ends_at)
    .fetch_all(&stores.pool)
    .await?;
    for voucher in &vouchers {
        let settings = SaleSettings {
            voucher: VoucherId(*voucher),
            state: SaleState::Open,
            ..settings.clone()
        };
        stores.gate.apply(&settings, true).await?;
    }
    shop_search::fold_all(&stores.pool).await?;
    sqlx::query("ANALYZE").execute(&stores.pool).await?;
    Ok(vouchers.into_iter().map(VoucherId).collect())
}
