-- Appends promises to the queue again that stand by their marks alone, because the queue was lost.
-- KEYS  buyers, orders        ARGV  voucher, then pairs: user, order
-- Gives the number appended; a mark that has gone or changed meanwhile is left alone. Harmless where an entry is
-- there after all: the consumer may be told the same twice.

local appended = 0
for i = 2, #ARGV, 2 do
    local user, order = ARGV[i], ARGV[i + 1]
    if redis.call('HGET', KEYS[1], user) == order then
        redis.call('XADD', KEYS[2], '*', 'order', order, 'user', user, 'voucher', ARGV[1])
        appended = appended + 1
    end
end
return appended
