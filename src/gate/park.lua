-- Moves an entry that cannot be persisted to the dead letters and acknowledges it, in one step.
-- KEYS  orders, dead        ARGV  group, entry, reason, tries
-- Gives 1, or 0 when the entry is not pending any more (somebody else dealt with it).

if #redis.call('XPENDING', KEYS[1], ARGV[1], ARGV[2], ARGV[2], 1) == 0 then
    return 0
end
local fields = {'reason', ARGV[3], 'tries', ARGV[4]}
local entry = redis.call('XRANGE', KEYS[1], ARGV[2], ARGV[2])[1]
if entry then
    -- A stranger's entry may have more fields than a call takes; a promise has three.
    for i = 1, math.min(#entry[2], 200) do
        fields[#fields + 1] = entry[2][i]
    end
    redis.call('XADD', KEYS[2], '*', unpack(fields))
end
redis.call('XACK', KEYS[1], ARGV[1], ARGV[2])
redis.call('XDEL', KEYS[1], ARGV[2])
return 1
