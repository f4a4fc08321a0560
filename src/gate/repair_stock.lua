-- Puts units right that are in no place, or in two: adds the drift to the stock, if it is what two looks have found.
-- KEYS  lock, sale, stock, buyers        ARGV  token, drift
-- Gives 1 when the stock has changed; 0 when the lock is somebody else's, the drift is another one, or there is nothing
-- in the stock to take away.

local function failed(reply)
    return type(reply) == 'table' and reply.err ~= nil
end

local sale = redis.pcall('HMGET', KEYS[2], 'state', 'granted')
local stock = redis.pcall('GET', KEYS[3])
local marks = redis.pcall('HLEN', KEYS[4])
if redis.call('GET', KEYS[1]) ~= ARGV[1] or failed(sale) or failed(stock) or failed(marks) then
    return 0
end
local granted = tonumber(sale[2])
if not granted or sale[1] == 'rebuilding' or not stock or not (stock == '0' or string.find(stock, '^[1-9]%d*$')) then
    return 0
end
local held = tonumber(stock)
local drift = granted - (held + marks)
local repaired = math.max(0, held + drift)
if drift ~= tonumber(ARGV[2]) or repaired == held then
    return 0
end
redis.call('SET', KEYS[3], string.format('%.0f', repaired))
return 1
