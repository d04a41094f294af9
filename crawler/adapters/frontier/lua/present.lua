-- Whether a live worker can work on a queue.  KEYS 1 the queue's workers
-- ARGV 1 grace ms, 2 ttl ms, and for a worker that reports: 3 its name, 4 'able' or 'unable' and more words
-- -> 1 or 0
--
-- Each worker reports for itself, in a field 'w:<name>' of '<ms> <able or unable> …'. One that does not report for too
-- long is gone. A queue without any report counts as having workers: they may be starting.

local clock = redis.call('TIME')
local now = clock[1] * 1000 + math.floor(clock[2] / 1000)
local grace = tonumber(ARGV[1])
if ARGV[3] then redis.call('HSET', KEYS[1], 'w:' .. ARGV[3], now .. ' ' .. ARGV[4]) end

local told, able, asked = redis.call('HGETALL', KEYS[1]), nil, nil
for i = 1, #told, 2 do
  local field = told[i]
  if field == 'asked' then asked = tonumber(told[i + 1]) end
  if string.sub(field, 1, 2) == 'w:' then
    local at, state = string.match(told[i + 1], '^(%d+) (%a+)')
    if not at or now - at > grace then
      redis.call('HDEL', KEYS[1], field)
    else
      able = able or state == 'able'
    end
  end
end
if able == nil then
  if not asked then
    asked = now
    redis.call('HSET', KEYS[1], 'asked', now)
  end
  able = now - asked <= grace
else
  redis.call('HSETNX', KEYS[1], 'asked', now - grace - 1)
end
redis.call('PEXPIRE', KEYS[1], ARGV[2])
return able and 1 or 0
