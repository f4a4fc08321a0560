-- Decides one attempt to buy: the only place where a unit is taken. All or nothing.
-- KEYS  sale, stock, buyers, orders        ARGV  user, order, voucher
-- Gives {outcome, order}: queued | already_bought | sold_out | not_started | ended | closed,
-- `missing` when the gate does not know the sale, `broken` when a key is not what it must be.
-- Redis does not roll a script back, so nothing may fail after the first write: everything is read and judged
-- first, and the first write (XADD) is the only one that can still fail.

local function failed(reply)
    return type(reply) == 'table' and reply.err ~= nil
end

-- A mark is the answer whatever the state of the sale: who asks again, as whichever order, is told the order that stands.
local mark = redis.pcall('HGET', KEYS[3], ARGV[1])
if failed(mark) then
    return {'broken'}
end
if mark then
    return {'already_bought', mark}
end

local sale = redis.pcall('HMGET', KEYS[1], 'state', 'begins', 'ends', 'granted')
if failed(sale) then
    return {'broken'}
end
if not (sale[1] or sale[2] or sale[3] or sale[4]) then
    return {'missing'}
end
local begins, ends, granted = tonumber(sale[2]), tonumber(sale[3]), tonumber(sale[4])
if not (sale[1] and begins and ends and granted) then
    return {'broken'}
end
if sale[1] ~= 'open' then
    return {'closed'}
end

-- One clock for all instances: begin included, end excluded.
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
if now < begins then
    return {'not_started'}
end
if now >= ends then
    return {'ended'}
end

local stock = redis.pcall('GET', KEYS[2])
if failed(stock) or not stock or not (stock == '0' or string.find(stock, '^[1-9]%d*$')) then
    return {'broken'}
end
if stock == '0' then
    return {'sold_out'}
end
-- More units than granted, or units gone but no buyer known: a key was lost or altered. Never sell on a guess.
local left = tonumber(stock)
if left > granted or (left < granted and redis.call('EXISTS', KEYS[3]) == 0) then
    return {'broken'}
end

if failed(redis.pcall('XADD', KEYS[4], '*', 'order', ARGV[2], 'user', ARGV[1], 'voucher', ARGV[3])) then
    return {'broken'}
end
redis.call('HSET', KEYS[3], ARGV[1], ARGV[2])
redis.call('DECR', KEYS[2])
return {'queued', ARGV[2]}
