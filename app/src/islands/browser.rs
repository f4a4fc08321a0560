//! What islands ask of the browser. Called once an island lives, so never on the server.

use std::{cell::Cell, rc::Rc};

use js_sys::{
    Function, Promise,
    futures::{JsFuture, spawn_local},
};
use leptos::{
    prelude::{Effect, document, window},
    wasm_bindgen::{JsCast, closure::Closure},
};
use serde::de::DeserializeOwned;
use web_sys::{
    AbortSignal, EventSource, MessageEvent, PerformanceNavigationTiming, RequestCache, RequestInit,
    Response, UrlSearchParams,
};

/// A stream that brings nothing for so long, not even a sign of life (every 20 s), has gone deaf.
const DEAF_AFTER_MS: i32 = 45_000;

/// An answer that takes longer is given up.
const ANSWER_MS: u32 = 10_000;

/// Why an answer is of no use.
pub(super) enum Refusal {
    /// The login session has ended.
    SignInRequired,
    /// It did not come, or a store is away, or it makes no sense: ask again.
    NotNow,
}

/// Runs a task once the island is live, and then marks the document as hydrated, for tests.
pub(super) fn when_live(task: impl FnOnce() + 'static) {
    let task: Cell<Option<Box<dyn FnOnce()>>> = Cell::new(Some(Box::new(task)));
    Effect::new(move || {
        if let Some(task) = task.take() {
            task();
        }
        if let Some(html) = document().document_element() {
            // Only a malformed name could fail.
            let _ = html.set_attribute("data-hydrated", "");
        }
    });
}

/// Runs a task beside everything else.
pub(super) fn spawn(task: impl Future<Output = ()> + 'static) {
    spawn_local(task);
}

/// Waits until so much time has passed and somebody looks; a page that comes back into view, or to the network, waits
/// no longer.
pub(super) async fn pause(ms: i32) {
    wait(Some(ms)).await;
    while document().hidden() {
        wait(None).await;
    }
}

/// Waits for the time, if one is given, or for what [`Waking`] tells of.
async fn wait(ms: Option<i32>) {
    if let Some(waking) = Waking::new() {
        if let Some(ms) = ms {
            after(ms, &waking.wake);
        }
        waking.wait().await;
    }
}

/// Something to wait for; also over when the page goes out of view or comes back, or the network does.
struct Waking {
    promise: Promise,
    /// Calling it ends the wait.
    wake: Function,
}

impl Waking {
    fn new() -> Option<Self> {
        let mut wake = None;
        let promise = Promise::new(&mut |resolve: Function, _| wake = Some(resolve));
        let wake = wake?;
        // It does not fail for a function that exists; nor do the others below.
        let _ = document().add_event_listener_with_callback("visibilitychange", &wake);
        let _ = window().add_event_listener_with_callback("online", &wake);
        Some(Self { promise, wake })
    }

    async fn wait(self) {
        // The promise is never refused.
        let _ = JsFuture::from(self.promise).await;
        let _ = document().remove_event_listener_with_callback("visibilitychange", &self.wake);
        let _ = window().remove_event_listener_with_callback("online", &self.wake);
    }
}

/// Listens to a stream of events until it ends, breaks or goes deaf, or nobody looks. True if it brought anything.
pub(super) async fn listen(path: &str, mut heard: impl FnMut(&str) + 'static) -> bool {
    let (Ok(source), Some(waking)) = (EventSource::new(path), Waking::new()) else {
        return false;
    };
    source.set_onerror(Some(&waking.wake));
    let brought = Rc::new(Cell::new(false));
    let deaf = Cell::new(after(DEAF_AFTER_MS, &waking.wake));
    let (has_brought, wake) = (Rc::clone(&brought), waking.wake.clone());
    let on_message = Closure::<dyn FnMut(MessageEvent)>::new(move |message: MessageEvent| {
        has_brought.set(true);
        window().clear_timeout_with_handle(deaf.replace(after(DEAF_AFTER_MS, &wake)));
        if let Some(said) = message.data().as_string() {
            heard(&said);
        }
    });
    source.set_onmessage(Some(on_message.as_ref().unchecked_ref()));
    waking.wait().await;
    source.close();
    brought.get()
}

/// Calls a function after so long; gives what takes the call back.
fn after(ms: i32, function: &Function) -> i32 {
    // It does not fail for a function that exists.
    let handle = window().set_timeout_with_callback_and_timeout_and_arguments_0(function, ms);
    handle.unwrap_or_default()
}

/// Reads what a stream or a server function said; `None` for a sign of life.
pub(super) fn read<T: DeserializeOwned>(said: &str) -> Option<T> {
    serde_json::from_str(said).ok()
}

/// Asks a server function that reads, at its path, with its one field.
pub(super) async fn ask<T: DeserializeOwned>(
    path: &str,
    field: &str,
    id: &str,
) -> Result<T, Refusal> {
    ask_at(&[path, "?", field, "=", id].concat()).await
}

/// Asks a server function that reads, at an address that holds all of its fields.
pub(super) async fn ask_at<T: DeserializeOwned>(address: &str) -> Result<T, Refusal> {
    let body = fetch(address).await?;
    read(&body).ok_or(Refusal::NotNow)
}

/// Somebody is at an element: with the keyboard, having opened or typed something in it, or being told what was wrong.
const IN_USE: &str =
    ":is(:focus-within, :has(:is(details[open], [aria-invalid], :user-valid, :user-invalid)))";

/// Puts what the server rendered into the element of that id; false where somebody is at it, or there is no such element.
pub(super) fn replace(id: &str, html: &str) -> bool {
    let element = document().get_element_by_id(id);
    let element = element.filter(|element| !element.matches(IN_USE).unwrap_or_default());
    element.is_some_and(|element| {
        element.set_inner_html(html);
        true
    })
}

async fn fetch(address: &str) -> Result<String, Refusal> {
    match send(address, &RequestInit::new()).await {
        Some((200, body)) => Ok(body),
        Some((401, _)) => Err(Refusal::SignInRequired),
        _ => Err(Refusal::NotNow),
    }
}

/// Sends a form to a server function; gives the status and the body of the answer, if one came.
pub(super) async fn post(path: &str, form: &str) -> Option<(u16, String)> {
    let init = RequestInit::new();
    init.set_method("POST");
    // Makes the body a form, and says so.
    init.set_body(&UrlSearchParams::new_with_str(form).ok()?.into());
    send(path, &init).await
}

async fn send(address: &str, init: &RequestInit) -> Option<(u16, String)> {
    init.set_cache(RequestCache::NoStore);
    init.set_signal(Some(&AbortSignal::timeout_with_u32(ANSWER_MS)));
    let response = JsFuture::from(window().fetch_with_str_and_init(address, init)).await;
    let response: Response = response.ok()?.unchecked_into();
    let body = JsFuture::from(response.text().ok()?).await;
    Some((response.status(), body.ok()?.as_string()?))
}

/// Asks for the page again.
pub(super) fn reload() {
    // A page of this site may always be asked for again.
    let _ = window().location().reload();
}

/// Goes on to another page of this site.
pub(super) fn go_to(path: &str) {
    // Only an address that is none could fail.
    let _ = window().location().assign(path);
}

/// Milliseconds since the page's navigation began: a clock that nobody sets.
pub(super) fn monotonic_ms() -> f64 {
    window().performance().map_or(0.0, |clock| clock.now())
}

/// When, on that clock, the server had answered with this page.
pub(super) fn answered_ms() -> f64 {
    let entries = window().performance();
    let entries = entries.map(|clock| clock.get_entries_by_type("navigation"));
    let first = entries.map(|entries| entries.get(0));
    first
        .and_then(|entry| entry.dyn_into::<PerformanceNavigationTiming>().ok())
        .map_or(0.0, |entry| entry.response_start())
}

/// The time of day where the browser is: `10:00:07`.
pub(super) fn time_of_day() -> String {
    let said = js_sys::Date::new_0().to_time_string();
    // What follows says the zone.
    said.substring(0, 8).into()
}

/// A random fraction, to spread requests.
pub(super) fn chance() -> f64 {
    js_sys::Math::random()
}
