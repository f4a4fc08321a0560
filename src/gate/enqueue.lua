-- Appends promises to the queue again that stand by their marks alone, because the queue was lost.
-- KEYS  buyers, orders        ARGV  voucher, then triples: user, order, its former text (see
-- `order_text.rs`)
-- Gives the number appended; a mark that has gone or changed meanwhile is left alone. Harmless where an entry is
-- there after all: the consumer may be told the same twice.

local appended = 0
for i = 2, #ARGV, 3 do
    local user, order, former = ARGV[i], ARGV[i + 1], ARGV[i + 2]
    local mark = redis.call('HGET', KEYS[1], user)
    if mark == order or mark == former then
        redis.call('XADD', KEYS[2], '*', 'order', order, 'user', user, 'voucher', ARGV[1])
        appended = appended + 1
    end
end
return appended
