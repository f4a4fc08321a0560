-- That an order's sale and user exist is looked at once a statement. The foreign keys looked at both for each order, and
-- locked the row of its user, which is written for that: a third of what storing an order costs.

ALTER TABLE orders
    DROP CONSTRAINT orders_sale_exists,
    DROP CONSTRAINT orders_user_exists;

-- LATERAL with a LIMIT, so that each look-up goes through its index whatever the tables were like when it was planned.
CREATE FUNCTION orders_refer_to_something() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    astray uuid;
BEGIN
    SELECT placed.id INTO astray
    FROM placed
    LEFT JOIN LATERAL (SELECT id FROM users WHERE id = placed.user_id LIMIT 1) buyer ON TRUE
    LEFT JOIN LATERAL (SELECT voucher_id FROM sales WHERE voucher_id = placed.voucher_id LIMIT 1) sale ON TRUE
    WHERE buyer.id IS NULL OR sale.voucher_id IS NULL
    LIMIT 1;
    IF astray IS NOT NULL THEN
        RAISE foreign_key_violation USING
            CONSTRAINT = 'orders_refer',
            MESSAGE = format('order %s is of no user or of no sale', astray);
    END IF;
    RETURN NULL;
END $$;

CREATE TRIGGER orders_refer
    AFTER INSERT ON orders REFERENCING NEW TABLE AS placed
    FOR EACH STATEMENT EXECUTE FUNCTION orders_refer_to_something();

CREATE TRIGGER orders_still_refer
    AFTER UPDATE ON orders REFERENCING NEW TABLE AS placed
    FOR EACH STATEMENT EXECUTE FUNCTION orders_refer_to_something();

-- Whom or what an order refers to is not deleted, and keeps its number.
CREATE FUNCTION user_stays() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (SELECT FROM orders WHERE user_id = OLD.id) THEN
        RAISE foreign_key_violation USING
            CONSTRAINT = 'orders_refer',
            MESSAGE = format('orders refer to user %s', OLD.id);
    END IF;
    RETURN CASE TG_OP WHEN 'DELETE' THEN OLD ELSE NEW END;
END $$;

CREATE FUNCTION sale_stays() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (SELECT FROM orders WHERE voucher_id = OLD.voucher_id) THEN
        RAISE foreign_key_violation USING
            CONSTRAINT = 'orders_refer',
            MESSAGE = format('orders refer to sale %s', OLD.voucher_id);
    END IF;
    RETURN CASE TG_OP WHEN 'DELETE' THEN OLD ELSE NEW END;
END $$;

CREATE TRIGGER users_stay
    BEFORE DELETE OR UPDATE OF id ON users
    FOR EACH ROW EXECUTE FUNCTION user_stays();

CREATE TRIGGER sales_stay
    BEFORE DELETE OR UPDATE OF voucher_id ON sales
    FOR EACH ROW EXECUTE FUNCTION sale_stays();
