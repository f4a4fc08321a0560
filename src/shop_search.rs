//! Search over shops: folds what has changed, then looks. Whoever searches folds, so that nothing has to be told of a
//! change, and what an admin has just saved is found at once. Knows no SQL: `db::shop_search`.

use app::model::{
    Category, FoundOffer, Shop, ShopId, ShopKey, ShopList, ShopSearch, Words, folded,
};
use sqlx::PgPool;

use crate::db::{
    self,
    shop_search::{Due, Folded, PAGE},
};

/// Shops that are folded in one statement.
const BATCH: i64 = 500;

/// Batches that one search folds: after a large import the next searches go on with it. `migrate` folds everything.
const BATCHES: usize = 4;

/// Similar shops that are shown when none has all words.
const GUESSES: usize = 6;

/// Vouchers that are shown with a shop.
const OFFERS: usize = 3;

/// A page of the shops that were searched for; where no shop has all words, those that have the parts of Chinese ones, or
/// almost have them.
///
/// # Errors
/// When the database fails.
pub async fn find(pool: &PgPool, search: &ShopSearch) -> sqlx::Result<ShopList> {
    let words = &search.words;
    let found = if words.is_empty() {
        db::shop_search::all(pool, search).await?
    } else if words.folded().is_empty() {
        Vec::new()
    } else {
        fold_some(pool).await?;
        db::shop_search::find(pool, search).await?
    };
    if !found.is_empty() {
        return page_of(pool, words, found, false).await;
    }
    if is_beyond_the_end(pool, search).await? {
        return Ok(ShopList::default());
    }
    for words in words.cuts() {
        let cut = ShopSearch {
            words,
            ..search.clone()
        };
        let found = db::shop_search::find(pool, &cut).await?;
        if !found.is_empty() {
            return page_of(pool, &cut.words, found, true).await;
        }
    }
    match search.after {
        None => guess(pool, search).await,
        Some(_) => Ok(ShopList::default()),
    }
}

/// Are there shops that have all words, but none after this one?
async fn is_beyond_the_end(pool: &PgPool, search: &ShopSearch) -> sqlx::Result<bool> {
    if search.after.is_none() || search.words.folded().is_empty() {
        return Ok(false);
    }
    let first = ShopSearch {
        after: None,
        ..search.clone()
    };
    Ok(!db::shop_search::find(pool, &first).await?.is_empty())
}

async fn page_of(
    pool: &PgPool,
    words: &Words,
    mut found: Vec<(ShopKey, Shop)>,
    is_guess: bool,
) -> sqlx::Result<ShopList> {
    let more = found.len() > PAGE;
    found.truncate(PAGE);
    let next = found.last().filter(|_| more).map(|(key, _)| *key);
    let shops: Vec<Shop> = found.into_iter().map(|(_, shop)| shop).collect();
    Ok(ShopList {
        offers: offers(pool, words, &shops).await?,
        shops,
        next,
        is_guess,
    })
}

/// What the shops offer now that has some of the words: of each shop a few, those with the most words first.
async fn offers(pool: &PgPool, words: &Words, shops: &[Shop]) -> sqlx::Result<Vec<FoundOffer>> {
    if words.folded().is_empty() {
        return Ok(Vec::new());
    }
    let ids: Vec<ShopId> = shops.iter().map(|shop| shop.id).collect();
    let offers = db::shop_search::offers(pool, &ids).await?;
    let mut found: Vec<(usize, FoundOffer)> = offers
        .into_iter()
        .map(|offer| (words.found_in(&folded(&offer.title)), offer))
        .filter(|(words, _)| *words > 0)
        .collect();
    found.sort_by_key(|(words, offer)| (offer.shop, std::cmp::Reverse(*words)));
    let of_shops = found.chunk_by(|(_, one), (_, next)| one.shop == next.shop);
    let few = of_shops.flat_map(|of_shop| of_shop.iter().take(OFFERS));
    Ok(few.map(|(_, offer)| offer.clone()).collect())
}

/// How many shops of each category have all words. Folds nothing: the list of the same page has.
///
/// # Errors
/// When the database fails.
pub async fn categories(pool: &PgPool, words: &Words) -> sqlx::Result<Vec<Category>> {
    if words.is_empty() {
        return db::shop_search::all_categories(pool).await;
    }
    if words.folded().is_empty() {
        return Ok(Vec::new());
    }
    db::shop_search::categories(pool, words).await
}

/// Folds every shop that is due.
///
/// # Errors
/// When the database fails.
pub async fn fold_all(pool: &PgPool) -> sqlx::Result<()> {
    while fold_batch(pool).await? {}
    Ok(())
}

/// Folds shops that are due, so many that nobody waits for long.
///
/// # Errors
/// When the database fails.
pub async fn fold_some(pool: &PgPool) -> sqlx::Result<()> {
    for _ in 0..BATCHES {
        if !fold_batch(pool).await? {
            break;
        }
    }
    Ok(())
}

/// Whether more may be due.
async fn fold_batch(pool: &PgPool) -> sqlx::Result<bool> {
    let due = db::shop_search::due(pool, BATCH).await?;
    let more = i64::try_from(due.len()).is_ok_and(|due| due == BATCH);
    let folded: Vec<Folded> = due.into_iter().map(fold).collect();
    if !folded.is_empty() {
        db::shop_search::store(pool, &folded).await?;
    }
    Ok(more)
}

fn fold(due: Due) -> Folded {
    let name = folded(&due.name);
    let text = [name.as_str(), &folded(&due.others)].join(" ");
    Folded { due, name, text }
}

async fn guess(pool: &PgPool, search: &ShopSearch) -> sqlx::Result<ShopList> {
    let words = &search.words;
    if words.halves().is_empty() {
        return Ok(ShopList::default());
    }
    let near = db::shop_search::near(pool, words, &search.category).await?;
    let mut near: Vec<_> = near
        .into_iter()
        .filter_map(|(text, shop)| Some((words.slips_in(&text)?, shop)))
        .collect();
    near.sort_by_key(|(slips, shop)| (*slips, shop.id));
    near.truncate(GUESSES);
    Ok(ShopList {
        is_guess: !near.is_empty(),
        shops: near.into_iter().map(|(_, shop)| shop).collect(),
        ..ShopList::default()
    })
}
