//! The form that edits a sale. Made from a version: where somebody else has changed the sale since, nothing is saved, and
//! what is stored stands beside what was typed (case O19).

use leptos::prelude::*;

use crate::{
    api::visitor_lang,
    backend::backend,
    components::{
        Form, Head, Notice, OfferFields, OfferShown, Outdated, Query, WindowFields, form_version,
        is_outdated, page, path_id, said,
    },
};

/// The form that edits a sale. Admins only.
#[component]
pub(crate) fn EditSale() -> impl IntoView {
    let lang = visitor_lang();
    let query = Query::typed_here();
    let id = path_id();
    page(async move {
        let sale = backend().sale_to_edit(id?).await?;
        let voucher = sale.voucher;
        Head::title(lang.text("edit-sale"));
        let outdated = is_outdated(&query);
        let shown = OfferShown::of(&voucher, sale.now, outdated);
        let form = Form {
            lang,
            query: query.clone(),
        };
        let id = voucher.id.to_string();
        let actions = format!("/admin/sales/{id}#sale-actions");
        Ok(view! {
            <div class="narrow">
                <p class="back"><a href=format!("/admin/sales/{id}")>{said(lang, voucher.title)}</a></p>
                <h1>{lang.text("edit-sale")}</h1>
                <Notice lang=lang query=query.clone()/>
                {outdated.then(|| view! { <Outdated lang=lang last_change=sale.last_change/> })}
                <form class="stack" method="post" action="/api/admin/edit_sale" novalidate>
                    <input type="hidden" name="voucher_id" value=id/>
                    <input type="hidden" name="version" value=form_version(&query, voucher.version)/>
                    <OfferFields form=form.clone() shown=shown.clone()/>
                    <WindowFields form=form shown=shown/>
                    <p class="hint">{lang.text("edit-sale-hint")}" "<a href=actions>{lang.text("sale-actions")}</a></p>
                    <button class="button wide">{lang.text("save")}</button>
                    <button class="button quiet wide" formmethod="get" formaction="/admin/sales/preview">{lang.text("preview")}</button>
                </form>
            </div>
        }
        .into_any())
    })
}
