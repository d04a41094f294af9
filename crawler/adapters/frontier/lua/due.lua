-- (crawl, host) pairs that may be requested now, or the milliseconds until the first that may.
-- KEYS 1 ready   ARGV 1 count   -> members joined by newlines, milliseconds ('' when nothing has a time)

local clock = redis.call('TIME')
local now = clock[1] * 1000 + math.floor(clock[2] / 1000)
local due = redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', now, 'LIMIT', 0, ARGV[1])
if #due > 0 then return {table.concat(due, '\n'), ''} end
local first = redis.call('ZRANGE', KEYS[1], 0, 0, 'WITHSCORES')[2]
-- The pairs of a paused host have a time in the far future.
if not first or tonumber(first) >= 2 ^ 52 then return {'', ''} end
return {'', string.format('%.0f', math.ceil(tonumber(first) - now))}
