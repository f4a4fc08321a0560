-- Appends entries again that were delivered and are pending with nobody, since their consumer's name was deleted with
-- them: no read and no recovery would ever meet them.
-- KEYS  orders        ARGV  group, entries…
-- Gives the number appended; an entry that is none of that kind (any more) is left alone.

local function after(id, other)
    local ms, place = string.match(id, '^(%d+)%-(%d+)$')
    local other_ms, other_place = string.match(other, '^(%d+)%-(%d+)$')
    if ms ~= other_ms then
        return tonumber(ms) > tonumber(other_ms)
    end
    return tonumber(place) > tonumber(other_place)
end

local groups = redis.pcall('XINFO', 'GROUPS', KEYS[1])
if groups.err then
    return 0
end
local delivered
for _, group in ipairs(groups) do
    local about = {}
    for i = 1, #group, 2 do
        about[group[i]] = group[i + 1]
    end
    if about.name == ARGV[1] then
        delivered = about['last-delivered-id']
    end
end
local appended = 0
for i = 2, #ARGV do
    local entry = redis.call('XRANGE', KEYS[1], ARGV[i], ARGV[i])[1]
    if delivered and entry and not after(ARGV[i], delivered)
        and #redis.call('XPENDING', KEYS[1], ARGV[1], ARGV[i], ARGV[i], 1) == 0 then
        redis.call('XADD', KEYS[1], '*', unpack(entry[2]))
        redis.call('XDEL', KEYS[1], ARGV[i])
        appended = appended + 1
    end
end
return appended
