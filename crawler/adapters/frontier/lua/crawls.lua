-- Library, loaded after host_rules.lua: a crawl's budget, its parked pairs, and how a pair is queued at its host.

local function refund(c, pages, fetches)
  c.pages, c.fetches = c.pages + pages, c.fetches + fetches
  if pages ~= 0 then redis.call('HINCRBY', c.info, 'pages', pages) end
  if fetches ~= 0 then redis.call('HINCRBY', c.info, 'fetches', fetches) end
end

local function wake(c, key, count)
  if count < 1 then return end
  local woken = redis.call('ZPOPMIN', key, math.min(count, 64))
  for i = 1, #woken, 2 do
    local lane = woken[i]:sub(1, 1)
    set_ready(lane, c.name, woken[i]:sub(2), now - 1 + i / 1024, 'LT')
    join_turns(lane, c.name, LAST)
  end
end

-- Make as many parked pairs ready as could be served now. A pair that then cannot be served is no loss: each claim for
-- the crawl runs this again.
local function unpark(c)
  if not c.open or c.stopped then return end
  wake(c, c.parked, c.most - redis.call('SCARD', c.flying))
  wake(c, c.broke, math.min(c.pages, c.fetches))
end

-- The pair has work now: it waits in line at the host, and is ready when the host is, not before `at`.
local function join(c, h, lane, at)
  redis.call('ZADD', h.waiters, 'NX', now, lane .. c.name)
  redis.call('ZADD', c.hosts, 'NX', now, lane .. h.name)
  local due = math.max(at, host_time(h), now)
  set_ready(lane, c.name, h.name, due, 'LT')
  join_turns(lane, c.name, due)
end

-- URLs arrived for a pair that had none. Hosts without an earlier request are spread over one gap, or all would be due
-- at the same moment. The golden ratio spreads any number of them evenly; a crawl's first host is due at once.
local function welcome(c, h, lane)
  local at = 0
  if c.delay > 0 and now - h.last > 60000 then
    at = now + math.floor(c.delay * (redis.call('ZCARD', c.hosts) * 0.6180339887 % 1))
  end
  join(c, h, lane, at)
end
