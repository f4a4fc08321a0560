//! People by role, signed in.

use std::sync::Arc;

use app::model::{Name, Role, ShopId, UserId, VoucherId};
use futures::{StreamExt, stream};
use reqwest::{cookie::Jar, header::HeaderMap};
use seckill::db::{self, users::NO_PASSWORD};
use tower_sessions::Session;

use super::{App, Person, Sale};

impl App {
    pub fn guest(&self) -> Person {
        Person {
            http: self.http.clone(),
            base: self.first.base.clone(),
            jar: Arc::default(),
            user: None,
            ledger: self.ledger.clone(),
            headers: HeaderMap::new(),
        }
    }

    /// A shopper who is signed in; of the same name, the same in another browser.
    pub async fn shopper(&self, name: &str) -> Person {
        self.account_of(name, Role::Shopper).await
    }

    pub async fn admin(&self) -> Person {
        self.account_of("admin", Role::Admin).await
    }

    /// Somebody of a role, who is signed in.
    pub async fn account_of(&self, name: &str, role: Role) -> Person {
        self.person(self.account(name, role).await).await
    }

    /// Shoppers who are signed in.
    pub async fn crowd(&self, heads: usize) -> Vec<Person> {
        let insert = "INSERT INTO users (name, name_key, password_hash)
             SELECT name, name, '!'
             FROM (SELECT 'crowd-' || $2 || '-' || n AS name FROM generate_series(1, $1::bigint) n) crowd
             RETURNING id";
        let ids: Vec<i64> = sqlx::query_scalar(insert)
            .bind(heads as i64)
            .bind(i64::from(rand::random::<u32>()))
            .fetch_all(&self.database)
            .await
            .unwrap();
        let people = ids.into_iter().map(|id| self.person(UserId(id)));
        stream::iter(people).buffered(32).collect().await
    }

    /// Somebody with a fresh login session, made as a sign-in makes it, without the hashing.
    pub async fn person(&self, user: UserId) -> Person {
        let logins = &self.operator.logins;
        let session = Session::new(None, logins.store(), None);
        logins.sign_in(&session, user).await.unwrap();
        let jar = Jar::default();
        jar.add_cookie_str(
            &format!("session={}; Path=/", session.id().unwrap()),
            &self.first.base,
        );
        Person {
            jar: Arc::new(jar),
            user: Some(user),
            ..self.guest()
        }
    }

    async fn account(&self, name: &str, role: Role) -> UserId {
        let name = Name::parse(name).unwrap();
        if let Some(known) = db::users::by_name(&self.operator.pool, &name)
            .await
            .unwrap()
        {
            return known.account.id;
        }
        let pool = &self.operator.pool;
        let id = db::users::insert(pool, &name, NO_PASSWORD).await.unwrap();
        // The first is made an admin by no admin.
        let update = "UPDATE users SET role = $2, shop_id = $3 WHERE id = $1";
        let shop = match role {
            Role::Clerk => Some(self.any_shop().await.0),
            _ => None,
        };
        sqlx::query(update)
            .bind(id.0)
            .bind(role.as_str())
            .bind(shop)
            .execute(&self.database)
            .await
            .unwrap();
        id
    }

    /// A shop for somebody who is just any clerk.
    async fn any_shop(&self) -> ShopId {
        let insert =
            "INSERT INTO shops (name, category, address) VALUES ('s', 'c', 'a') RETURNING id";
        ShopId(
            sqlx::query_scalar(insert)
                .fetch_one(&self.database)
                .await
                .unwrap(),
        )
    }

    /// A sale, created by an admin.
    pub async fn sale(&self, sale: Sale) -> VoucherId {
        self.admin().await.create_sale(sale).await
    }
}
