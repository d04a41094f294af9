-- Library, loaded after leases.lua: whether a (crawl, host) pair can be requested, and if not, why and until when.

local HOST_CAP = tonumber(ARGV[own])  -- of domain/hosts/politeness.py

-- In ms: MAX_SHARED_DELAY_SECONDS of domain/hosts/politeness.py.
local SHARED_GAP = 10000

local function own_last(h) return 'last ' .. h.name end

-- When the crawl may request this host again by its own delay; whether others have to leave it that gap.
local function own_time(c, h)
  if c.delay <= SHARED_GAP then return h.last + c.delay, true end
  local mine = number(redis.call('HGET', c.info, own_last(h))) + c.delay
  if mine > now then return mine, false end
  return h.last + SHARED_GAP, true
end

-- How many URLs a pair has queued in this lane. Retries whose time has come go back to their place in the queue.
local function load_pair(i, lane, ripens)
  local p = queues(i, lane)
  p.number, p.lane = i, lane
  p.crawl, p.host = owners(i)
  p.host.in_flight = p.host.in_flight or redis.call('ZCARD', p.host.flying)
  p.fresh_count, p.free_count = redis.call('ZCARD', p.fresh), 0
  if p.crawl.free < 1 then return p end
  if ripens then
    for _, member in ipairs(redis.call('ZRANGEBYSCORE', p.later, '-inf', now, 'LIMIT', 0, 64)) do
      local score = redis.call('HGET', p.crawl.past, member):match('^%d+ %d+ %d+ (%d+)\n')
      redis.call('ZREM', p.later, member)
      redis.call('ZADD', p.free, score, member)
    end
  end
  p.free_count = redis.call('ZCARD', p.free)
  p.retry_at = tonumber(redis.call('ZRANGE', p.later, 0, 0, 'WITHSCORES')[2])
  return p
end

-- Another crawl waits here and did not ask for more than the common limit: then none gets more.
local function shared_with_others(c, h)
  h.waiting = h.waiting or redis.call('ZCARD', h.waiters)
  if h.waiting < 2 then return false end
  for _, waiter in ipairs(redis.call('ZRANGE', h.waiters, 0, -1)) do
    local lane, name = waiter:sub(1, 1), waiter:sub(2)
    if name ~= c.name and number(redis.call('HGET', KEYS[5], name)) <= HOST_CAP
      and redis.call('ZSCORE', ready_hosts(lane, name), h.name) then
      return true
    end
  end
  return false
end

-- How many requests this crawl allows in flight at the host.
local function host_cap(p)
  local c = p.crawl
  if not p.cap then
    local more = c.delay == 0 and c.max_concurrent > HOST_CAP and not shared_with_others(c, p.host)
    p.cap = more and c.max_concurrent or HOST_CAP
  end
  return p.cap
end

local function host_room(p)
  local h, cap = p.host, host_cap(p)
  if h.in_flight >= cap then
    -- Requests of expired leases, whose workers died: nothing else frees their slots.
    h.in_flight = h.in_flight - redis.call('ZREMRANGEBYSCORE', h.flying, '-inf', now)
  end
  return cap - h.in_flight
end

-- Where a pair has to wait that cannot be requested now: 'gone', 'parked' or 'broke' under its crawl, or 'at' a time;
-- then the time, and the reason. nil: it can be requested.
local function hindrance(p)
  local c, h = p.crawl, p.host
  if not c.open then return 'gone' end
  if p.fresh_count + p.free_count == 0 then
    if p.retry_at then return 'at', p.retry_at, 'retry' end
    return 'gone'
  end
  if c.stopped then return 'parked', nil, 'paused' end
  if h.paused then return 'at', FOREVER, 'paused' end
  if c.slots < 1 then return 'parked', nil, 'crawl_cap' end
  if p.free_count == 0 and math.min(c.pages, c.fetches) < 1 then return 'broke', p.retry_at, 'budget' end
  local t = host_time(h)
  if t > now then return 'at', t, h.blocked > now and 'blocked' or 'gap' end
  -- The slower crawl of a host must keep its own gap too. It takes the turn, or a faster one would never leave that
  -- gap.
  if c.delay > 0 then
    local mine, is_shared = own_time(c, h)
    if mine > now then return 'at', mine, is_shared and 'turn' or 'gap' end
  end
  if h.turn ~= '' and h.turn ~= c.name and h.turn_until > now then return 'at', h.turn_until, 'gap' end
  if c.respects_robots and h.robots_until <= now and h.robots_lease > now then return 'at', h.robots_lease, 'robots' end
  if host_room(p) < 1 then
    local first = redis.call('ZRANGE', h.flying, 0, 0, 'WITHSCORES')[2]
    return 'at', number(first) + 1, 'host_cap'
  end
  return nil
end
