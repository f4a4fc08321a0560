-- The list of sales in the console is searched by titles, of sales that are over too; and those that were withdrawn are few.
-- Names of shops are found by the index of their search.
CREATE INDEX vouchers_title ON vouchers USING gin (shop_grams(lower(title))) WITH (fastupdate = off);

CREATE INDEX sales_withdrawn ON sales (voucher_id) WHERE state = 'withdrawn';
