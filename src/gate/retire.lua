-- Deletes names of consumers that are gone: nothing pending, and idle for longer than a limit. One's own name is
-- deleted at once when it leaves.
-- KEYS  orders        ARGV  group, own name (or ''), idle limit in ms
-- Gives the number of names deleted.

local info = redis.pcall('XINFO', 'CONSUMERS', KEYS[1], ARGV[1])
if info.err then
    return 0
end
local deleted = 0
for _, consumer in ipairs(info) do
    local about = {}
    for i = 1, #consumer, 2 do
        about[consumer[i]] = consumer[i + 1]
    end
    if about.pending == 0 and (about.name == ARGV[2] or about.idle > tonumber(ARGV[3])) then
        redis.call('XGROUP', 'DELCONSUMER', KEYS[1], ARGV[1], about.name)
        deleted = deleted + 1
    end
end
return deleted
