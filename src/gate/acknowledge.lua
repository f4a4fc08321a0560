-- Acknowledges and deletes entries whose orders are stored, in one step.
-- KEYS  orders        ARGV  group, entries
-- Gives the number deleted; an entry that is gone already counts for nothing.

local ids = {unpack(ARGV, 2)}
redis.call('XACK', KEYS[1], ARGV[1], unpack(ids))
return redis.call('XDEL', KEYS[1], unpack(ids))
