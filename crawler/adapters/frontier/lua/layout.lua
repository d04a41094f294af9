-- Library, loaded before every script that works on crawls, hosts and pairs: where their keys are, how they are read.
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

-- The hosts at which a crawl waits in this lane, by the time at which each is due.
local function ready_hosts(lane, crawl_name) return ready[lane] .. ':' .. crawl_name end

local lanes = ARGV[1]
local crawl_count, host_count, pair_count = tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])
local own = 5 + crawl_count + host_count + 2 * pair_count

-- tostring() keeps 14 digits; tokens have more.
local function whole(n) return string.format('%.0f', n) end

local function number(value) return tonumber(value or 0) end

-- A share of slots: how many, of which so many are asked back, and when they were.
local function read_slots(text)
  local held, asked, at = text:match('^(%d+) (%d+) (%d+)$')
  local s = {held = tonumber(held), asked = tonumber(asked), at = tonumber(at)}
  if now - s.at >= 1000 then s.asked = 0 end
  s.usable = math.max(0, s.held - s.asked)
  return s
end

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
    'fetches', 'free', 'lane', 'slots')
  c.open = v[1] ~= false
  c.epoch = v[1] or '0'
  c.max_concurrent, c.delay, c.respects_robots = number(v[2]), number(v[3]), v[4] == '1'
  c.building = number(v[6]) > 0
  c.stopped = v[5] == '1' or c.building
  c.pages, c.fetches, c.free = number(v[7]), number(v[8]), number(v[9])
  c.lane = v[10] or 'h'
  -- On one of several servers: how many of the crawl's slots it has (share.lua).
  c.shared = v[11] and read_slots(v[11])
  c.most = c.shared and c.shared.usable or c.max_concurrent
  c.slots = c.most - redis.call('SCARD', c.flying)
  crawls[i] = c
  return c
end

-- A host is read on first use: first its times, which change with each request, then its rules.
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
