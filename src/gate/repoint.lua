-- An order was refused because the buyer has another live one that the gate did not know: the mark, and the unit
-- taken with it, now stand for the live order.
-- KEYS  sale, buyers        ARGV  user, refused order, its former text (see `order_text.rs`), live order
-- Gives repointed | kept (the mark is not the refused order) | later (the sale is being rebuilt).

local function failed(reply)
    return type(reply) == 'table' and reply.err ~= nil
end

-- A sale of which the gate has nothing, since it was settled, has no marks.
if redis.call('EXISTS', KEYS[1], KEYS[2]) == 0 then
    return 'kept'
end
local state = redis.pcall('HGET', KEYS[1], 'state')
local mark = redis.pcall('HGET', KEYS[2], ARGV[1])
if failed(state) or failed(mark) or not state or state == 'rebuilding' then
    return 'later'
end
if mark ~= ARGV[2] and mark ~= ARGV[3] then
    return 'kept'
end
redis.call('HSET', KEYS[2], ARGV[1], ARGV[4])
return 'repointed'
