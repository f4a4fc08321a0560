-- Sales and shops are changed while they are in use.

-- Units are taken out of a running sale: the gate decides how many are still there to be taken. What is wanted stands here
-- until the gate has decided; `granted` follows it then, so that the gate never holds more than is granted.
ALTER TABLE sales
    ADD COLUMN cut_to bigint,
    ADD CONSTRAINT sales_cut_sane CHECK (cut_to >= 1 AND cut_to < granted);

COMMENT ON COLUMN sales.cut_to IS 'the units wanted by a cut that the gate has not decided yet; empty otherwise';

-- Counts the changes, so that a form filled in before one of them does not undo it.
ALTER TABLE shops ADD COLUMN version bigint NOT NULL DEFAULT 1;

-- Who changed a thing last.
CREATE INDEX audit_log_subject ON audit_log (subject, id);
