//! The shell around every page, and which address shows which page.

use leptos::prelude::*;
use leptos_meta::{MetaTags, provide_meta_context};
use leptos_router::{
    SsrMode,
    components::{Route, Router, Routes},
    path,
};

use crate::{api::visitor_lang, pages};

/// The HTML document around the pages.
pub fn shell(options: LeptosOptions) -> impl IntoView {
    view! {
        <!DOCTYPE html>
        <html lang=visitor_lang().html()>
            <head>
                <meta charset="utf-8"/>
                <meta name="viewport" content="width=device-width, initial-scale=1"/>
                <HydrationScripts options=options islands=true/>
                <MetaTags/>
            </head>
            <body><App/></body>
        </html>
    }
}

/// The pages by address. All render in one piece, so that status and headers are set before anything is sent.
#[component]
pub fn App() -> impl IntoView {
    provide_meta_context();
    view! {
        <Router>
            <Routes fallback=pages::NotFound>
                <Route path=path!("/") view=pages::Home ssr=SsrMode::Async/>
            </Routes>
        </Router>
    }
}
