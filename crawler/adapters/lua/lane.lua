-- Is somebody there to work in a lane?  KEYS 1 lane   ARGV 1 '' to ask, 'open' or 'none' to tell, 2 grace ms, 3 ttl ms
-- -> 1 or 0
--
-- A lane nobody has told of is expected to open: its workers may be starting, too.

local clock = redis.call('TIME')
local now = clock[1] * 1000 + math.floor(clock[2] / 1000)
local told = redis.call('HMGET', KEYS[1], 'state', 'at')
local state, fresh = told[1], told[2] and now - told[2] <= tonumber(ARGV[2])

local news = ARGV[1]
if news == '' and not state then news = 'expected' end
-- One worker that cannot does not speak for another that can.
if news ~= '' and not (news == 'none' and state == 'open' and fresh) then
  redis.call('HSET', KEYS[1], 'state', news, 'at', now)
  state, fresh = news, true
end
redis.call('PEXPIRE', KEYS[1], ARGV[3])
return state ~= 'none' and fresh and 1 or 0
