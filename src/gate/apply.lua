-- Carries a sale's settings from PostgreSQL to the gate, and a change of `granted` to the stock.
-- KEYS  sale, stock, buyers
-- ARGV  version, granted, begins, ends, state, new ('1' only from the call that has just created the sale),
--       cut_to (the units wanted by a cut; '' when none is under way)
-- Gives {applied, granted} | {known, granted} (this very version is held) | {newer} (a newer one is held)
-- | {missing} (the gate lost the sale: rebuild, never refill) | {broken} (a key is not what it must be: rebuild)
-- | {later} (a rebuild is at work) | {too_low} (fewer granted than promised, and no cut; nothing was changed).
-- A cut takes what is still in the stock, and stops at what is promised: the `granted` given is what came of it.

local function failed(reply)
    return type(reply) == 'table' and reply.err ~= nil
end

local function settle(stock, granted)
    local units = string.format('%.0f', granted)
    redis.call('SET', KEYS[2], string.format('%.0f', stock))
    redis.call('HSET', KEYS[1], 'version', ARGV[1], 'granted', units, 'begins', ARGV[3], 'ends', ARGV[4],
        'state', ARGV[5])
    return {'applied', units}
end

local held = redis.pcall('HMGET', KEYS[1], 'version', 'granted', 'state', 'begins', 'ends')
if failed(held) then
    return {'broken'}
end
if not (held[1] or held[2] or held[3]) then
    if ARGV[6] ~= '1' or redis.call('EXISTS', KEYS[2], KEYS[3]) > 0 then
        return {'missing'}
    end
    return settle(tonumber(ARGV[2]), tonumber(ARGV[2]))
end
if held[3] == 'rebuilding' then
    return {'later'}
end
local version, granted = tonumber(held[1]), tonumber(held[2])
if not (version and granted) then
    return {'broken'}
end
if tonumber(ARGV[1]) < version then
    return {'newer'}
end
-- A PostgreSQL that has lost its last commits gives their version to another change: what it says now counts. A cut that
-- was made holds fewer units than are granted, and making it again takes none.
local is_same = held[3] == ARGV[5] and held[4] == ARGV[3] and held[5] == ARGV[4]
    and (held[2] == ARGV[2] or ARGV[7] ~= '')
if tonumber(ARGV[1]) == version and is_same then
    return {'known', held[2]}
end
local stock = redis.pcall('GET', KEYS[2])
if failed(stock) or not stock or not (stock == '0' or string.find(stock, '^[1-9]%d*$')) then
    return {'broken'}
end
local wanted = tonumber(ARGV[7]) or tonumber(ARGV[2])
local left = tonumber(stock) + wanted - granted
if left < 0 then
    if ARGV[7] == '' then
        return {'too_low'}
    end
    wanted = wanted - left
    left = 0
end
return settle(left, wanted)
