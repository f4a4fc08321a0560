//! Sales that are made from others, and looked at before they are stored.

use app::model::VoucherId;
use seckill::db;
use sqlx::PgPool;

use super::{
    harness::{App, Sale},
    sale_edit::{Fields, fields_of, with},
};

#[sqlx::test]
async fn a_preview_stores_nothing_and_carries_the_form_on(database: PgPool) {
    let app = App::start(database).await;
    let admin = app.admin().await;
    let shop = admin.create_shop().await;
    let before = super::bad_input::holdings(&app).await;
    let fields = with(&Sale::of(7).fields(shop), "title", "<b>五折</b> & \"more\"");
    let query = reqwest::Url::parse_with_params("http://form", &fields).unwrap();
    let address = format!("/admin/sales/preview?{}", query.query().unwrap());
    let browser = admin.without_script().reading("en");
    let page = browser.get(&address).await;
    assert_eq!(page.status, 200);
    for shown in [
        "&lt;b&gt;五折&lt;/b&gt;",
        "¥19.99",
        "¥30.01",
        "老城咖啡",
        "Buy now",
        "每人一张",
        "disabled",
    ] {
        assert!(page.body.contains(shown), "{shown}: {}", page.body);
    }
    assert_eq!(super::bad_input::holdings(&app).await, before);
    let sent = fields_of(&page.body, "/api/admin/create_sale");
    for (name, value) in &fields {
        assert!(sent.contains(&(*name, value.clone())), "{name}: {sent:?}");
    }
    let back = page
        .body
        .split(r#"href="/admin/sales/new?"#)
        .nth(1)
        .unwrap();
    let back = back.split('"').next().unwrap().replace("&amp;", "&");
    let form = browser.get(&format!("/admin/sales/new?{back}")).await;
    assert!(
        form.body
            .contains("&lt;b&gt;五折&lt;/b&gt; &amp; &quot;more&quot;"),
        "{}",
        form.body
    );
    let wrong = browser.get(&address.replace("stock=7", "stock=0")).await;
    assert!(
        wrong
            .location()
            .starts_with("/admin/sales/new?invalid=stock.too-small.1&shop_id="),
        "{wrong:?}"
    );
    let created = browser.sends("create_sale", &sent).await;
    assert!(
        created.location().starts_with("/admin/sales?created="),
        "{created:?}"
    );
    app.check_promises().await;
}

#[sqlx::test]
async fn a_sale_like_another_has_all_of_it_and_a_window_to_come(database: PgPool) {
    let app = App::start(database).await;
    let voucher = app.sale(Sale::of(42)).await;
    let browser = app.admin().await.without_script();
    let page = browser
        .get(&format!("/admin/sales/new?like={voucher}"))
        .await
        .body;
    let mut form = fields_of(&page, "/api/admin/create_sale");
    let at = |form: &Fields, field: &str| {
        form.iter()
            .find(|(name, _)| *name == field)
            .unwrap()
            .1
            .clone()
    };
    for (field, value) in Sale::of(42).fields(1) {
        if field != "begins_at" && field != "ends_at" {
            assert_eq!(at(&form, field), value, "{field}");
        }
    }
    for time in ["begins_at", "ends_at"] {
        assert!(!at(&form, time).contains('.'), "{form:?}");
    }
    form.retain(|(_, value)| !value.is_empty());
    let created = browser.sends("create_sale", &form).await;
    let (_, id) = created.location().rsplit_once('=').unwrap();
    let sale = |id| db::sales::by_id(&app.database, id);
    let (like, new) = (
        sale(voucher).await,
        sale(VoucherId::parse(id).unwrap()).await,
    );
    let (like, new) = (like.unwrap().unwrap(), new.unwrap().unwrap());
    let moved = new.begins_at - like.begins_at;
    assert!(
        (moved - time::Duration::days(1)).abs() < time::Duration::seconds(1),
        "{moved}"
    );
    assert!(new.begins_at > seckill::clock::system());
    app.check_promises().await;
}
