-- What happened at each sale over time, for the charts of the console: sums of ten seconds, one row for each count that an
-- instance has begun. It writes its sums, whole, as often as it likes; readers add the counts up. Later they are joined to
-- minutes, as count 0. No order depends on them.
--
-- Without a reference to `sales`: what is counted is never a reason to fail.
CREATE TABLE sale_figures (
    voucher_id integer NOT NULL,
    bucket_at timestamptz NOT NULL,
    count_id bigint NOT NULL,
    accepted bigint NOT NULL,
    already_bought bigint NOT NULL,
    sold_out bigint NOT NULL,
    not_started bigint NOT NULL,
    ended bigint NOT NULL,
    closed bigint NOT NULL,
    confirmed bigint NOT NULL,
    refused bigint NOT NULL,
    lag_ms bigint NOT NULL,
    max_lag_ms bigint NOT NULL,
    backlog bigint NOT NULL,
    written_at timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT sale_figures_once PRIMARY KEY (voucher_id, bucket_at, count_id)
);

COMMENT ON COLUMN sale_figures.count_id IS 'drawn by who began it; 0: joined';
COMMENT ON COLUMN sale_figures.written_at IS 'last; not joined before its writer has surely heard that it is written';
COMMENT ON COLUMN sale_figures.refused IS 'accepted, then refused when it was to be stored';
COMMENT ON COLUMN sale_figures.lag_ms IS 'from accepted to stored, summed up over confirmed and refused';
COMMENT ON COLUMN sale_figures.backlog IS 'the most that was accepted and not yet stored';

-- What is to be joined, and what is to be deleted, by age.
CREATE INDEX sale_figures_fresh ON sale_figures (bucket_at) WHERE count_id <> 0;
CREATE INDEX sale_figures_age ON sale_figures (bucket_at);

-- The orders of a sale in the order in which they were accepted, of each status: for the list of a sale and for its
-- export. Each order stands in one of the two.
--
-- That of the confirmed ones is over an expression, which only these lists name: over the plain column it would serve the
-- look-up of a buyer's live order too, and a plan that was made while `orders` was small would read all orders of the sale
-- for each that is stored.
CREATE INDEX orders_confirmed ON orders ((voucher_id::bigint), id) WHERE status = 'confirmed';
CREATE INDEX orders_refused ON orders (voucher_id, id) WHERE status = 'refused';
