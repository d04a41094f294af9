-- Leases for these pairs, each within every limit of its host and its crawl.
-- own: host cap, count, lease ms, hold ms, among how many shifts a host's cap is shared
-- -> "claimed / epoch of each crawl / of each lease: pair, token, gap, attempts, losses, hops, kind+URL", and what ran out

local count, lease_ms, hold_ms = tonumber(ARGV[own + 1]), tonumber(ARGV[own + 2]), tonumber(ARGV[own + 3])
local sharers = tonumber(ARGV[own + 4])
local lane = lanes

-- Rounded up: a gap counted from it is never short by the part of a millisecond that was cut off.
local claimed = now + 1
local deadline = now + lease_ms

-- Tokens follow the clock, so they grow even if the server forgets its last second or all it knew.
local token = math.max(number(redis.call('GET', KEYS[3])), now * 100)

local rows = {}
local claimed_text, deadline_text = whole(claimed), whole(deadline)

-- What a URL went through already. Most have nothing, and most crawls no URL that has.
local function past_of(c, member)
  c.pasts = c.pasts or redis.call('HLEN', c.past)
  local past = c.pasts > 0 and redis.call('HGET', c.past, member)
  if not past then return '0', '0', '0', '' end
  redis.call('HDEL', c.past, member)
  return past:match('^(%d+) (%d+) (%d+) %d+\n(.*)$')
end

-- One more request: remember it as a lease, take its slots.
local function lease(p, member, score, fresh)
  local c, h = p.crawl, p.host
  local attempts, losses, hops, moved = past_of(c, member)
  token = token + 1
  local t = whole(token)
  local l = {
    lane = lane, score = score, fresh = fresh, attempts = attempts, losses = losses, hops = hops,
    claimed = claimed_text, host = h.name, member = member, moved = moved, kind = member:sub(1, 1),
  }
  c.batch = c.batch or {leases = {}, data = {}, flying = {}}
  h.batch = h.batch or {}
  local leases, data, flying, here = c.batch.leases, c.batch.data, c.batch.flying, h.batch
  local n = #flying
  leases[2 * n + 1], leases[2 * n + 2] = deadline_text, t
  data[2 * n + 1], data[2 * n + 2] = t, pack(l)
  flying[n + 1] = t
  n = #here
  here[n + 1], here[n + 2] = deadline_text, t
  c.slots, h.in_flight, h.taken, count = c.slots - 1, h.in_flight + 1, (h.taken or 0) + 1, count - 1
  p.taken = p.taken + 1
  rows[#rows + 1] = p.number .. '\n' .. t .. '\n' .. p.gap .. '\n' .. attempts .. '\n' .. losses .. '\n' .. hops ..
    '\n' .. target(l)
  return t
end

-- The host's next time: counted from now, held back until the worker says when the request really went out.
local function take_turn(p, t)
  local h = p.host
  h.prev_last, h.prev_gap = h.last, h.gap
  set_times(h, claimed, p.gap, p.gap > 0 and claimed + hold_ms or 0, p.gap > 0 and t or '')
  if h.turn == p.crawl.name then set(h, 'turn', '') end
end

local function lease_robots(p)
  local head = redis.call('ZRANGE', p.free_count > 0 and p.free or p.fresh, 0, 0)[1]
  local t = lease(p, 'r' .. head:match('^.(%a+://[^/?#]+)') .. '/robots.txt', '0', '0')
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

-- The lowest score first, whichever of the two queues it stands in.
local function free_is_next(p)
  if p.free_count == 0 then return false end
  if p.fresh_count == 0 or math.min(p.crawl.pages, p.crawl.fetches) < 1 then return true end
  local free = redis.call('ZRANGE', p.free, 0, 0, 'WITHSCORES')[2]
  local fresh = redis.call('ZRANGE', p.fresh, 0, 0, 'WITHSCORES')[2]
  return tonumber(free) < tonumber(fresh)
end

-- How many more this call may take at the host: its part of the cap, so that other shifts get theirs.
local function share(p)
  return math.min(host_room(p), math.ceil(host_cap(p) / sharers) - (p.host.taken or 0))
end

-- Leases for one pair, at most n; with a gap exactly one.
local function serve(p, n)
  local c, h = p.crawl, p.host
  p.gap = math.max(c.delay, least_gap(h))
  if c.respects_robots and h.robots_until <= now then return take_turn(p, lease_robots(p)) end
  n = math.min(n, c.slots, share(p), p.gap > 0 and 1 or n)
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

local function write(c)
  local b = c.batch
  if not b then return end
  redis.call('ZADD', c.leases, unpack(b.leases))
  redis.call('HSET', c.data, unpack(b.data))
  redis.call('SADD', c.flying, unpack(b.flying))
  if c.fresh_taken then
    redis.call('HINCRBY', c.info, 'fresh', -c.fresh_taken)
    redis.call('HINCRBY', c.info, 'pages', -c.fresh_taken)
    redis.call('HINCRBY', c.info, 'fetches', -c.fresh_taken)
  end
  if c.free_taken then redis.call('HINCRBY', c.info, 'free', -c.free_taken) end
end

-- Each pair goes to where it has to wait next.
local function place(p)
  local c, h = p.crawl, p.host
  local where, at, why = hindrance(p)
  local rank = math.min(p.taken, 1000) / 1024  -- of those served now, who got less comes first next time
  if p.taken > 0 and h.shared then redis.call('ZADD', h.waiters, 'XX', now + rank, lane .. c.name) end
  if where == 'at' then
    if why == 'host_cap' and not h.capped then set(h, 'capped', true) end
    if why == 'turn' and (h.turn_until <= now or h.turn == '') then
      set(h, 'turn', c.name)
      set(h, 'turn_until', at + 2000)
    end
    redis.call('ZADD', ready[lane], 'GT', at, p.member)
    return
  end
  if not where then
    if p.taken > 0 then
      redis.call('ZADD', ready[lane], now - 1 + rank, p.member)
    else
      redis.call('ZADD', ready[lane], 'LT', now - 1, p.member)
    end
    return
  end
  if at then
    redis.call('ZADD', ready[lane], at, p.member)  -- without budget it still has a paid URL to try again then
  else
    redis.call('ZREM', ready[lane], p.member)
  end
  if where == 'gone' then
    redis.call('ZREM', h.waiters, lane .. c.name)
    redis.call('ZREM', c.hosts, lane .. h.name)
    if not c.open then redis.call('UNLINK', p.fresh, p.free, p.later) end
  else
    redis.call('ZADD', c[where], 'NX', now, lane .. h.name)
  end
end

local batch = {}
for i = 1, pair_count do
  batch[i] = load_pair(i, lane, true)
  batch[i].taken = 0
  batch[i].host.asked = (batch[i].host.asked or 0) + 1
end

-- First everybody a fair share of the leases and of its host's slots, then what is left to whoever can use it.
for i, p in ipairs(batch) do
  if count < 1 then break end
  if not hindrance(p) then
    serve(p, math.min(math.ceil(count / (pair_count - i + 1)), math.ceil(host_room(p) / p.host.asked)))
  end
  p.host.asked = p.host.asked - 1
end
for _, p in ipairs(batch) do
  if count < 1 then break end
  if not hindrance(p) then serve(p, count) end
end

for _, c in pairs(crawls) do write(c) end
for _, h in pairs(hosts) do
  if h.batch then
    redis.call('ZADD', h.flying, unpack(h.batch))
    h.waiting = h.waiting or redis.call('ZCARD', h.waiters)
    h.shared = h.waiting > 1
  end
end
for _, p in ipairs(batch) do place(p) end
for _, h in pairs(hosts) do
  save(h)
  if h.batch and h.shared then rescore(h, 'GT') end
end
for _, c in pairs(crawls) do unpark(c) end

if #rows > 0 then redis.call('SET', KEYS[3], whole(token)) end

local text, late = {claimed_text}, {}
for i = 1, crawl_count do
  text[#text + 1] = crawl(i).epoch
  for _, row in ipairs(expired(i, 64)) do late[#late + 1] = row end
end
for _, row in ipairs(rows) do text[#text + 1] = row end
return {table.concat(text, '\n'), table.concat(late, '\n')}
