//! Demo data for an empty database: a dozen shops with sales that run, begin in two minutes, are sold out, are over.
//! Everything goes the ordinary way: through the gate and the queue.

mod drawing;

use app::model::{
    Cents, Line, Name, NewSale, NewShop, Paragraph, Problem, ShopId, UserId, VoucherId, Zone,
};
use time::Duration;

use crate::{
    clock, db,
    error::Error,
    gate::{SaleSettings, order_id::OrderIds},
    picture::Pictures,
    stores::Stores,
};

/// What the audit log calls us.
const ACTOR: &str = "seed";

/// Name, category, address.
const SHOPS: [[&str; 3]; 12] = [
    ["老巷子火锅", "美食", "上海市黄浦区南京东路 18 号"],
    ["一杯山茶", "饮品", "杭州市西湖区文三路 210 号"],
    ["云上健身", "运动", "北京市朝阳区建国路 88 号"],
    ["半亩花田 SPA", "丽人", "成都市锦江区春熙路 6 号"],
    ["北岸咖啡", "饮品", "上海市徐汇区武康路 101 号"],
    ["小满书店", "文化", "南京市鼓楼区广州路 35 号"],
    ["海风日料", "美食", "青岛市市南区香港中路 61 号"],
    ["蓝鲸游泳馆", "运动", "深圳市南山区科苑路 12 号"],
    ["Noodle House", "美食", "1 Harbour Road, Hong Kong"],
    ["萌爪宠物", "生活", "广州市天河区体育西路 9 号"],
    ["星轨影城", "文化", "武汉市江汉区解放大道 688 号"],
    ["巧手修表", "生活", "西安市碑林区东大街 77 号"],
];

/// When a demo sale runs.
#[derive(Clone, Copy)]
enum When {
    Running,
    InTwoMinutes,
    SoldOut,
    Over,
}

/// Shop (place in [`SHOPS`]), title, subtitle, price and face value in cents, units, when.
const SALES: [(usize, &str, &str, i64, i64, i64, When); 14] = [
    (
        0,
        "100 元代金券",
        "周一至周日均可使用",
        5900,
        10000,
        200,
        When::Running,
    ),
    (
        0,
        "双人鸳鸯锅套餐",
        "含锅底与八道菜",
        9900,
        19800,
        50,
        When::InTwoMinutes,
    ),
    (
        1,
        "任意大杯奶茶券",
        "到店自取",
        590,
        1800,
        500,
        When::Running,
    ),
    (
        2,
        "单次畅练体验券",
        "不限时长",
        990,
        6800,
        100,
        When::InTwoMinutes,
    ),
    (
        3,
        "60 分钟舒缓护理",
        "需提前一天预约",
        12800,
        29800,
        3,
        When::SoldOut,
    ),
    (
        4,
        "手冲咖啡兑换券",
        "七款豆子任选",
        1500,
        3800,
        80,
        When::Running,
    ),
    (
        5,
        "50 元购书券",
        "不与其他优惠同享",
        3000,
        5000,
        120,
        When::Running,
    ),
    (
        6,
        "午市定食双人券",
        "工作日午市",
        8800,
        16600,
        5,
        When::SoldOut,
    ),
    (7, "亲子游泳次卡", "一大一小", 4900, 12000, 60, When::Over),
    (
        8,
        "Noodle set for one",
        "Any bowl with tea",
        2900,
        5800,
        150,
        When::Running,
    ),
    (
        9,
        "洗护体验券",
        "十公斤以内",
        3900,
        8800,
        40,
        When::InTwoMinutes,
    ),
    (
        10,
        "2D 电影通兑券",
        "全天可用",
        1990,
        4500,
        300,
        When::Running,
    ),
    (
        10,
        "爆米花双人套餐",
        "含两杯可乐",
        1500,
        4200,
        30,
        When::Over,
    ),
    (
        11,
        "机械表保养",
        "含清洁与走时校准",
        9900,
        26800,
        20,
        When::Running,
    ),
];

const RULES: &str =
    "每人限购一张。\n有效期三十天，过期自动失效。\n到店出示订单即可使用，不找零、不兑现。";

/// Why the demo data could not be made.
#[derive(Debug, thiserror::Error)]
pub enum SeedError {
    /// There is data already.
    #[error("the database is not empty; demo data goes into an empty one only")]
    NotEmpty,
    /// A text of ours is not accepted.
    #[error("demo data is not accepted: {0:?}")]
    Text(Problem),
    /// A store fails.
    #[error(transparent)]
    Store(#[from] Error),
}

impl From<sqlx::Error> for SeedError {
    fn from(error: sqlx::Error) -> Self {
        Self::Store(error.into())
    }
}

/// Fills an empty database.
///
/// # Errors
/// When it is not empty, or a store fails.
pub async fn seed(stores: &Stores) -> Result<(), SeedError> {
    if is_seeded(stores).await? {
        return Err(SeedError::NotEmpty);
    }
    let mut shops = Vec::new();
    for [name, category, address] in SHOPS {
        let shop = NewShop {
            name: line(name)?,
            category: line(category)?,
            address: line(address)?,
        };
        let id = db::shops::insert(&stores.pool, &shop, ACTOR).await?;
        shops.push(id);
        if let Some(drawing) = drawing::of(shops.len() - 1) {
            let pictures = tokio::task::spawn_blocking(move || Pictures::drawn(drawing.draw()));
            let pictures = Some(pictures.await.map_err(Error::from)?);
            db::pictures::replace(&stores.pool, id, pictures, ACTOR.to_owned()).await?;
        }
    }
    let buyers = buyers(stores).await?;
    let now = clock::system();
    for (shop, title, subtitle, price, face_value, stock, when) in SALES {
        let (begins_at, ends_at) = match when {
            When::Running | When::SoldOut => (now - Duration::minutes(1), now + Duration::days(2)),
            When::InTwoMinutes => (now + Duration::minutes(2), now + Duration::days(1)),
            When::Over => (now - Duration::days(3), now - Duration::days(1)),
        };
        let sale = NewSale {
            shop_id: shops.get(shop).copied().unwrap_or(ShopId(1)),
            title: line(title)?,
            subtitle: line(subtitle)?,
            rules: Paragraph::parse(RULES, 1000).map_err(SeedError::Text)?,
            price: Cents(price),
            face_value: Cents(face_value),
            stock,
            begins_at,
            ends_at,
            zone: Zone::parse("Asia/Shanghai").map_err(SeedError::Text)?,
        };
        let voucher = open_sale(stores, &sale).await?;
        if matches!(when, When::SoldOut) {
            sell_out(stores, voucher, &buyers, stock).await?;
        }
    }
    Ok(())
}

/// Is there data already?
///
/// # Errors
/// When the database fails.
pub async fn is_seeded(stores: &Stores) -> Result<bool, Error> {
    Ok(!db::shops::all(&stores.pool).await?.is_empty())
}

async fn open_sale(stores: &Stores, sale: &NewSale) -> Result<VoucherId, SeedError> {
    let voucher = db::vouchers::insert(&stores.pool, sale, ACTOR).await?;
    let settings = SaleSettings::of_new(voucher, sale);
    stores
        .gate
        .apply(&settings, true)
        .await
        .map_err(Error::from)?;
    Ok(voucher)
}

/// Shoppers who cannot sign in: their hash is none.
async fn buyers(stores: &Stores) -> Result<Vec<UserId>, SeedError> {
    let mut buyers = Vec::new();
    for name in ["demo-amei", "demo-bo", "demo-chen", "demo-dan", "demo-ella"] {
        let name = Name::parse(name).map_err(SeedError::Text)?;
        buyers.push(db::users::insert(&stores.pool, &name, db::users::NO_PASSWORD).await?);
    }
    Ok(buyers)
}

async fn sell_out(
    stores: &Stores,
    voucher: VoucherId,
    buyers: &[UserId],
    units: i64,
) -> Result<(), Error> {
    let ids: &OrderIds = &stores.order_ids;
    for user in buyers
        .iter()
        .take(usize::try_from(units).unwrap_or(usize::MAX))
    {
        let order = ids.make(*user, voucher, clock::system());
        stores.gate.buy(*user, voucher, order).await?;
    }
    Ok(())
}

fn line(text: &str) -> Result<Line, SeedError> {
    Line::parse(text, 0, 120).map_err(SeedError::Text)
}
