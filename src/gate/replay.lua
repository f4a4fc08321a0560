-- Puts a dead letter back into the queue, once, and takes a unit for it again where its mark is missing.
-- KEYS  dead, orders, sale, stock, buyers        ARGV  letter, user, order
-- Gives replayed | gone (somebody dealt with it) | sold_out (its mark is missing, and no unit is left) | later (the sale
-- is being rebuilt, or a key is not what it must be; nothing was changed).

local function failed(reply)
    return type(reply) == 'table' and reply.err ~= nil
end

local letter = redis.call('XRANGE', KEYS[1], ARGV[1], ARGV[1])[1]
if not letter then
    return 'gone'
end
local state = redis.pcall('HGET', KEYS[3], 'state')
local stock = redis.pcall('GET', KEYS[4])
local mark = redis.pcall('HGET', KEYS[5], ARGV[2])
if failed(state) or failed(stock) or failed(mark) or not state or state == 'rebuilding' then
    return 'later'
end
if not stock or not (stock == '0' or string.find(stock, '^[1-9]%d*$')) then
    return 'later'
end
if not mark and stock == '0' then
    return 'sold_out'
end
-- `park.lua` wrote reason and tries before the entry's own fields.
if failed(redis.pcall('XADD', KEYS[2], '*', unpack(letter[2], 5))) then
    return 'later'
end
if not mark then
    redis.call('HSET', KEYS[5], ARGV[2], ARGV[3])
    redis.call('DECR', KEYS[4])
end
redis.call('XDEL', KEYS[1], ARGV[1])
return 'replayed'
