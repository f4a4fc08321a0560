-- Says how the Redis that serves a shard keeps its promises. A script, because the key sends it to that node.
-- KEYS  orders
-- Gives {append-only file: '1' or '0', eviction policy}.

local file = string.match(redis.call('INFO', 'persistence'), 'aof_enabled:(%d)')
local policy = string.match(redis.call('INFO', 'memory'), 'maxmemory_policy:([%w-]+)')
return {file or '', policy or ''}
