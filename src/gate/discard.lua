-- Drops a dead letter whose order is stored as refused, and gives its unit back, once: only while the mark is its.
-- KEYS  dead, sale, stock, buyers        ARGV  letter, user, order, its former text (see `order_text.rs`)
-- Gives discarded | gone (somebody dealt with it) | later (the sale is being rebuilt, or a key is not what it must be;
-- nothing was changed).

local function failed(reply)
    return type(reply) == 'table' and reply.err ~= nil
end

if #redis.call('XRANGE', KEYS[1], ARGV[1], ARGV[1]) == 0 then
    return 'gone'
end
-- A sale of which the gate has nothing, since it was settled or never was, holds no unit of this letter.
if redis.call('EXISTS', KEYS[2], KEYS[3], KEYS[4]) > 0 then
    local sale = redis.pcall('HMGET', KEYS[2], 'state', 'granted')
    local stock = redis.pcall('GET', KEYS[3])
    local mark = redis.pcall('HGET', KEYS[4], ARGV[2])
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
    if mark == ARGV[3] or mark == ARGV[4] then
        redis.call('HDEL', KEYS[4], ARGV[2])
        -- As in `release.lua`: a mark beyond what was granted held no unit.
        if tonumber(stock) + redis.call('HLEN', KEYS[4]) < granted then
            redis.call('INCR', KEYS[3])
        end
    end
end
redis.call('XDEL', KEYS[1], ARGV[1])
return 'discarded'
