-- Register a shift as at work, and count the shifts. KEYS 1 shifts, 2 hint   ARGV 1 shift, 2 ttl ms   -> how many

local clock = redis.call('TIME')
local now = clock[1] * 1000 + math.floor(clock[2] / 1000)
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now)
-- The hint that started it is done: the next may be sent.
if redis.call('ZADD', KEYS[1], now + ARGV[2], ARGV[1]) == 1 then redis.call('DEL', KEYS[2]) end
return redis.call('ZCARD', KEYS[1])
