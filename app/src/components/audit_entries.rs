//! Entries of the audit log: when, who, what, about what, and what was changed. What people typed stands in them as text.

use leptos::prelude::*;
use time::{OffsetDateTime, format_description::well_known::Rfc3339};

use super::{Moment, foreign, said, visitor_zone};
use crate::{
    model::{Actor, AuditEntry, Detail, Difference, Subject},
    texts::Lang,
};

const COLUMNS: [&str; 5] = [
    "audit-at",
    "audit-actor",
    "audit-action",
    "audit-subject",
    "audit-changes",
];

/// A table of entries, or that there are none.
pub(crate) fn audit_entries(lang: Lang, entries: Vec<AuditEntry>) -> AnyView {
    if entries.is_empty() {
        return view! { <p class="empty">{lang.text("no-audit-entries")}</p> }.into_any();
    }
    let heads = COLUMNS.map(|key| view! { <th scope="col">{lang.text(key)}</th> });
    let heads = heads.into_iter().collect_view();
    let rows = entries.into_iter().map(|entry| row(lang, entry));
    view! {
        <div class="scroll" role="region" tabindex="0" aria-label=lang.text("audit-log")>
            <table class="stacks">
                <thead><tr>{heads}</tr></thead>
                <tbody>{rows.collect_view()}</tbody>
            </table>
        </div>
    }
    .into_any()
}

fn row(lang: Lang, entry: AuditEntry) -> impl IntoView {
    let action = lang.find(&format!("action-{}", entry.action.replace('_', "-")));
    let action = match action {
        Some(words) => words.into_any(),
        None => view! { <code><bdi>{entry.action}</bdi></code> }.into_any(),
    };
    view! {
        <tr data-entry=entry.id.to_string()>
            <th scope="row"><Moment at=entry.at zone=visitor_zone(lang) seconds=true/></th>
            <td data-label=lang.text("audit-actor")>{actor(lang, entry.actor)}</td>
            <td data-label=lang.text("audit-action")>{action}</td>
            <td data-label=lang.text("audit-subject")>{subject(lang, entry.subject)}</td>
            <td data-label=lang.text("audit-changes")>{detail(lang, entry.detail)}</td>
        </tr>
    }
}

fn actor(lang: Lang, actor: Actor) -> AnyView {
    match actor {
        Actor::User(id, name) => {
            let number = lang.text_with("user-number", [("id", id.to_string().into())]);
            linked(lang, format!("/admin/audit?user={id}"), number, Some(name))
        }
        Actor::Other(word) => {
            let words = match word.as_str() {
                "program" => Some("actor-program"),
                "command line" => Some("actor-command-line"),
                "seed" => Some("actor-seed"),
                _ => None,
            };
            match words {
                Some(key) => lang.text(key).into_any(),
                None => said(lang, word).into_any(),
            }
        }
    }
}

fn subject(lang: Lang, subject: Subject) -> AnyView {
    let numbered = |key: &str, id: String| lang.text_with(key, [("id", id.into())]);
    match subject {
        Subject::Sale(id, name) => linked(
            lang,
            format!("/admin/sales/{id}"),
            numbered("voucher-number", id.to_string()),
            name,
        ),
        Subject::Shop(id, name) => linked(
            lang,
            format!("/admin/shops/{id}/edit"),
            numbered("shop-number", id.to_string()),
            name,
        ),
        Subject::User(id, name) => linked(
            lang,
            format!("/admin/audit?user={id}"),
            numbered("user-number", id.to_string()),
            name,
        ),
        Subject::Other(words) => {
            let named = |kind, key| {
                let id = words.strip_prefix(kind)?;
                Some(numbered(key, id.to_owned()))
            };
            if let Some(id) = words.strip_prefix("rehearsal ") {
                let number = numbered("rehearsal-number", id.to_owned());
                return linked(lang, format!("/admin/rehearsals/{id}"), number, None);
            }
            let known = named("dead letter ", "letter-number");
            let known = known.or_else(|| named("queue ", "queue-number"));
            said(lang, known.unwrap_or(words)).into_any()
        }
    }
}

/// A name that leads to its own page, with the number that stays; the number alone where there is no name any more.
fn linked(lang: Lang, way: String, number: String, name: Option<String>) -> AnyView {
    match name.filter(|name| !name.is_empty()) {
        Some(name) => {
            view! { <a href=way>{said(lang, name)}</a>" "<span class="muted small">{number}</span> }
                .into_any()
        }
        None => view! { <a href=way>{number}</a> }.into_any(),
    }
}

fn detail(lang: Lang, detail: Detail) -> AnyView {
    match detail {
        Detail::Words(words) if words.is_empty() => "–".into_any(),
        // The program's own words are English.
        Detail::Words(words) => {
            let language = match lang {
                Lang::Zh => Some("en"),
                Lang::En => foreign(lang, &words),
            };
            view! { <bdi lang=language>{words}</bdi> }.into_any()
        }
        Detail::Changes(changes) => {
            let changes = changes.into_iter().map(|change| difference(lang, change));
            view! { <dl class="fields changes">{changes.collect_view()}</dl> }.into_any()
        }
    }
}

fn difference(lang: Lang, change: Difference) -> impl IntoView {
    let Difference { field, was, is } = change;
    let was = Some(was).filter(|was| !was.is_empty() && was != "none");
    let was = was.map(|was| {
        view! {
            {value(lang, field, was)}<span aria-hidden="true">" → "</span>
            <span class="unseen">" "{lang.text("audit-became")}" "</span>
        }
    });
    view! { <div><dt>{lang.text(name_of(field))}</dt><dd>{was}{value(lang, field, is)}</dd></div> }
}

/// The words for a field of the log.
fn name_of(field: &str) -> &'static str {
    match field {
        "title" => "field-title",
        "subtitle" => "field-subtitle",
        "rules" => "field-rules",
        "price" => "price",
        "face_value" => "face-value",
        "granted" => "unit-granted",
        "cut_to" => "audit-cut-to",
        "begins_at" => "begins",
        "ends_at" => "ends",
        "zone" => "field-zone",
        "state" => "sale-state",
        "name" => "field-name",
        "category" => "field-category",
        "address" => "field-address",
        "picture" => "shop-picture",
        _ => "field-role",
    }
}

fn value(lang: Lang, field: &str, value: String) -> AnyView {
    match field {
        "cut_to" | "granted" | "picture" if value == "none" => "–".into_any(),
        "price" | "face_value" => lang
            .text_with("money", [("amount", value.into())])
            .into_any(),
        "begins_at" | "ends_at" => match OffsetDateTime::parse(&value, &Rfc3339) {
            Ok(at) => view! { <Moment at=at zone=visitor_zone(lang) seconds=true/> }.into_any(),
            Err(_) => said(lang, value).into_any(),
        },
        "state" => lang
            .find(&format!("state-{value}"))
            .unwrap_or(value)
            .into_any(),
        "role" => role(lang, &value).into_any(),
        // A hash: enough of it to tell two pictures apart.
        "picture" => view! { <code>{value.chars().take(8).collect::<String>()}</code> }.into_any(),
        _ if value.is_empty() => "–".into_any(),
        _ => said(lang, value).into_any(),
    }
}

/// `admin`, or `clerk of shop 3`.
fn role(lang: Lang, noted: &str) -> String {
    let (role, shop) = match noted.split_once(" of shop ") {
        Some((role, shop)) => (role, Some(shop)),
        None => (noted, None),
    };
    let mut words = lang
        .find(&format!("role-{role}"))
        .unwrap_or_else(|| role.to_owned());
    if let Some(shop) = shop {
        let shop = lang.text_with("shop-number", [("id", shop.to_owned().into())]);
        words = format!("{words} · {shop}");
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_field_and_role_has_words() {
        for lang in [Lang::Zh, Lang::En] {
            for field in Detail::FIELDS {
                assert!(lang.find(name_of(field)).is_some(), "{field}");
            }
        }
        assert_eq!(role(Lang::En, "clerk of shop 3"), "Clerk · Shop 3");
        assert_eq!(role(Lang::Zh, "admin"), "管理员");
        assert_eq!(role(Lang::En, "king"), "king");
    }
}
