-- Library, loaded after pair_rules.lua: turns queued URLs of a pair into leases.
-- The gap is decided here (serve) and the host's turn taken (take_turn); domain/hosts/politeness.py has the numbers.
-- own: host cap, count, lease ms, hold ms, among how many shifts a host's cap is shared, free slots of all shifts

local count, lease_ms, hold_ms = tonumber(ARGV[own + 1]), tonumber(ARGV[own + 2]), tonumber(ARGV[own + 3])
local sharers, free = tonumber(ARGV[own + 4]), tonumber(ARGV[own + 5])
local lane = lanes

-- The time in ms, rounded up, so that a gap counted from it is never too short.
local claimed = now + 1
local deadline = now + lease_ms

-- A new token. Tokens follow the clock, so they grow even if the server loses its last second or all its data.
local token = math.max(number(redis.call('GET', KEYS[3])), now * 100)

local rows = {}
local claimed_text, deadline_text = whole(claimed), whole(deadline)

-- Earlier attempts, losses and hops of a URL. Most URLs have none, and most crawls no URL that has.
local function past_of(c, member)
  c.pasts = c.pasts or redis.call('HLEN', c.past)
  local past = c.pasts > 0 and redis.call('HGET', c.past, member)
  if not past then return '0', '0', '0', '' end
  redis.call('HDEL', c.past, member)
  return past:match('^(%d+) (%d+) (%d+) %d+\n(.*)$')
end

-- Make a lease for one request, and take its slots.
local function lease(p, member, score, fresh)
  local c, h = p.crawl, p.host
  local attempts, losses, hops, moved = past_of(c, member)
  token = token + 1
  local t = whole(token)
  c.batch = c.batch or {leases = {}, data = {}, flying = {}}
  h.batch = h.batch or {}
  local leases, data, flying, here = c.batch.leases, c.batch.data, c.batch.flying, h.batch
  local n = #flying
  leases[2 * n + 1], leases[2 * n + 2] = deadline_text, t
  data[2 * n + 1] = t
  data[2 * n + 2] = packed(lane, score, fresh, attempts, losses, hops, claimed_text, h.name, member, moved)
  flying[n + 1] = t
  n = #here
  here[n + 1], here[n + 2] = deadline_text, t
  c.slots, h.in_flight, h.taken, count = c.slots - 1, h.in_flight + 1, (h.taken or 0) + 1, count - 1
  p.taken, c.taken = p.taken + 1, c.taken + 1
  if free then free = free - 1 end
  rows[#rows + 1] = p.number_text .. '\n' .. t .. '\n' .. p.gap_text .. '\n' .. attempts .. '\n' .. losses .. '\n' ..
    hops .. '\n' .. (moved == '' and member or member:sub(1, 1) .. moved)
  return t
end

-- Set the host's next time: counted from now, held until the worker reports when the request was really sent.
local function take_turn(p, t)
  local h = p.host
  local gap = math.max(math.min(p.crawl.delay, SHARED_GAP), least_gap(h))
  h.prev_last, h.prev_gap = h.last, h.gap
  set_times(h, claimed, gap, p.gap > 0 and claimed + hold_ms or 0, p.gap > 0 and t or '')
  if p.crawl.delay > SHARED_GAP then redis.call('HSET', p.crawl.info, own_last(h), whole(claimed)) end
  if h.turn == p.crawl.name then set(h, 'turn', '') end
end

local function lease_robots(p)
  local head = redis.call('ZRANGE', p.free_count > 0 and p.free or p.fresh, 0, 0)[1]
  local origin = head:match('^.(%a+://[^/?#]+)') or 'http://' .. p.host.name
  local t = lease(p, 'r' .. origin .. '/robots.txt', '0', '0')
  set(p.host, 'robots_lease', deadline)
  set(p.host, 'robots_token', t)
  return t
end

local function lease_fresh(p, n)
  local c, t = p.crawl, nil
  local popped = redis.call('ZPOPMIN', p.fresh, math.max(0, math.min(n, c.pages, c.fetches)))
  for i = 1, #popped, 2 do t = lease(p, popped[i], popped[i + 1], '1') end
  local taken = #popped / 2
  p.fresh_count, c.pages, c.fetches = p.fresh_count - taken, c.pages - taken, c.fetches - taken
  c.fresh_taken = (c.fresh_taken or 0) + taken
  return t
end

local function lease_free(p)
  local popped = redis.call('ZPOPMIN', p.free, 1)
  p.free_count = p.free_count - 1
  p.crawl.free_taken = (p.crawl.free_taken or 0) + 1
  return lease(p, popped[1], popped[2], '0')
end

-- The URL with the lowest score, from either of the two queues.
local function free_is_next(p)
  if p.free_count == 0 then return false end
  if p.fresh_count == 0 or math.min(p.crawl.pages, p.crawl.fetches) < 1 then return true end
  local free = redis.call('ZRANGE', p.free, 0, 0, 'WITHSCORES')[2]
  local fresh = redis.call('ZRANGE', p.fresh, 0, 0, 'WITHSCORES')[2]
  return tonumber(free) < tonumber(fresh)
end

-- How many more leases this call may take at the host: its share of the limit, so that other shifts get theirs.
local function share(p)
  return math.min(host_room(p), math.ceil(host_cap(p) / sharers) - (p.host.taken or 0))
end

-- How many more requests this crawl may have in flight so that it has at most three times what then is still free: slow
-- hosts of one crawl, or of several, must never hold every slot.
local function fair_room(c)
  if not free then return c.slots end
  return math.min(c.slots, math.ceil((3 * free - (c.most - c.slots)) / 4))
end

-- Leases for one pair, at most n; if the host has a gap, exactly one.
local function serve(p, n)
  local c, h = p.crawl, p.host
  p.gap = math.max(c.delay, least_gap(h))
  p.number_text, p.gap_text = whole(p.number), whole(p.gap)  -- once, not for each lease
  if c.respects_robots and h.robots_until <= now then return take_turn(p, lease_robots(p)) end
  n = math.min(n, fair_room(c), share(p), p.gap > 0 and 1 or n)
  local t
  while n > 0 and p.fresh_count + p.free_count > 0 do
    local before = count
    if free_is_next(p) then
      t = lease_free(p)
    elseif p.free_count == 0 then
      t = lease_fresh(p, n) or t
    else
      t = lease_fresh(p, 1) or t
    end
    if count == before then break end
    n = n - (before - count)
  end
  if t then take_turn(p, t) end
end
