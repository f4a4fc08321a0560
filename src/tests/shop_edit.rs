//! Shops that are edited: an old form undoes nothing.

use app::{model::Problem, texts::Lang};
use serde_json::{Value, json};
use sqlx::PgPool;

use super::{
    harness::{App, Sale, eventually},
    sale_edit::with,
};

#[sqlx::test]
async fn a_shop_is_edited_and_an_old_form_undoes_nothing(database: PgPool) {
    let app = App::start(database).await;
    let admin = app.admin().await;
    let voucher = app.sale(Sale::of(5)).await;
    let shop = vec![
        ("shop_id", "1".to_owned()),
        ("version", "1".to_owned()),
        ("name", "新城咖啡".to_owned()),
        ("category", "咖啡".to_owned()),
        ("address", "解放路 2 号".to_owned()),
    ];
    let saved: Value = admin.sends("edit_shop", &shop).await.ok();
    assert_eq!(saved, json!({ "shop_id": 1 }));
    let old = admin.sends("edit_shop", &with(&shop, "name", "旧城")).await;
    assert_eq!(old.status, 422);
    assert_eq!(
        old.json::<Value>()["fields"]["version"],
        json!(Lang::En.problem(Problem::OldForm))
    );
    let same = with(&shop, "version", "2");
    assert_eq!(admin.sends("edit_shop", &same).await.status, 200);
    assert_eq!(
        admin.sends("edit_shop", &same).await.status,
        200,
        "saved unchanged"
    );
    let noted = "SELECT actor || ': ' || detail FROM audit_log WHERE action = 'edit_shop'";
    let noted: Vec<String> = sqlx::query_scalar(noted)
        .fetch_all(&app.database)
        .await
        .unwrap();
    let change = r#"name "老城咖啡" -> "新城咖啡"; address "人民路 1 号" -> "解放路 2 号""#;
    assert_eq!(noted, [format!("user {}: {change}", admin.id())]);
    assert_eq!(
        admin
            .sends("edit_shop", &with(&shop, "shop_id", "99"))
            .await
            .status,
        404
    );

    let browser = admin.without_script().reading("en");
    let back = browser
        .sends("edit_shop", &with(&shop, "name", "旧城"))
        .await;
    let page = browser.get(back.location()).await.body.replace("<!>", "");
    for shown in [
        r#"value="旧城""#,
        "Stored now: <bdi>新城咖啡</bdi>",
        r#"name="version" value="2""#,
    ] {
        assert!(page.contains(shown), "{shown}: {page}");
    }
    assert!(browser.get("/admin/shops").await.body.contains("新城咖啡"));
    let guest = app.guest().without_script();
    eventually("shoppers see the new name", async || {
        guest
            .get(&format!("/vouchers/{voucher}"))
            .await
            .body
            .contains("新城咖啡")
    })
    .await;
    app.check_promises().await;
}
