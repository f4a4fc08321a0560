-- Reads one sale as the gate has it, in one step, so that the figures belong together.
-- KEYS  sale, stock, buyers
-- Gives {now in ms, state, version, granted, begins, ends, stock, marks}; '' for what is missing or malformed.

local function text(reply)
    if type(reply) == 'string' then
        return reply
    end
    return ''
end

local time = redis.call('TIME')
local sale = redis.pcall('HMGET', KEYS[1], 'state', 'version', 'granted', 'begins', 'ends')
if sale.err then
    sale = {}
end
local stock = text(redis.pcall('GET', KEYS[2]))
if not (stock == '0' or string.find(stock, '^[1-9]%d*$')) then
    stock = ''
end
local marks = redis.pcall('HLEN', KEYS[3])
if type(marks) ~= 'number' then
    marks = ''
end
local now = time[1] * 1000 + math.floor(time[2] / 1000)
return {string.format('%.0f', now), text(sale[1]), text(sale[2]), text(sale[3]), text(sale[4]), text(sale[5]), stock,
    tostring(marks)}
