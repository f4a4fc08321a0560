-- Names are told apart by their folded form, which the program computes (`app::model::Name`): `migrate` fills it in for
-- accounts that have none yet. A clerk works for one shop. A deleted account keeps its row, since its orders refer to it.

ALTER TABLE users
    ADD COLUMN name_key text,
    ADD COLUMN shop_id integer,
    ADD COLUMN deleted_at timestamptz;

COMMENT ON COLUMN users.name_key IS 'the folded name; none for a deleted account';

DROP INDEX users_name_unique;

CREATE UNIQUE INDEX users_name_unique ON users (name_key);

UPDATE users SET role = 'shopper' WHERE role = 'clerk';

ALTER TABLE users
    ADD CONSTRAINT users_shop_exists FOREIGN KEY (shop_id) REFERENCES shops (id),
    ADD CONSTRAINT users_clerk_of_a_shop CHECK ((role = 'clerk') = (shop_id IS NOT NULL));

-- Few accounts have a role; the list of them, and the count of admins, need not read the others.
CREATE INDEX users_role ON users (role) WHERE role <> 'shopper';

-- Whether all names are folded is asked at every start.
CREATE INDEX users_unfolded ON users (id) WHERE name_key IS NULL AND deleted_at IS NULL;
