//! What each call makes of a form: the server's own decoder, then the model. Nothing may panic, and what is accepted
//! obeys its limits and can be written down and read again. The fuzz target `forms` runs this same file.

use std::fmt::Debug;

use app::{
    api::{
        AddUnits, Buy, ChangePassword, CreateSale, CreateShop, CutUnits, DeleteAccount,
        DiscardDeadLetter, EditSale, EditShop, EndSale, GetOrderStatus, GetRehearsalParts,
        GetSaleParts, GetSaleStatus, GetSalesParts, MyOrders, PauseSale, Rehearse,
        RemoveShopPicture, ReplayDeadLetter, ResumeSale, SetLanguage, SetRole, SignIn, SignOut,
        SignUp, WithdrawSale, local_path,
    },
    error::ErrorBody,
    model::{
        Cents, DeadLetterId, Line, Name, NewAccount, NewSale, NewShop, OfferForm, OrderId,
        Paragraph, Password, PasswordChange, RehearsalForm, RehearsalId, RehearsalPlan, Role,
        RoleGrant, SaleEditForm, SaleForm, SaleState, SalesCursor, SalesSearch, ShopForm, ShopId,
        Span, TypedTime, UnitsChange, Voucher, VoucherId, Zone, grouped, parse_instant,
    },
    texts::Lang,
};
use axum::{
    body::Body,
    http::{Method, Request},
};
use futures::FutureExt;
use leptos::server_fn::{
    Http, ServerFn,
    codec::{Encoding, FromReq, Json},
};
use time::{OffsetDateTime, format_description::well_known::Rfc3339, macros::datetime};

/// A call, and what it makes of a form.
pub struct Call {
    pub path: &'static str,
    pub method: Method,
    pub accepts: Accepts,
}

/// Whether a call accepts a form.
type Accepts = Box<dyn Fn(&[u8]) -> bool>;

/// Every call; a test compares them with those that the server has.
pub fn calls() -> Vec<Call> {
    vec![
        call(
            |SignUp {
                 name,
                 password,
                 next,
             }| account(&name, &password, &next),
        ),
        call(
            |SignIn {
                 name,
                 password,
                 next,
             }| known_account(&name, &password, &next),
        ),
        call(|SignOut {}| true),
        call(
            |ChangePassword {
                 current_password,
                 new_password,
             }| password_change(&current_password, &new_password),
        ),
        call(|DeleteAccount { password: typed }| password(&typed)),
        call(|SetLanguage { lang, next }| language(&lang, &next)),
        call(|Buy { voucher_id }| voucher(&voucher_id)),
        call(|GetSaleStatus { voucher_id }| voucher(&voucher_id)),
        call(|GetOrderStatus { order_id }| order(&order_id)),
        call(|MyOrders {}| true),
        call(shop),
        call(edited_shop),
        call(sale),
        call(|RemoveShopPicture { shop_id }| ShopId::parse(&shop_id).is_ok()),
        call(edited_sale),
        call(|PauseSale { voucher_id }| voucher(&voucher_id)),
        call(|ResumeSale { voucher_id }| voucher(&voucher_id)),
        call(|EndSale { voucher_id }| voucher(&voucher_id)),
        call(|WithdrawSale { voucher_id }| voucher(&voucher_id)),
        call(
            |AddUnits {
                 voucher_id,
                 units: count,
                 version,
             }| voucher(&voucher_id) && units(&count, &version),
        ),
        call(
            |CutUnits {
                 voucher_id,
                 units: count,
                 version,
             }| voucher(&voucher_id) && units(&count, &version),
        ),
        call(
            |SetRole {
                 name,
                 role,
                 shop_id,
             }| grant(&name, &role, &shop_id),
        ),
        call(
            |ReplayDeadLetter {
                 letter: id,
                 sale: _,
             }| letter(&id),
        ),
        call(
            |DiscardDeadLetter {
                 letter: id,
                 sale: _,
             }| letter(&id),
        ),
        call(
            |GetSalesParts {
                 words,
                 standing,
                 after,
             }| {
                let search = SalesSearch::read(&words, &standing, &after);
                search.words.typed().chars().count() <= 60 && place(&after)
            },
        ),
        call(
            |Rehearse {
                 shoppers,
                 units,
                 shape,
                 seconds,
                 voucher_id,
                 on_production,
             }| {
                let form = RehearsalForm {
                    shoppers,
                    units,
                    shape,
                    seconds,
                    voucher_id,
                    on_production,
                };
                form.parse().is_ok_and(|plan| {
                    (1..=RehearsalPlan::SHOPPERS).contains(&plan.shoppers)
                        && (1..=RehearsalPlan::UNITS).contains(&plan.units)
                        && (1..=RehearsalPlan::SECONDS).contains(&plan.seconds)
                })
            },
        ),
        call(|GetRehearsalParts { rehearsal_id }| RehearsalId::parse(&rehearsal_id).is_ok()),
        call(|GetSaleParts { voucher_id, span }| {
            Span::ALL.contains(&Span::parse(&span)) && voucher(&voucher_id)
        }),
    ]
}

/// A call that is read in the way that it is declared with.
fn call<T, Input>(accepts: fn(T) -> bool) -> Call
where
    T: ServerFn<Protocol = Http<Input, Json>> + FromReq<Input, Request<Body>, ErrorBody> + 'static,
    Input: Encoding + 'static,
{
    Call {
        path: T::PATH,
        method: Input::METHOD,
        accepts: Box::new(move |form| decoded::<T, Input>(form).is_some_and(accepts)),
    }
}

/// What the server's decoder reads: the body of a POST, the query of a GET.
fn decoded<T, Input>(form: &[u8]) -> Option<T>
where
    T: FromReq<Input, Request<Body>, ErrorBody>,
    Input: Encoding,
{
    let request = Request::builder().method(Input::METHOD);
    let request = if Input::METHOD == Method::GET {
        let address = [b"/?", form].concat();
        request.uri(address.as_slice()).body(Body::empty())
    } else {
        request.uri("/").body(Body::from(form.to_vec()))
    };
    // What is no address never reaches the decoder.
    let read = T::from_req(request.ok()?).now_or_never();
    read.expect("a body in memory is read at once").ok()
}

/// A place in the list of sales; without one it is read from its beginning.
fn place(after: &str) -> bool {
    if let Some(cursor) = SalesCursor::parse(after) {
        assert_eq!(SalesCursor::parse(&cursor.to_string()), Some(cursor));
    }
    true
}

fn account(name: &str, password: &str, next: &str) -> bool {
    return_address(next);
    let Ok(account) = NewAccount::parse(name, password) else {
        return false;
    };
    is_name(&account.name);
    is_password(&account.password);
    true
}

fn known_account(name: &str, password: &str, next: &str) -> bool {
    let is_known = NewAccount::parse_known(name, password).is_ok();
    assert_eq!(is_known, account(name, password, next));
    is_known
}

fn password_change(current: &str, new: &str) -> bool {
    let Ok(change) = PasswordChange::parse(current, new) else {
        return false;
    };
    is_password(&change.current);
    is_password(&change.new);
    true
}

fn password(text: &str) -> bool {
    Password::parse(text).is_ok_and(|password| {
        is_password(&password);
        true
    })
}

fn grant(name: &str, role: &str, shop: &str) -> bool {
    let Ok(grant) = RoleGrant::parse(name, role, shop) else {
        return false;
    };
    is_name(&grant.name);
    assert_eq!(grant.role.as_str(), role);
    let Ok(shop) = grant.shop else {
        return false;
    };
    assert_eq!(shop.is_some(), grant.role == Role::Clerk);
    true
}

/// A name is shown in so many letters, and its key holds neither large letters nor control letters.
fn is_name(name: &Name) {
    is_line(name.as_str(), 2, 32);
    again(Name::parse, name.as_str(), name);
    let bad = |letter: char| letter.is_control() || letter.is_uppercase();
    assert!(
        !name.key().is_empty() && !name.key().contains(bad),
        "{name:?}"
    );
}

/// A password is composed, and has so many letters.
fn is_password(password: &Password) {
    let text = password.expose();
    again(Password::parse, text, password);
    assert!((8..=128).contains(&text.chars().count()) && !text.contains('\0'));
}

fn language(lang: &str, next: &str) -> bool {
    return_address(next);
    Lang::parse(lang).is_some_and(|read| read.code() == lang)
}

fn order(text: &str) -> bool {
    OrderId::parse(text).is_some_and(|id| id.to_string() == text)
}

fn shop(form: CreateShop) -> bool {
    let CreateShop {
        name,
        category,
        address,
    } = form;
    let form = ShopForm {
        name,
        category,
        address,
    };
    let Ok(shop) = form.parse() else { return false };
    is_shop(&shop);
    true
}

fn edited_shop(form: EditShop) -> bool {
    let EditShop {
        shop_id,
        version,
        name,
        category,
        address,
    } = form;
    let form = ShopForm {
        name,
        category,
        address,
    };
    let (Ok(id), Ok(edit)) = (ShopId::parse(&shop_id), form.parse_edit(&version)) else {
        return false;
    };
    again(ShopId::parse, &id.to_string(), &id);
    assert_eq!(plain_number(&version), edit.version.to_string());
    is_shop(&edit.shop);
    true
}

fn is_shop(shop: &NewShop) {
    is_line(shop.name.as_str(), 1, 60);
    is_line(shop.category.as_str(), 1, 20);
    is_line(shop.address.as_str(), 1, 120);
}

fn units(count: &str, version: &str) -> bool {
    UnitsChange::parse(count, version).is_ok_and(|units| {
        again(
            |text| UnitsChange::parse(text, version),
            count.trim(),
            &units,
        );
        (1..=10_000_000).contains(&plain_number(count).parse::<i64>().unwrap_or_default())
    })
}

const NOW: OffsetDateTime = datetime!(2026-11-30 12:00 UTC);

/// A sale that has not begun, as it was before it is edited.
fn coming() -> Voucher {
    Voucher {
        id: VoucherId(7),
        shop_id: ShopId(3),
        shop_name: "s".to_owned(),
        shop_category: String::new(),
        shop_tile: None,
        title: "t".to_owned(),
        subtitle: String::new(),
        rules: String::new(),
        price: Cents(1),
        face_value: Cents(2),
        granted: 5,
        cut_to: None,
        sold: 0,
        begins_at: datetime!(2026-12-01 12:00 UTC),
        ends_at: datetime!(2026-12-02 12:00 UTC),
        zone: "UTC".to_owned(),
        state: SaleState::Open,
        version: 1,
    }
}

fn edited_sale(form: EditSale) -> bool {
    let id = voucher(&form.voucher_id);
    let form = SaleEditForm {
        version: form.version,
        offer: OfferForm {
            title: form.title,
            subtitle: form.subtitle,
            rules: form.rules,
            price: form.price,
            face_value: form.face_value,
            begins_at: form.begins_at,
            begins_at_offset: form.begins_at_offset,
            ends_at: form.ends_at,
            ends_at_offset: form.ends_at_offset,
            zone: form.zone,
        },
    };
    let edit = form.parse().and_then(|edit| edit.of(&coming(), NOW));
    let Ok(after) = edit else { return false };
    is_line(&after.title, 1, 60);
    is_line(&after.subtitle, 0, 100);
    assert!(after.price <= after.face_value && after.begins_at < after.ends_at);
    assert!(NOW < after.ends_at && Zone::parse(&after.zone).is_ok());
    id
}

fn sale(form: CreateSale) -> bool {
    let form = SaleForm {
        shop_id: form.shop_id,
        stock: form.stock,
        offer: OfferForm {
            title: form.title,
            subtitle: form.subtitle,
            rules: form.rules,
            price: form.price,
            face_value: form.face_value,
            begins_at: form.begins_at,
            begins_at_offset: form.begins_at_offset,
            ends_at: form.ends_at,
            ends_at_offset: form.ends_at_offset,
            zone: form.zone,
        },
    };
    let Ok(sale) = form.parse(NOW) else {
        return false;
    };
    is_line(sale.title.as_str(), 1, 60);
    is_line(sale.subtitle.as_str(), 0, 100);
    let rules = sale.rules.as_str();
    assert!(rules.chars().count() <= 1000 && !rules.contains(['\0', '\r']));
    again(|text| Paragraph::parse(text, 1000), rules, &sale.rules);
    again(ShopId::parse, &sale.shop_id.to_string(), &sale.shop_id);
    assert!(sale.shop_id.0 > 0);
    assert_eq!(plain_number(&form.stock), sale.stock.to_string());
    assert!((1..=10_000_000).contains(&sale.stock));
    exact(&form.offer.price, sale.price);
    exact(&form.offer.face_value, sale.face_value);
    assert!(sale.price <= sale.face_value);
    times(&sale, NOW);
    true
}

fn times(sale: &NewSale, now: OffsetDateTime) {
    assert!(sale.begins_at < sale.ends_at && now < sale.ends_at);
    for at in [sale.begins_at, sale.ends_at] {
        assert!((2000..=2100).contains(&at.year()));
        let written = at.format(&Rfc3339).expect("a year of four digits");
        let typed = TypedTime {
            text: &written,
            offset: "",
        };
        assert_eq!(parse_instant(typed, None), Ok(at));
    }
    let zone = Zone::parse(sale.zone.name()).expect("a zone's own name is known");
    assert_eq!(zone.name(), sale.zone.name());
}

fn voucher(text: &str) -> bool {
    let Ok(id) = VoucherId::parse(text) else {
        return false;
    };
    assert!(id.0 > 0);
    assert_eq!(plain_number(text), id.to_string());
    true
}

fn letter(text: &str) -> bool {
    let Ok(id) = DeadLetterId::parse(text) else {
        return false;
    };
    again(DeadLetterId::parse, &id.to_string(), &id);
    true
}

fn return_address(next: &str) {
    if let Some(path) = local_path(next) {
        assert_eq!(path, next);
        assert!(path.starts_with('/') && !path.starts_with("//") && path.len() <= 512);
    }
}

/// One line of so many letters, of which none is a control letter or turns the direction.
fn is_line(text: &str, min: usize, max: usize) {
    let bad = |letter: char| {
        letter.is_control() || matches!(letter, '\u{2028}'..='\u{202E}' | '\u{2066}'..='\u{2069}')
    };
    assert!((min..=max).contains(&text.chars().count()), "{text:?}");
    assert!(text.trim() == text && !text.contains(bad), "{text:?}");
    let read = Line::parse(text, min, max).expect("it was accepted before");
    assert_eq!(read.as_str(), text);
}

/// What is written down is read as the same.
fn again<T: PartialEq + Debug, E: Debug>(
    parse: impl Fn(&str) -> Result<T, E>,
    text: &str,
    value: &T,
) {
    assert_eq!(&parse(text).expect("it was accepted before"), value);
}

/// The amount is the one that was typed, to the cent.
fn exact(typed: &str, amount: Cents) {
    let typed = narrow(typed);
    let (whole, decimals) = typed.split_once('.').unwrap_or((&typed, ""));
    assert_eq!(
        format!("{}.{decimals:0<2}", plain_number(whole)),
        amount.to_string()
    );
    assert!((0..=999_999_999).contains(&amount.0));
    again(Cents::parse, &amount.to_string(), &amount);
}

/// A whole number as it is written without spaces around it, zeros before it and commas in it, which stand where they have to.
fn plain_number(text: &str) -> String {
    let text = narrow(text);
    let digits = text.replace(',', "");
    if text.contains(',') {
        assert_eq!(digits.parse().map(grouped), Ok(text));
    }
    let digits = digits.trim_start_matches('0');
    if digits.is_empty() { "0" } else { digits }.to_owned()
}

/// A number without spaces around it, its digits and marks as narrow as a program writes them.
fn narrow(text: &str) -> String {
    let narrow = |letter: char| match letter {
        '０'..='９' => {
            char::from_digit(u32::from(letter) - u32::from('０'), 10).unwrap_or(letter)
        }
        '．' | '。' => '.',
        '，' => ',',
        '－' => '-',
        _ => letter,
    };
    text.trim().chars().map(narrow).collect()
}
