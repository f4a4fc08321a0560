-- Marks the buyer of a live order that the gate does not know, and takes the unit that it stands for.
-- KEYS  sale, stock, buyers        ARGV  user, order
-- Gives 1, or 0 when the buyer has a mark, the sale is being rebuilt, or a key is not what it must be.

local function failed(reply)
    return type(reply) == 'table' and reply.err ~= nil
end

local state = redis.pcall('HGET', KEYS[1], 'state')
local stock = redis.pcall('GET', KEYS[2])
local mark = redis.pcall('HGET', KEYS[3], ARGV[1])
if failed(state) or failed(stock) or failed(mark) or mark or not state or state == 'rebuilding' then
    return 0
end
if not stock or not (stock == '0' or string.find(stock, '^[1-9]%d*$')) then
    return 0
end
redis.call('HSET', KEYS[3], ARGV[1], ARGV[2])
-- Where no unit is left, a promise beyond it will be refused when it is stored.
if stock ~= '0' then
    redis.call('DECR', KEYS[2])
end
return 1
