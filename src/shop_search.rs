//! Search over shops: folds what has changed, then looks. Whoever searches folds, so that nothing has to be told of a
//! change, and what an admin has just saved is found at once. Knows no SQL: `db::shop_search`.

use app::model::{Category, ShopList, ShopSearch, Words, folded};
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

/// A page of the shops that were searched for; where no shop has all words, those that almost have.
///
/// # Errors
/// When the database fails.
pub async fn find(pool: &PgPool, search: &ShopSearch) -> sqlx::Result<ShopList> {
    let words = &search.words;
    let mut found = if words.is_empty() {
        db::shop_search::all(pool, search).await?
    } else if words.folded().is_empty() {
        Vec::new()
    } else {
        fold_some(pool).await?;
        db::shop_search::find(pool, search).await?
    };
    if found.is_empty() && search.after.is_none() {
        return guess(pool, search).await;
    }
    let more = found.len() > PAGE;
    found.truncate(PAGE);
    let next = found.last().filter(|_| more).map(|(key, _)| *key);
    Ok(ShopList {
        shops: found.into_iter().map(|(_, shop)| shop).collect(),
        next,
        is_guess: false,
    })
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

async fn fold_some(pool: &PgPool) -> sqlx::Result<()> {
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
        next: None,
    })
}
