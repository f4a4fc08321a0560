-- Rehearsals: made-up shoppers buy a copy of a sale at the running program. What one makes has numbers of its own, above all
-- others, so that it is told apart by a comparison, and removed as a whole. `app::model::ids` has the same numbers.

CREATE SEQUENCE rehearsal_shops AS integer MINVALUE 2000000000 CYCLE;
CREATE SEQUENCE rehearsal_vouchers AS integer MINVALUE 2000000000 CYCLE;
CREATE SEQUENCE rehearsal_users AS bigint MINVALUE 1099511627776 MAXVALUE 4503599627370496 CYCLE;

ALTER TABLE shops ALTER COLUMN id SET MAXVALUE 1999999999;
ALTER TABLE vouchers ALTER COLUMN id SET MAXVALUE 1999999999;
ALTER TABLE users ALTER COLUMN id SET MAXVALUE 1099511627775;

-- What is a rehearsal's has to do with its own alone. There is nothing yet that could break it, so nothing is read through.
ALTER TABLE vouchers ADD CONSTRAINT vouchers_rehearsed_apart
    CHECK ((id >= 2000000000) = (shop_id >= 2000000000)) NOT VALID;
ALTER TABLE users ADD CONSTRAINT users_work_for_a_real_shop CHECK (shop_id < 2000000000) NOT VALID;
ALTER TABLE orders ADD CONSTRAINT orders_rehearsed_apart
    CHECK ((voucher_id >= 2000000000) = (user_id >= 1099511627776)) NOT VALID;

-- Without these, to delete a sale would read all orders, and to delete a shop all accounts, for what still refers to it.
CREATE INDEX orders_rehearsed ON orders (voucher_id) WHERE voucher_id >= 2000000000;
CREATE INDEX users_shop ON users (shop_id) WHERE shop_id IS NOT NULL;

CREATE TABLE rehearsals (
    id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    asked_by text NOT NULL,
    asked_at timestamptz NOT NULL DEFAULT now(),
    voucher_id integer,
    settings jsonb NOT NULL,
    state text NOT NULL DEFAULT 'running',
    renewed_at timestamptz NOT NULL DEFAULT now(),
    progress jsonb,
    report jsonb,
    failure text,
    ended_at timestamptz,
    CONSTRAINT rehearsals_state_known CHECK (state IN ('running', 'ended', 'failed')),
    CONSTRAINT rehearsals_end_once CHECK ((state = 'running') = (ended_at IS NULL)),
    CONSTRAINT rehearsals_report_at_the_end CHECK ((state = 'ended') = (report IS NOT NULL)),
    CONSTRAINT rehearsals_fail_for_a_reason CHECK ((state = 'failed') = (failure IS NOT NULL))
);

COMMENT ON COLUMN rehearsals.voucher_id IS 'whose sale was copied; empty for one that was made up';
COMMENT ON COLUMN rehearsals.renewed_at IS 'by who runs it, every few seconds; whoever does not for 30 s is gone';

-- One at a time.
CREATE UNIQUE INDEX rehearsals_one_at_a_time ON rehearsals (state) WHERE state = 'running';
