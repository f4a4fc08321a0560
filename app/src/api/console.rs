//! What the pages of the console ask for to show what is so now: their own parts, rendered anew.

#![expect(
    missing_docs,
    reason = "the contract names the fields of the generated argument types"
)]

use leptos::{
    prelude::*,
    server_fn::codec::{GetUrl, Json},
};

use crate::error::ErrorBody;

/// The element that holds the rows of the list of sales.
#[cfg(feature = "ssr")]
pub(crate) const SALES_ROWS: &str = "sales-rows";
/// The element that holds the figures of a sale.
#[cfg(feature = "ssr")]
pub(crate) const SALE_HEAD: &str = "sale-head";
/// The element that holds what can be done to it.
#[cfg(feature = "ssr")]
pub(crate) const SALE_ACTIONS: &str = "what-can-be-done";
/// The element that holds the places of its units.
#[cfg(feature = "ssr")]
pub(crate) const SALE_UNITS: &str = "sale-units";

/// What ends the id of a part's element: no page has such a letter.
pub const ID_END: char = '\u{1f}';
/// What ends a part.
pub const PART_END: char = '\u{1e}';

/// Parts of a page in one text, of which the browser needs hardly any code to read it.
#[cfg(feature = "ssr")]
pub(super) fn joined(parts: Vec<(String, String)>) -> String {
    let parts = parts.into_iter();
    parts
        .map(|(id, html)| format!("{id}{ID_END}{html}{PART_END}"))
        .collect()
}

/// The rows of a page of the list of sales.
#[server(name = GetSalesParts, prefix = "/api/admin", endpoint = "sales_parts", input = GetUrl, output = Json)]
pub async fn sales_parts(
    #[server(default)] words: String,
    #[server(default)] standing: String,
    #[server(default)] after: String,
) -> Result<String, ErrorBody> {
    use super::answer::{reply, visitor_lang};
    use crate::{backend::backend, components::sales_rows, model::SalesSearch};
    let search = SalesSearch::read(&words, &standing, &after);
    let page = backend().sales(search).await;
    reply(page.map(|page| {
        let rows = sales_rows(visitor_lang(), &page.sales).to_html();
        joined(vec![(SALES_ROWS.to_owned(), rows)])
    }))
}

/// The figures, places and charts of a sale.
#[server(name = GetSaleParts, prefix = "/api/admin", endpoint = "sale_parts", input = GetUrl, output = Json)]
pub async fn sale_parts(
    #[server(default)] voucher_id: String,
    #[server(default)] span: String,
) -> Result<String, ErrorBody> {
    use super::answer::{reply, visitor_lang};
    use crate::{
        backend::backend,
        error::AppError,
        model::{Span, VoucherId},
    };
    let detail = match VoucherId::parse(&voucher_id) {
        Ok(id) => backend().sale(id, Span::parse(&span)).await,
        Err(problem) => Err(AppError::field("voucher_id", problem)),
    };
    reply(detail.map(|detail| joined(of_sale(visitor_lang(), &detail))))
}

#[cfg(feature = "ssr")]
fn of_sale(lang: crate::texts::Lang, detail: &crate::model::SaleDetail) -> Vec<(String, String)> {
    use crate::components::{
        Query, sale_actions, sale_chart_parts, sale_head, sale_units, zone_named,
    };
    let voucher = &detail.sale.view.voucher;
    let head = sale_head(lang, &detail.sale).to_html();
    let units = sale_units(lang, &detail.sale, &detail.units).to_html();
    let now = detail.sale.view.now;
    let actions = sale_actions(lang, &Query::default(), voucher, now).to_html();
    let mut parts = vec![
        (SALE_HEAD.to_owned(), head),
        (SALE_ACTIONS.to_owned(), actions),
        (SALE_UNITS.to_owned(), units),
    ];
    let zone = zone_named(&voucher.zone);
    parts.extend(sale_chart_parts(lang, &detail.series, &zone));
    parts
}

/// Where the rows of a page of the list are asked for.
#[cfg(feature = "ssr")]
pub(crate) fn sales_address(search: &crate::model::SalesSearch) -> String {
    use leptos::server_fn::ServerFn;
    format!("{}?{}", GetSalesParts::PATH, sales_query(search))
}

/// What an address says of a page of the list, without what was not chosen.
#[cfg(feature = "ssr")]
pub(crate) fn sales_query(search: &crate::model::SalesSearch) -> String {
    use crate::components::encode;
    let standing = search.standing.map(|standing| standing.as_str());
    let after = search.after.map(|after| after.to_string());
    let parts = [
        ("words", search.words.typed()),
        ("standing", standing.unwrap_or_default()),
        ("after", after.as_deref().unwrap_or_default()),
    ];
    let parts = parts.into_iter().filter(|(_, value)| !value.is_empty());
    let parts = parts.map(|(name, value)| format!("{name}={}", encode(value)));
    parts.collect::<Vec<String>>().join("&")
}

/// Where the parts of a sale's page are asked for.
#[cfg(feature = "ssr")]
pub(crate) fn sale_address(id: crate::model::VoucherId, span: crate::model::Span) -> String {
    use leptos::server_fn::ServerFn;
    format!(
        "{}?voucher_id={id}&span={}",
        GetSaleParts::PATH,
        span.as_str()
    )
}
