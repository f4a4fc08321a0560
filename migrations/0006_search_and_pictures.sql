-- Search over shops. The program folds what is searched (`app::model::folded`: case, width, accents), so that it works the
-- same in every locale and needs no extension; `shop_grams` cuts it into letters and pairs of letters, which are indexed.
-- Whatever changes a shop or its vouchers marks the shop as due; the next search, or `migrate`, folds it anew.

ALTER TABLE shops
    ADD COLUMN search_name text NOT NULL DEFAULT '',
    ADD COLUMN search_text text NOT NULL DEFAULT '',
    ADD COLUMN search_due_at timestamptz NOT NULL DEFAULT now();

COMMENT ON COLUMN shops.search_name IS 'the folded name';
COMMENT ON COLUMN shops.search_text IS 'folded: name, category, address, and titles of vouchers whose sale is not over';
COMMENT ON COLUMN shops.search_due_at IS 'when the two are to be folded anew: at once after a change, else at the end of a sale';

CREATE INDEX shops_search_due ON shops (search_due_at);

-- The letters of a folded text, and its pairs of letters within a word.
CREATE FUNCTION shop_grams(folded text) RETURNS text[]
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    SET search_path = pg_catalog
AS $$
    SELECT array_agg(DISTINCT gram)
    FROM (
        SELECT substr(folded, place, length) AS gram
        FROM generate_series(1, char_length(folded)) AS place, generate_series(1, 2) AS length
    ) AS cut
    WHERE strpos(gram, ' ') = 0
$$;

-- No pending list: it would make searches slow after many changes.
CREATE INDEX shops_search ON shops USING gin (shop_grams(search_text)) WITH (fastupdate = off);

-- A change is told from the next by its instant: who folds stores nothing for a shop that has changed since.
CREATE FUNCTION shop_has_changed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    NEW.search_due_at := clock_timestamp();
    RETURN NEW;
END
$$;

CREATE TRIGGER shops_due_for_search
    BEFORE INSERT OR UPDATE OF name, category, address ON shops
    FOR EACH ROW EXECUTE FUNCTION shop_has_changed();

CREATE FUNCTION offer_has_changed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    UPDATE shops
    SET search_due_at = clock_timestamp()
    FROM vouchers
    WHERE vouchers.id = (to_jsonb(NEW) ->> TG_ARGV[0])::integer
      AND shops.id = vouchers.shop_id;
    RETURN NULL;
END
$$;

-- Not whenever a unit is sold: only what is named here counts as a change.
CREATE TRIGGER sales_due_for_search
    AFTER INSERT OR UPDATE OF ends_at, state ON sales
    FOR EACH ROW EXECUTE FUNCTION offer_has_changed('voucher_id');

CREATE TRIGGER vouchers_due_for_search
    AFTER UPDATE OF title ON vouchers
    FOR EACH ROW EXECUTE FUNCTION offer_has_changed('id');

-- Pictures of shops: JPEG files that the program has made itself (`src/picture.rs`), by the hash of their bytes.
CREATE TABLE pictures (
    hash bytea PRIMARY KEY,
    jpeg bytea NOT NULL,
    width integer NOT NULL,
    height integer NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT pictures_hash_is_sha_256 CHECK (hash = sha256(jpeg)),
    CONSTRAINT pictures_are_small CHECK (octet_length(jpeg) BETWEEN 1 AND 200000)
);

-- A JPEG file does not get smaller.
ALTER TABLE pictures ALTER COLUMN jpeg SET STORAGE EXTERNAL;

ALTER TABLE shops
    ADD COLUMN picture bytea,
    ADD COLUMN tile bytea,
    ADD CONSTRAINT shops_picture_exists FOREIGN KEY (picture) REFERENCES pictures (hash),
    ADD CONSTRAINT shops_tile_exists FOREIGN KEY (tile) REFERENCES pictures (hash),
    ADD CONSTRAINT shops_picture_with_tile CHECK ((picture IS NULL) = (tile IS NULL));

COMMENT ON COLUMN shops.picture IS 'the large picture';
COMMENT ON COLUMN shops.tile IS 'the small one, for cards';

-- Whether another shop shows the same is asked when a picture is replaced.
CREATE INDEX shops_picture ON shops (picture) WHERE picture IS NOT NULL;
CREATE INDEX shops_tile ON shops (tile) WHERE tile IS NOT NULL;
