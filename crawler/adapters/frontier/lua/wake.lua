-- Whether to send a wake-up for so many ms from now: not if one as early, within a small margin, is already scheduled.
-- KEYS 1 wake   ARGV 1 ms   -> 1 or 0

local clock = redis.call('TIME')
local at = clock[1] * 1000 + math.floor(clock[2] / 1000) + ARGV[1]
local planned = redis.call('GET', KEYS[1])
if planned and tonumber(planned) <= at + 20 then return 0 end
redis.call('SET', KEYS[1], string.format('%.0f', at), 'PX', math.max(1, ARGV[1]))
return 1
