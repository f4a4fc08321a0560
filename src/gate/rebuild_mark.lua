-- Writes what a rebuild found out about some buyers: marks to set, marks to drop, promises to enqueue again.
-- KEYS  lock, sale, buyers, orders        ARGV  token, voucher, then by fours: verb, user, order, its former
-- text (see `order_text.rs`)
-- Verbs: keep (set the mark), enqueue (set the mark and append the order), drop (delete the mark if it is this order).
-- Gives 1, or 0 when the lock is somebody else's or the rebuild is over.

if redis.call('GET', KEYS[1]) ~= ARGV[1] or redis.call('HGET', KEYS[2], 'state') ~= 'rebuilding' then
    return 0
end
for i = 3, #ARGV, 4 do
    local verb, user, order, former = ARGV[i], ARGV[i + 1], ARGV[i + 2], ARGV[i + 3]
    if verb == 'drop' then
        local mark = redis.call('HGET', KEYS[3], user)
        if mark == order or mark == former then
            redis.call('HDEL', KEYS[3], user)
        end
    else
        if verb == 'enqueue' then
            redis.call('XADD', KEYS[4], '*', 'order', order, 'user', user, 'voucher', ARGV[2])
        end
        redis.call('HSET', KEYS[3], user, order)
    end
end
return 1
