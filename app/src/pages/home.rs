//! The front page.
use leptos::prelude::*;
/// The front page.
#[component]
pub(crate) fn Home() -> impl IntoView {
    view! { <h1>"Seckill"</h1> <crate::islands::OrderStatus order_id="x".to_owned() status=crate::model::Status::Queued words=["a".into(),"b".into(),"c".into()]/> }
}
