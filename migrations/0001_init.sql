-- Accounts, shops, vouchers with their sales, orders.

CREATE TABLE settings (
    name text PRIMARY KEY,
    value bytea NOT NULL
);

COMMENT ON TABLE settings IS 'shards, the key of order ids, the run_id of the Redis last seen per shard';

CREATE TABLE users (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name text NOT NULL,
    password_hash text NOT NULL,
    role text NOT NULL DEFAULT 'shopper',
    created_at timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT users_role_known CHECK (role IN ('shopper', 'clerk', 'admin'))
);

CREATE UNIQUE INDEX users_name_unique ON users (lower(name));

CREATE TABLE shops (
    id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name text NOT NULL,
    category text NOT NULL,
    address text NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now()
);

CREATE INDEX shops_category ON shops (category, id);

CREATE TABLE vouchers (
    id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    shop_id integer NOT NULL,
    title text NOT NULL,
    subtitle text NOT NULL,
    rules text NOT NULL,
    price_cents bigint NOT NULL,
    face_value_cents bigint NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT vouchers_shop_exists FOREIGN KEY (shop_id) REFERENCES shops (id),
    CONSTRAINT vouchers_price_sane CHECK (price_cents BETWEEN 0 AND face_value_cents)
);

CREATE INDEX vouchers_shop ON vouchers (shop_id);

-- One flash sale a voucher. `sold` counts its confirmed orders and is raised in the transaction that stores them.
CREATE TABLE sales (
    voucher_id integer PRIMARY KEY,
    granted bigint NOT NULL,
    sold bigint NOT NULL DEFAULT 0,
    begins_at timestamptz NOT NULL,
    ends_at timestamptz NOT NULL,
    zone text NOT NULL,
    state text NOT NULL DEFAULT 'open',
    version bigint NOT NULL DEFAULT 1,
    CONSTRAINT sales_voucher_exists FOREIGN KEY (voucher_id) REFERENCES vouchers (id),
    CONSTRAINT sales_not_oversold CHECK (sold BETWEEN 0 AND granted),
    CONSTRAINT sales_window_sane CHECK (begins_at < ends_at),
    CONSTRAINT sales_state_known CHECK (state IN ('open', 'paused', 'withdrawn'))
);

CREATE INDEX sales_ends_at ON sales (ends_at);

-- What the gate promised, once it is decided: stored rows are final.
CREATE TABLE orders (
    id uuid PRIMARY KEY,
    voucher_id integer NOT NULL,
    user_id bigint NOT NULL,
    status text NOT NULL,
    reason text,
    live_order_id uuid,
    accepted_at timestamptz NOT NULL,
    stored_at timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT orders_sale_exists FOREIGN KEY (voucher_id) REFERENCES sales (voucher_id),
    CONSTRAINT orders_user_exists FOREIGN KEY (user_id) REFERENCES users (id),
    CONSTRAINT orders_status_known CHECK (status IN ('confirmed', 'refused')),
    CONSTRAINT orders_refused_for_a_reason CHECK ((status = 'refused') = (reason IS NOT NULL))
);

COMMENT ON COLUMN orders.live_order_id IS 'for already_bought: the order that stands';

-- One live order of a voucher per shopper: the last door behind the gate.
CREATE UNIQUE INDEX orders_one_live ON orders (voucher_id, user_id) WHERE status = 'confirmed';

CREATE INDEX orders_user ON orders (user_id, accepted_at DESC);

CREATE TABLE audit_log (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    at timestamptz NOT NULL DEFAULT now(),
    actor text NOT NULL,
    action text NOT NULL,
    subject text NOT NULL,
    detail text NOT NULL DEFAULT ''
);
