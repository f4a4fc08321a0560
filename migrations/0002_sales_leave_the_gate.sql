-- A sale leaves the gate 7 days after its end, once every promise of it is stored: its keys are removed from Redis, and
-- PostgreSQL alone answers. Until then it is looked after like one that sells.

ALTER TABLE sales ADD COLUMN left_gate_at timestamptz;

COMMENT ON COLUMN sales.left_gate_at IS 'when its keys were removed from Redis; empty while it is looked after';

CREATE INDEX sales_at_the_gate ON sales (voucher_id) WHERE left_gate_at IS NULL;
