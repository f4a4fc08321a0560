-- Starts a rebuild: nothing is sold or released until it has ended. Only the holder of the shard's lock may.
-- KEYS  lock, sale, stock, buyers        ARGV  token
-- Gives 1, or 0 when the lock is somebody else's.

if redis.call('GET', KEYS[1]) ~= ARGV[1] then
    return 0
end
local function drop_unless(key, kind)
    local found = redis.call('TYPE', key).ok
    if found ~= 'none' and found ~= kind then
        redis.call('DEL', key)
    end
end
drop_unless(KEYS[2], 'hash')
drop_unless(KEYS[4], 'hash')
redis.call('HSET', KEYS[2], 'state', 'rebuilding')
redis.call('DEL', KEYS[3])
return 1
