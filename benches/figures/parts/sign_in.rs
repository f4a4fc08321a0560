//! Sign-ins: a password is hashed for each, which is what they cost.

use app::model::Name;
use seckill::auth::password;

use crate::{
    Result, Run,
    http::{Load, Request, drive},
    record::Record,
    site::Site,
};

/// Sign-ins under way at once: few enough that each is hashed before it is told to come again.
const CONNECTIONS: usize = 8;

/// Sign-ins in a round, each of another account.
const ACCOUNTS: usize = 300;

const PASSWORD: &str = "a long way to the coffee house";

/// Measures in rounds.
pub async fn measure(run: &Run, record: &mut Record) -> Result<()> {
    let from = record.len();
    accounts(run).await?;
    let site = Site::start(&run.args, &run.addresses, &run.stores, "web", &[]).await?;
    for round in 1..=run.args.rounds {
        eprintln!("sign-ins, round {round}");
        let body_end = format!("&password={}", PASSWORD.replace(' ', "+"));
        let head = format!(
            "POST /api/sign_in HTTP/1.1\r\nHost: {}\r\nAccept: application/json\r\nSec-Fetch-Site: same-origin\r\n\
             Content-Type: application/x-www-form-urlencoded\r\n",
            site.addr
        );
        let write = move |number: usize, request: &mut Request| {
            let body = format!("name={}{body_end}", name(number));
            let length = body.len();
            let text = format!("{head}Content-Length: {length}\r\n\r\n{body}");
            request.bytes.extend_from_slice(text.as_bytes());
            request
                .wanted
                .push_str(&format!("\"name\":\"{}\"", name(number)));
        };
        let before = site.times()?;
        let answers = drive(site.addr, Load::closed(CONNECTIONS, ACCOUNTS), write).await?;
        let costs = site.times()?.each_since(&before, answers.count());
        record.load("sign_in", "sign-ins", &answers, costs);
    }
    record.print("sign-in", from);
    site.stop().await
}

fn name(number: usize) -> String {
    format!("visitor{number}")
}

/// Accounts that all have one password, hashed as the program does.
async fn accounts(run: &Run) -> Result<()> {
    let hash = password::hash(PASSWORD)?;
    for number in 0..ACCOUNTS {
        let name = Name::parse(&name(number)).map_err(|_| "a name")?;
        sqlx::query("INSERT INTO users (name, name_key, password_hash) VALUES ($1, $2, $3)")
            .bind(name.as_str())
            .bind(name.key())
            .bind(&hash)
            .execute(&run.stores.pool)
            .await?;
    }
    Ok(())
}
