//! The stored orders of a sale, in the order in which they were accepted.

use leptos::prelude::*;

use crate::{
    api::visitor_lang,
    backend::backend,
    components::{Head, Moment, Query, page, path_id, zone_named},
    model::{AdminOrder, OrderId, OrdersSearch, Status, VoucherId, Zone},
    texts::Lang,
};

const COLUMNS: [&str; 5] = [
    "order-number",
    "buyer",
    "order-status",
    "accepted-at",
    "stored-at",
];

/// The orders of a sale. Admins only.
#[component]
pub(crate) fn SaleOrders() -> impl IntoView {
    let lang = visitor_lang();
    let id = path_id::<VoucherId>();
    let query = Query::here();
    let search = OrdersSearch {
        status: Status::parse(query.value("status")),
        after: OrderId::parse(query.value("after")),
    };
    page(async move {
        let id = id?;
        let found = backend().sale_orders(id, search).await?;
        Head::title(format!("{} · {}", lang.text("sale-orders"), found.title));
        let last = found.orders.last().filter(|_| found.is_more);
        let next = last.map(|order| address(id, search.status, Some(order.id)));
        let first = search.after.map(|_| address(id, search.status, None));
        let zone = zone_named(&found.zone);
        Ok(view! {
            <p class="back"><a href=format!("/admin/sales/{id}")><bdi>{found.title}</bdi></a></p>
            <h1>{lang.text("sale-orders")}</h1>
            <p class="muted">{lang.text("sale-orders-explained")}</p>
            {statuses(lang, id, search.status)}
            <p class="actions">
                <a class="button quiet" href=format!("/admin/sales/{id}/orders.csv") download="">{lang.text("export")}</a>
            </p>
            {if found.orders.is_empty() {
                view! { <p class="empty">{lang.text("no-sale-orders")}</p> }.into_any()
            } else {
                table(lang, found.orders, &zone).into_any()
            }}
            <p class="actions">
                {first.map(|first| view! { <a class="button quiet" href=first>{lang.text("first-orders")}</a> })}
                {next.map(|next| view! { <a class="button quiet" href=next>{lang.text("more-orders")}</a> })}
            </p>
        }
        .into_any())
    })
}

/// Ways to the orders of one status.
fn statuses(lang: Lang, id: VoucherId, shown: Option<Status>) -> impl IntoView {
    let choices = [None, Some(Status::Confirmed), Some(Status::Refused)];
    let ways = choices.map(|status| {
        let name = match status {
            Some(status) => lang.text(&format!("status-{}", status.as_str())),
            None => lang.text("all-orders"),
        };
        let current = (status == shown).then_some("true");
        view! { <li><a href=address(id, status, None) aria-current=current>{name}</a></li> }
    });
    let ways = ways.into_iter().collect_view();
    view! {
        <nav aria-label=lang.text("order-status")><ul class="tabs" role="list">{ways}</ul></nav>
    }
}

fn address(id: VoucherId, status: Option<Status>, after: Option<OrderId>) -> String {
    let status = status.map(|status| format!("status={}", status.as_str()));
    let after = after.map(|after| format!("after={after}"));
    let query: Vec<String> = status.into_iter().chain(after).collect();
    format!("/admin/sales/{id}/orders?{}", query.join("&"))
}

fn table(lang: Lang, orders: Vec<AdminOrder>, zone: &Zone) -> impl IntoView + use<> {
    let heads = COLUMNS.map(|key| view! { <th scope="col">{lang.text(key)}</th> });
    let heads = heads.into_iter().collect_view();
    let rows = orders.into_iter().map(|order| row(lang, order, zone));
    let rows = rows.collect_view();
    view! {
        <div class="scroll" role="region" tabindex="0" aria-label=lang.text("sale-orders")>
            <table class="stacks">
                <thead><tr>{heads}</tr></thead>
                <tbody>{rows}</tbody>
            </table>
        </div>
    }
}

fn row(lang: Lang, order: AdminOrder, zone: &Zone) -> impl IntoView + use<> {
    let status = order.status.as_str();
    let reason = order.reason.map(|reason| {
        let words = lang.text(&format!("cause-{}", reason.as_str()));
        view! { <span class="muted small">{words}</span> }
    });
    let number = lang.text_with("user-number", [("id", order.user.to_string().into())]);
    view! {
        <tr>
            <th scope="row"><code>{order.id.to_string()}</code></th>
            <td data-label=lang.text("buyer")><bdi>{order.user_name}</bdi><span class="muted small">{number}</span></td>
            <td data-label=lang.text("order-status")>
                <span class="badge" data-status=status>{lang.text(&format!("status-{status}"))}</span>
                {reason}
            </td>
            <td data-label=lang.text("accepted-at")><Moment at=order.accepted_at zone=zone.clone()/></td>
            <td data-label=lang.text("stored-at")><Moment at=order.stored_at zone=zone.clone()/></td>
        </tr>
    }
}
