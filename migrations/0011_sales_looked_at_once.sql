-- A batch of orders is of few sales: each is looked at once a statement, and not once an order. LATERAL with a LIMIT, so
-- that each look-up goes through its index whatever the tables were like when it was planned.
CREATE OR REPLACE FUNCTION orders_refer_to_something() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    astray uuid;
BEGIN
    SELECT placed.id INTO astray
    FROM placed
    LEFT JOIN LATERAL (SELECT id FROM users WHERE id = placed.user_id LIMIT 1) buyer ON TRUE
    WHERE buyer.id IS NULL
    LIMIT 1;
    IF astray IS NULL THEN
        SELECT of_sale.an_order INTO astray
        FROM (SELECT voucher_id, (array_agg(id))[1] AS an_order FROM placed GROUP BY voucher_id) of_sale
        LEFT JOIN LATERAL (SELECT voucher_id FROM sales WHERE voucher_id = of_sale.voucher_id LIMIT 1) sale ON TRUE
        WHERE sale.voucher_id IS NULL
        LIMIT 1;
    END IF;
    IF astray IS NOT NULL THEN
        RAISE foreign_key_violation USING
            CONSTRAINT = 'orders_refer',
            MESSAGE = format('order %s is of no user or of no sale', astray);
    END IF;
    RETURN NULL;
END $$;
