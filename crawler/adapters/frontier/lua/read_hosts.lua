-- Read hosts. -> for each: next, blocked, learned, robots gap, robots known until, floor, in flight, paused, incidents

local found = {}
for i = 1, host_count do
  local h = host(i)
  local paused = h.paused and 1 or 0
  h.paused = false  -- read the time it would have without the pause
  found[i] = {
    host_time(h), h.blocked, h.learned, h.robots, h.robots_until, h.floor,
    redis.call('ZCOUNT', h.flying, now, '+inf'), paused, number(redis.call('HGET', h.info, 'incidents')),
  }
end
return found
