//! Form fields: label, hint, what was typed, and what is wrong with it, tied together for every reader.

use leptos::prelude::*;

use super::Query;
use crate::{model::Cents, texts::Lang};

/// A form being shown, perhaps again: what was typed and what is wrong is in the address.
#[derive(Clone)]
pub(crate) struct Form {
    /// The visitor's language.
    pub(crate) lang: Lang,
    /// The request's query.
    pub(crate) query: Query,
}

/// What a field takes.
pub(crate) enum Kind {
    /// One line.
    Line,
    /// A name to sign in with.
    Name,
    /// A password, old or new, as browsers tell them apart.
    Password(&'static str),
    /// A whole number.
    Number,
    /// An amount of money.
    Money,
    /// A local time.
    Time,
    /// Several lines.
    Lines,
    /// One of these values, each with its words.
    Choice(Vec<(String, String)>),
    /// One line with suggestions.
    Suggest(&'static [&'static str]),
}

impl Kind {
    /// Do two values say the same? Browsers break lines in a way of their own, and people write amounts as they like.
    fn says_same(&self, stored: &str, typed: &str) -> bool {
        let typed = typed.trim();
        match self {
            Self::Money => Cents::parse(typed).is_ok_and(|typed| Cents::parse(stored) == Ok(typed)),
            Self::Lines => typed.replace("\r\n", "\n") == stored.trim(),
            _ => typed == stored.trim(),
        }
    }
}

/// A field of a form.
#[component]
pub(crate) fn Field(
    /// The form it is in.
    form: Form,
    /// Its name, as in the contract; its words are the texts `field-<name>` and, if hinted, `field-<name>-hint`.
    name: &'static str,
    /// What it takes.
    kind: Kind,
    /// Whether it may be left empty. It says so, unless a hint says when.
    #[prop(optional)]
    optional: bool,
    /// Whether a hint stands below the label.
    #[prop(optional)]
    hinted: bool,
    /// The value when nothing was typed yet.
    #[prop(optional, into)]
    initial: String,
    /// Letters of the longest text that it takes. Browsers count in units of which a letter takes one or two: they are told
    /// twice as many, so that they cut nothing that would be accepted.
    #[prop(optional)]
    letters: Option<usize>,
    /// Whether it is shown and cannot be changed (any more).
    #[prop(optional)]
    fixed: bool,
    /// The value that is stored now, where the form is older and says something else.
    #[prop(default = None)]
    present: Option<String>,
) -> impl IntoView {
    let lang = form.lang;
    let problem = form.query.problem(name);
    let first = form.query.problems().next().is_some_and(|(f, _)| f == name);
    let hint_id = hinted.then(|| format!("{name}-hint"));
    let error_id = problem.map(|_| format!("{name}-error"));
    // What became fixed after it was typed is shown as it is.
    let typed = form.query.given(name).filter(|_| !fixed);
    let value = typed.map_or(initial, str::to_owned);
    let present = present.filter(|present| !kind.says_same(present, &value));
    let present_id = present.is_some().then(|| format!("{name}-present"));
    let described: Vec<String> = [hint_id.clone(), present_id.clone(), error_id.clone()]
        .into_iter()
        .flatten()
        .collect();
    let control = Control {
        name,
        value,
        invalid: problem.map(|_| "true"),
        described: (!described.is_empty()).then(|| described.join(" ")),
        required: !optional,
        fixed,
        focus: first,
        maxlength: letters.map(|letters| 2 * letters),
    };
    view! {
        <div class="field">
            <label for=name>
                {lang.text(&format!("field-{}", name.replace('_', "-")))}
            </label>
            {(optional && !hinted).then(|| view! { <span class="muted small">{lang.text("optional")}</span> })}
            {hint_id.map(|id| view! {
                <p class="hint" id=id>{lang.text(&format!("field-{}-hint", name.replace('_', "-")))}</p>
            })}
            {control.view(kind)}
            {present_id.zip(present).map(|(id, present)| view! {
                <p class="hint present" id=id>{lang.text("present-value")}" "<bdi>{present}</bdi></p>
            })}
            {error_id.zip(problem).map(|(id, problem)| view! {
                <p class="error" id=id>{lang.problem(problem)}</p>
            })}
        </div>
    }
}

struct Control {
    name: &'static str,
    value: String,
    invalid: Option<&'static str>,
    described: Option<String>,
    required: bool,
    fixed: bool,
    focus: bool,
    maxlength: Option<usize>,
}

impl Control {
    fn view(self, kind: Kind) -> AnyView {
        match kind {
            Kind::Line => self.input("text", None, None, None),
            Kind::Name => self.input("text", Some("username"), None, None),
            Kind::Password(complete) => self.input("password", Some(complete), None, None),
            Kind::Number => self.input("text", None, Some("numeric"), None),
            Kind::Money => self.input("text", None, Some("decimal"), None),
            Kind::Time => self.input("datetime-local", None, None, None),
            Kind::Suggest(values) => {
                let list = format!("{}-list", self.name);
                let options = values
                    .iter()
                    .map(|value| view! { <option value=*value></option> });
                let options = options.collect_view();
                view! {
                    {self.input("text", None, None, Some(list.clone()))}
                    <datalist id=list>{options}</datalist>
                }
                .into_any()
            }
            Kind::Lines => self.lines(),
            Kind::Choice(values) => self.choice(values),
        }
    }

    fn input(
        self,
        kind: &'static str,
        complete: Option<&'static str>,
        mode: Option<&'static str>,
        list: Option<String>,
    ) -> AnyView {
        let value = (kind != "password").then_some(self.value);
        view! {
            <input
                type=kind
                id=self.name
                name=self.name
                value=value
                required=self.required
                maxlength=self.maxlength
                readonly=self.fixed
                autofocus=self.focus
                autocomplete=complete.unwrap_or("off")
                inputmode=mode
                list=list
                aria-invalid=self.invalid
                aria-describedby=self.described
            />
        }
        .into_any()
    }

    fn lines(self) -> AnyView {
        let text = escaped(&self.value);
        view! {
            <textarea
                id=self.name
                name=self.name
                rows="5"
                required=self.required
                maxlength=self.maxlength
                autofocus=self.focus
                aria-invalid=self.invalid
                aria-describedby=self.described
            >{text}</textarea>
        }
        .into_any()
    }

    fn choice(self, values: Vec<(String, String)>) -> AnyView {
        let chosen = self.value;
        let options = values.into_iter().map(|(value, words)| {
            let selected = value == chosen;
            view! { <option value=value selected=selected>{words}</option> }
        });
        view! {
            <select
                id=self.name
                name=self.name
                required=self.required
                autofocus=self.focus
                aria-invalid=self.invalid
                aria-describedby=self.described
            >{options.collect_view()}</select>
        }
        .into_any()
    }
}

/// The content of a `textarea`. Leptos writes it as it is (leptos#4821), so it is escaped here; the line break in
/// front is the one that HTML drops.
fn escaped(text: &str) -> String {
    format!("\n{}", text.replace('&', "&amp;").replace('<', "&lt;"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_that_differ_in_how_they_are_written_say_the_same() {
        for (kind, stored, typed) in [
            (Kind::Lines, "a\nb", "a\r\nb\r\n"),
            (Kind::Money, "10.00", "10"),
            (Kind::Line, "a b", " a b "),
        ] {
            assert!(kind.says_same(stored, typed), "{typed:?}");
        }
        for (kind, stored, typed) in [
            (Kind::Lines, "a\nb", "a\r\n\r\nb"),
            (Kind::Money, "10.00", "10.01"),
            (Kind::Money, "10.00", "x"),
            (Kind::Line, "a b", "a  b"),
        ] {
            assert!(!kind.says_same(stored, typed), "{typed:?}");
        }
    }

    #[test]
    fn what_was_typed_into_lines_is_shown_as_text() {
        let control = Control {
            name: "rules",
            value: "\na & b</textarea><img src=x>".to_owned(),
            invalid: None,
            described: None,
            required: false,
            fixed: false,
            focus: false,
            maxlength: Some(2000),
        };
        let html = Owner::new().with(|| control.view(Kind::Lines).to_html());
        assert!(
            html.contains(">\n\na &amp; b&lt;/textarea>&lt;img src=x></textarea>"),
            "{html}"
        );
    }
}
