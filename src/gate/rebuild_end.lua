-- Ends a rebuild: the stock is what was granted less what is promised, and the sale may sell again.
-- KEYS  lock, sale, stock, buyers        ARGV  token, version, granted, begins, ends, state
-- Gives {1, stock}, or {0} when the lock is somebody else's or the rebuild is over.

if redis.call('GET', KEYS[1]) ~= ARGV[1] or redis.call('HGET', KEYS[2], 'state') ~= 'rebuilding' then
    return {0}
end
local stock = math.max(0, tonumber(ARGV[3]) - redis.call('HLEN', KEYS[4]))
redis.call('SET', KEYS[3], string.format('%.0f', stock))
redis.call('HSET', KEYS[2], 'version', ARGV[2], 'granted', ARGV[3], 'begins', ARGV[4], 'ends', ARGV[5],
    'state', ARGV[6])
return {1, stock}
