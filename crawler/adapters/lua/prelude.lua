-- Stands before every script of this folder: where a batch's keys are, and the moves the scripts share.
--
-- KEYS  1 ready (http)  2 ready (browser)  3 token  4 lost  5 crawls
--       then of each crawl  info leases data flying past poison parked broke hosts seen
--       then of each host   info flying waiters
--       then of each pair   fresh free later, for each lane of ARGV[1]
-- ARGV  1 lanes: 'h', 'b' or 'hb'  2 how many crawls  3 hosts  4 pairs
--       then the crawls' names, the hosts' names, for each pair the numbers of its crawl and its host,
--       and from ARGV[own] on what the script itself needs
--
-- What the keys mean is written at the head of redis_frontier.py.

local clock = redis.call('TIME')
local now = clock[1] * 1000 + math.floor(clock[2] / 1000)
local FOREVER = 2 ^ 52

local ready = {h = KEYS[1], b = KEYS[2]}
local lanes = ARGV[1]
local crawl_count, host_count, pair_count = tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])
local own = 5 + crawl_count + host_count + 2 * pair_count

-- tostring() keeps 14 digits; tokens have more.
local function whole(n) return string.format('%.0f', n) end

local function number(value) return tonumber(value or 0) end

---------------------------------------------------------------------------------------------------- loading

local crawls, hosts = {}, {}

local function crawl(i)
  if crawls[i] then return crawls[i] end
  local k = 5 + (i - 1) * 10
  local c = {
    name = ARGV[4 + i], info = KEYS[k + 1], leases = KEYS[k + 2], data = KEYS[k + 3], flying = KEYS[k + 4],
    past = KEYS[k + 5], poison = KEYS[k + 6], parked = KEYS[k + 7], broke = KEYS[k + 8], hosts = KEYS[k + 9],
    seen = KEYS[k + 10],
  }
  local v = redis.call('HMGET', c.info, 'epoch', 'max_concurrent', 'delay', 'robots', 'paused', 'building', 'pages',
    'fetches', 'free')
  c.open = v[1] ~= false
  c.epoch = v[1] or '0'
  c.max_concurrent, c.delay, c.respects_robots = number(v[2]), number(v[3]), v[4] == '1'
  c.building = number(v[6]) > 0
  c.stopped = v[5] == '1' or c.building
  c.pages, c.fetches, c.free = number(v[7]), number(v[8]), number(v[9])
  c.slots = c.max_concurrent - redis.call('SCARD', c.flying)
  crawls[i] = c
  return c
end

-- A host is read when it is first asked about: first its times, which change with each request, then its rules.
local rules = {__index = function(h, field)
  setmetatable(h, nil)
  local v = redis.call('HMGET', h.info, 'blocked', 'learned', 'robots', 'floor', 'robots_until', 'robots_lease',
    'robots_token', 'paused', 'turn', 'turn_until')
  h.blocked, h.learned, h.robots, h.floor = number(v[1]), number(v[2]), number(v[3]), number(v[4])
  h.robots_until, h.robots_lease, h.robots_token = number(v[5]), h.robots_lease or number(v[6]), v[7] or ''
  h.paused, h.turn, h.turn_until = v[8] == '1', v[9] or '', number(v[10])
  return h[field]
end}

local times = {__index = function(h, field)
  setmetatable(h, rules)
  local v = redis.call('HMGET', h.info, 'times', 'capped')
  local last, gap, hold, prev_last, prev_gap, token
  if v[1] then last, gap, hold, prev_last, prev_gap, token = v[1]:match('^(%d+) (%d+) (%d+) (%d+) (%d+) (%d*)$') end
  h.capped = v[2] == '1'
  h.last, h.gap, h.hold, h.hold_token = number(last), number(gap), number(hold), token or ''
  h.prev_last, h.prev_gap = number(prev_last), number(prev_gap)
  return h[field]
end}

local function host(i)
  if hosts[i] then return hosts[i] end
  local k = 5 + crawl_count * 10 + (i - 1) * 3
  hosts[i] = setmetatable({
    name = ARGV[4 + crawl_count + i], info = KEYS[k + 1], flying = KEYS[k + 2], waiters = KEYS[k + 3], changed = {},
    freed = false, retimed = false, moved = false,
  }, times)
  return hosts[i]
end

-- The three queues of a pair in one lane.
local function queues(i, lane)
  local k = 5 + crawl_count * 10 + host_count * 3 + (i - 1) * 3 * #lanes
  if #lanes == 2 and lane == 'b' then k = k + 3 end
  return {fresh = KEYS[k + 1], free = KEYS[k + 2], later = KEYS[k + 3]}
end

-- The crawl and the host of a pair.
local function owners(i)
  local a = 4 + crawl_count + host_count + 2 * i - 1
  return crawl(tonumber(ARGV[a])), host(tonumber(ARGV[a + 1]))
end

---------------------------------------------------------------------------------------------------- hosts

local function set(h, field, value)
  h[field] = value
  h.changed[field] = true
end

-- Changed times are kept apart from other changes: they are written together, as they are read.
local function set_times(h, last, gap, hold, token)
  h.moved = h.moved or h.gap > 0 or gap > 0  -- without gaps, no pair's time depends on them
  h.last, h.gap, h.hold, h.hold_token, h.retimed = last, gap, hold, token, true
end

local function save(h)
  local args = {}
  if h.retimed then
    args = {'times', string.format('%.0f %.0f %.0f %.0f %.0f %s', h.last, h.gap, h.hold, h.prev_last, h.prev_gap,
      h.hold_token)}
  end
  for field in pairs(h.changed) do
    local value = h[field]
    if type(value) == 'number' then value = whole(value) end
    if type(value) == 'boolean' then value = value and '1' or '0' end
    args[#args + 1] = field
    args[#args + 1] = value
  end
  if #args > 0 then redis.call('HSET', h.info, unpack(args)) end
end

-- The gap this host asks of everybody.
local function least_gap(h) return math.max(h.robots, h.learned, h.floor) end

-- When the host may be asked again, whoever asks. The last request's gap counts, and a slower one set since.
local function host_time(h)
  if h.paused then return FOREVER end
  local gap = math.max(h.gap, least_gap(h))
  return math.max(gap > 0 and h.last + gap or 0, h.hold, h.blocked)
end

-- Moves the host's pairs to its time, least recently served first, so that no crawl starves another there.
-- Pairs parked under their crawl stay parked (XX), pairs already due keep their place among the other hosts' (LT).
-- `mode` GT only delays.
local function rescore(h, mode)
  local t = host_time(h)
  if t <= now and mode == 'GT' then return end
  if t <= now then t, mode = now - 1, 'LT' end
  for rank, waiter in ipairs(redis.call('ZRANGE', h.waiters, 0, -1)) do
    local key, member = ready[waiter:sub(1, 1)], waiter:sub(2) .. '|' .. h.name
    local score = t + math.min(rank - 1, 1000) / 1024
    if mode then
      redis.call('ZADD', key, 'XX', mode, score, member)
    else
      redis.call('ZADD', key, 'XX', score, member)
    end
  end
end

-- A request of ours reached the server at `moment`. Whoever holds the host's next time gets it settled.
local function requested(h, token, moment)
  if h.hold_token == token then return set_times(h, moment, h.gap, 0, '') end
  h.prev_last = math.max(h.prev_last, moment)
  if moment > h.last then set_times(h, moment, h.gap, h.hold, h.hold_token) end
end

-- The request was never made: the host's time is what it was before the claim.
local function not_requested(h, token)
  if h.hold_token == token then set_times(h, h.prev_last, h.prev_gap, 0, '') end
end

-- A worker says how long after its claim the request went out; negative: none was made.
local function tell(h, token, claimed, lateness)
  if lateness < 0 then return not_requested(h, token) end
  requested(h, token, math.min(tonumber(claimed) + lateness, now + 1))
end

-- A request of ours is over: its slot is free.
local function free_slot(h, token)
  redis.call('ZREM', h.flying, token)
  h.freed = true
end

---------------------------------------------------------------------------------------------------- crawls

local function refund(c, pages, fetches)
  c.pages, c.fetches = c.pages + pages, c.fetches + fetches
  if pages ~= 0 then redis.call('HINCRBY', c.info, 'pages', pages) end
  if fetches ~= 0 then redis.call('HINCRBY', c.info, 'fetches', fetches) end
end

local function wake(c, key, count)
  if count < 1 then return end
  local woken = redis.call('ZPOPMIN', key, math.min(count, 64))
  for i = 1, #woken, 2 do
    redis.call('ZADD', ready[woken[i]:sub(1, 1)], 'LT', now - 1 + i / 1024, c.name .. '|' .. woken[i]:sub(2))
  end
end

-- As many parked pairs as could be served now become ready. A woken pair that cannot be served is no loss: each
-- claim that touches the crawl comes through here again.
local function unpark(c)
  if not c.open or c.stopped then return end
  wake(c, c.parked, c.max_concurrent - redis.call('SCARD', c.flying))
  wake(c, c.broke, math.min(c.pages, c.fetches))
end

-- Something waits for this pair now: it stands in line at the host and is ready when the host is, not before `at`.
local function join(c, h, lane, at)
  redis.call('ZADD', h.waiters, 'NX', now, lane .. c.name)
  redis.call('ZADD', c.hosts, 'NX', now, lane .. h.name)
  redis.call('ZADD', ready[lane], 'LT', math.max(at, host_time(h), now), c.name .. '|' .. h.name)
end

-- URLs came for a pair that had none. Hosts that have no rhythm of their own yet are spread over one gap, or all of
-- them beat as one; the golden ratio spreads any number of them evenly, and a crawl's first host is due at once.
local function welcome(c, h, lane)
  local at = 0
  if c.delay > 0 and now - h.last > 60000 then
    at = now + math.floor(c.delay * (redis.call('ZCARD', c.hosts) * 0.6180339887 % 1))
  end
  join(c, h, lane, at)
end

---------------------------------------------------------------------------------------------------- leases

-- What a lease must remember: lane score fresh attempts losses hops claimed / host / member / moved.
-- `member` names the URL for ever; `moved` is where it is fetched after a redirect in place.
local function pack(l)
  return l.lane .. ' ' .. l.score .. ' ' .. l.fresh .. ' ' .. l.attempts .. ' ' .. l.losses .. ' ' .. l.hops .. ' ' ..
    l.claimed .. '\n' .. l.host .. '\n' .. l.member .. '\n' .. l.moved
end

local function unpacked(raw)
  local lane, score, fresh, attempts, losses, hops, claimed, host, member, moved =
    raw:match('^(%a) (%d+) (%d) (%d+) (%d+) (%d+) (%d+)\n([^\n]*)\n([^\n]*)\n(.*)$')
  return {
    lane = lane, score = score, fresh = fresh, attempts = attempts, losses = losses, hops = hops, claimed = claimed,
    host = host, member = member, moved = moved, kind = member:sub(1, 1), silent = false,
  }
end

-- Where a lease's URL is fetched, behind its kind.
local function target(l)
  if l.moved ~= '' then return l.kind .. l.moved end
  return l.member
end

-- Ends leases, whoever held them. -> each by its token; those that nobody holds any more are missing.
-- `silent`: nobody said what became of its request.
local function take_away(c, tokens)
  local found = {}
  if #tokens == 0 then return found end
  local raws, flying = redis.call('HMGET', c.data, unpack(tokens)), redis.call('SMISMEMBER', c.flying, unpack(tokens))
  for n, token in ipairs(tokens) do
    if raws[n] then
      found[token] = unpacked(raws[n])
      found[token].silent = flying[n] == 1
    end
  end
  redis.call('HDEL', c.data, unpack(tokens))
  redis.call('ZREM', c.leases, unpack(tokens))
  redis.call('SREM', c.flying, unpack(tokens))
  redis.call('SREM', c.poison, unpack(tokens))
  return found
end

-- A robots.txt lease is over: another may be had.
local function free_robots(h, token)
  if h.robots_token == token then set(h, 'robots_lease', 0) end
end

local function keep_past(c, l)
  redis.call('HSET', c.past, l.member,
    l.attempts .. ' ' .. l.losses .. ' ' .. l.hops .. ' ' .. l.score .. '\n' .. l.moved)
end

-- Back into the queue as paid: it claims again without budget. With `at`, not before then.
local function put_back(c, h, q, l, at)
  keep_past(c, l)
  local added
  if at then
    added = redis.call('ZADD', q.later, at, l.member)
  else
    added = redis.call('ZADD', q.free, l.score, l.member)
  end
  redis.call('HINCRBY', c.info, 'free', added)
  join(c, h, l.lane, at or 0)
end

-- Slots came free or times changed at these hosts: pairs that waited for that are asked again.
local function settle_hosts()
  for _, h in pairs(hosts) do
    if h.freed and h.capped then
      set(h, 'capped', false)
      rescore(h)
    elseif h.moved or h.changed.robots_lease then
      rescore(h)
    end
    save(h)
  end
end

-- "crawl / token / host" of leases that ran out.
local function expired(i, count)
  local c, rows = crawl(i), {}
  for _, token in ipairs(redis.call('ZRANGEBYSCORE', c.leases, '-inf', now, 'LIMIT', 0, count)) do
    rows[#rows + 1] = i .. '\n' .. token .. '\n' .. unpacked(redis.call('HGET', c.data, token)).host
  end
  return rows
end
