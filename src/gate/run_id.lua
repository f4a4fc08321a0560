-- Says which Redis serves a shard: its `run_id`, another after every start. A script, because the key sends it to the
-- node of a cluster that serves the shard, wherever that is now.
-- KEYS  orders

return string.match(redis.call('INFO', 'server'), 'run_id:(%x+)')
