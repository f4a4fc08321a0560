//! Integration tests: the whole application on a real PostgreSQL and a real Redis. `DATABASE_URL` and `REDIS_URL` say
//! where they are (`scripts/stores run cargo nextest run`). A test is in the file of the noun that it is about; the
//! field cases (O01 …) are named where they are tested.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod accounts;
mod audit_log;
mod bad_input;
mod bodies;
mod buys;
mod cluster;
mod console;
mod consumer;
mod dead_letters;
mod decoding;
mod embedded;
mod export;
mod figures;
mod floods;
mod former_text;
mod forms;
mod gate;
mod hang_ups;
mod harness;
mod headers;
mod health;
mod instances;
mod interleavings;
mod live;
mod lock;
mod orders;
mod outages;
mod people;
mod picture_files;
mod pictures;
mod program;
mod promises;
mod queue;
mod rebuild;
mod reconcile;
mod recovery;
mod rehearsal;
mod rights;
mod sale_actions;
mod sale_edit;
mod sale_preview;
mod sale_times;
mod secrets;
mod sessions;
mod shards;
mod shop_edit;
mod shop_search;
mod sign_in_tries;
mod voucher_page;
mod web_server;
