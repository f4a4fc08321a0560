-- Carries a sale's settings from PostgreSQL to the gate, and a change of `granted` to the stock.
-- KEYS  sale, stock, buyers
-- ARGV  version, granted, begins, ends, state, new ('1' only from the call that has just created the sale)
-- Gives applied | ignored (the version held is as new) | missing (the gate lost the sale: rebuild, never refill)
-- | broken (a key is not what it must be: rebuild) | later (a rebuild is at work) | too_low (a cut below what is
-- promised; nothing was changed).

local function failed(reply)
    return type(reply) == 'table' and reply.err ~= nil
end

local function settle(stock)
    redis.call('SET', KEYS[2], string.format('%.0f', stock))
    redis.call('HSET', KEYS[1], 'version', ARGV[1], 'granted', ARGV[2], 'begins', ARGV[3], 'ends', ARGV[4],
        'state', ARGV[5])
    return 'applied'
end

local held = redis.pcall('HMGET', KEYS[1], 'version', 'granted', 'state')
if failed(held) then
    return 'broken'
end
if not (held[1] or held[2] or held[3]) then
    if ARGV[6] ~= '1' or redis.call('EXISTS', KEYS[2], KEYS[3]) > 0 then
        return 'missing'
    end
    return settle(tonumber(ARGV[2]))
end
if held[3] == 'rebuilding' then
    return 'later'
end
local version, granted = tonumber(held[1]), tonumber(held[2])
if not (version and granted) then
    return 'broken'
end
if tonumber(ARGV[1]) <= version then
    return 'ignored'
end
local stock = redis.pcall('GET', KEYS[2])
if failed(stock) or not stock or not (stock == '0' or string.find(stock, '^[1-9]%d*$')) then
    return 'broken'
end
local left = tonumber(stock) + tonumber(ARGV[2]) - granted
if left < 0 then
    return 'too_low'
end
return settle(left)
