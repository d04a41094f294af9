-- Change a host's state: robots, block, pause, delay. own: what, then its values (times in ms from now, gaps in ms)

local h = host(1)
local what = ARGV[own]
local known = h.paused ~= nil  -- read all of it before any of it changes
local function value(n) return tonumber(ARGV[own + n]) end

if what == 'robots' then
  set(h, 'robots_until', value(1) > 0 and now + value(1) or 0)
  if value(1) > 0 then set(h, 'robots', value(2)) end
  set(h, 'robots_lease', 0)
elseif what == 'block' then
  -- Of two blocks the longer counts; zero lifts the block.
  set(h, 'blocked', value(1) > 0 and math.max(h.blocked, now + value(1)) or 0)
  set(h, 'learned', value(2))
  set(h, 'incidents', value(3))
elseif what == 'pause' then
  set(h, 'paused', value(1) == 1)
elseif what == 'floor' then
  set(h, 'floor', value(1))
end
save(h)
rescore(h)

-- The state of a host without requests expires, unless an operator has set something for it.
if h.paused or h.floor > 0 then
  redis.call('PERSIST', h.info)
else
  redis.call('EXPIRE', h.info, 8 * 86400)
end
