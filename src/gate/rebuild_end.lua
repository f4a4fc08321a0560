-- Ends a rebuild: the stock is what was granted less what is promised, and the sale may sell again.
-- KEYS  lock, sale, stock, buyers
-- ARGV  token, version, granted, begins, ends, state, cut_to (the units wanted by a cut; '' when none is under way),
--       marks (how many stand, by what the rebuild has found)
-- Gives {1, stock}, or {0} when the lock is somebody else's, the rebuild is over, or marks were lost meanwhile: nothing is
-- released while it lasts, so that fewer than there were are a loss, and their units would be sold again.

if redis.call('GET', KEYS[1]) ~= ARGV[1] or redis.call('HGET', KEYS[2], 'state') ~= 'rebuilding' then
    return {0}
end
local promised = redis.call('HLEN', KEYS[4])
if promised < tonumber(ARGV[8]) then
    return {0}
end
local granted = tonumber(ARGV[3])
local cut_to = tonumber(ARGV[7])
if cut_to then
    -- As in apply.lua: a cut stops at what is promised.
    granted = math.min(granted, math.max(cut_to, promised))
end
local stock = math.max(0, granted - promised)
redis.call('SET', KEYS[3], string.format('%.0f', stock))
redis.call('HSET', KEYS[2], 'version', ARGV[2], 'granted', string.format('%.0f', granted), 'begins', ARGV[4],
    'ends', ARGV[5], 'state', ARGV[6])
return {1, stock}
