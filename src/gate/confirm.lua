-- Orders are stored as live: their buyers have marks from when they bought, unless the gate was emptied while the orders
-- were in a consumer's hands, and rebuilt without them. Then they are marked now, and take the units they stand for.
-- KEYS  sale, stock, buyers        ARGV  pairs: user, order
-- Gives confirmed | later (a mark is missing and the sale is being rebuilt, or a key is not what it must be).

local function failed(reply)
    return type(reply) == 'table' and reply.err ~= nil
end

local users = {}
for i = 1, #ARGV, 2 do
    users[#users + 1] = ARGV[i]
end
local marks = redis.pcall('HMGET', KEYS[3], unpack(users))
if failed(marks) then
    return 'later'
end
local unmarked = {}
for place, mark in ipairs(marks) do
    if not mark then
        unmarked[#unmarked + 1] = place * 2 - 1
    end
end
if #unmarked == 0 then
    return 'confirmed'
end

local state = redis.pcall('HGET', KEYS[1], 'state')
if failed(state) or state == 'rebuilding' then
    return 'later'
end
-- A sale that the gate does not hold has no marks, and one that it lost is rebuilt with what is stored.
if not state then
    return 'confirmed'
end
local stock = redis.pcall('GET', KEYS[2])
if failed(stock) or not stock or not (stock == '0' or string.find(stock, '^[1-9]%d*$')) then
    return 'later'
end
local left = tonumber(stock)
for _, place in ipairs(unmarked) do
    redis.call('HSET', KEYS[3], ARGV[place], ARGV[place + 1])
    -- Where no unit is left, a promise beyond it will be refused when it is stored.
    if left > 0 then
        left = left - 1
        redis.call('DECR', KEYS[2])
    end
end
return 'confirmed'
