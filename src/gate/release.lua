-- Gives one unit back, exactly once: only while the buyer's mark is this order.
-- KEYS  sale, stock, buyers        ARGV  user, order, its former text (see `order_text.rs`)
-- Gives released | kept (the mark is not this order: nothing to give back) | later (the sale is being rebuilt, or
-- its keys are not what they must be; nothing was changed).

local function failed(reply)
    return type(reply) == 'table' and reply.err ~= nil
end

-- A sale of which the gate has nothing, since it was settled, holds no unit.
if redis.call('EXISTS', KEYS[1], KEYS[2], KEYS[3]) == 0 then
    return 'kept'
end
local sale = redis.pcall('HMGET', KEYS[1], 'state', 'granted')
local stock = redis.pcall('GET', KEYS[2])
local mark = redis.pcall('HGET', KEYS[3], ARGV[1])
if failed(sale) or failed(stock) or failed(mark) then
    return 'later'
end
local granted = tonumber(sale[2])
if not sale[1] or sale[1] == 'rebuilding' or not granted then
    return 'later'
end
if not stock or not (stock == '0' or string.find(stock, '^[1-9]%d*$')) then
    return 'later'
end
if mark ~= ARGV[2] and mark ~= ARGV[3] then
    return 'kept'
end
redis.call('HDEL', KEYS[3], ARGV[1])
-- After a rebuild of an older Redis there may be more marks than units; such a mark held none.
if tonumber(stock) + redis.call('HLEN', KEYS[3]) < granted then
    redis.call('INCR', KEYS[2])
end
return 'released'
