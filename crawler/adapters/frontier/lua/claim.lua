-- Claim leases for these (crawl, host) pairs, each within every limit of its host and its crawl.
-- own: host cap, count, lease ms, hold ms, among how many shifts a host's cap is shared, free slots of all shifts
-- ('' when any crawl may take them all)
-- -> time of the claim, the epoch of each crawl, and for each lease: pair, token, gap, attempts, losses, hops,
-- kind+URL;
--    the leases that expired; and of each crawl whose share of budget or slots ran out on this server: its number,
--    pages, fetches, free slots and slots it has

local function write(c)
  local b = c.batch
  if not b then return end
  redis.call('ZADD', c.leases, unpack(b.leases))
  redis.call('HSET', c.data, unpack(b.data))
  redis.call('SADD', c.flying, unpack(b.flying))
  if c.fresh_taken then
    redis.call('HINCRBY', c.info, 'fresh', 0 - c.fresh_taken)
    redis.call('HINCRBY', c.info, 'pages', 0 - c.fresh_taken)
    redis.call('HINCRBY', c.info, 'fetches', 0 - c.fresh_taken)
  end
  if c.free_taken then redis.call('HINCRBY', c.info, 'free', 0 - c.free_taken) end
end

-- A slower crawl that waits for its own gap has the next turn at the host.
local function ask_turn(p, at)
  local h = p.host
  if h.turn_until <= now or h.turn == '' then
    set(h, 'turn', p.crawl.name)
    set(h, 'turn_until', at + 2000)
  end
end

local function wait_for_host(p, at, why)
  local h = p.host
  if why == 'host_cap' and not h.capped then set(h, 'capped', true) end
  if why == 'turn' then ask_turn(p, at) end
  set_ready(lane, p.crawl.name, h.name, at, 'GT')
end

-- The pair waits for its crawl. Without budget it may still have a paid URL to retry later.
local function wait_for_crawl(p, where, at)
  p.crawl.wants = not p.crawl.stopped
  redis.call('ZADD', p.crawl[where], 'NX', now, lane .. p.host.name)
  if at then
    set_ready(lane, p.crawl.name, p.host.name, at)
  else
    redis.call('ZREM', ready_hosts(lane, p.crawl.name), p.host.name)
  end
end

local function leave(p)
  redis.call('ZREM', ready_hosts(lane, p.crawl.name), p.host.name)
  redis.call('ZREM', p.host.waiters, lane .. p.crawl.name)
  redis.call('ZREM', p.crawl.hosts, lane .. p.host.name)
  if not p.crawl.open then redis.call('UNLINK', p.fresh, p.free, p.later) end
end

-- Put each pair where it has to wait next. Of the pairs served now, the one that got less comes first the next time.
local function place(p)
  local where, at, why = hindrance(p)
  local rank = math.min(p.taken, 1000) / 1024
  if p.taken > 0 and p.host.shared then
    redis.call('ZADD', p.host.waiters, 'XX', now + rank, lane .. p.crawl.name)
  end
  if where == 'at' then return wait_for_host(p, at, why) end
  if where == 'gone' then return leave(p) end
  if where then return wait_for_crawl(p, where, at) end
  if p.taken > 0 then
    set_ready(lane, p.crawl.name, p.host.name, now - 1 + rank)
  else
    set_ready(lane, p.crawl.name, p.host.name, now - 1, 'LT')
  end
end

-- Crawls that were served go behind all that wait for their turn; of those served now, the one that got less comes
-- first. One that already has all its slots goes behind, too: it must not hide others. Whether a crawl has work for its
-- next turn is looked at then (due.lua).
local function pass_turn(c)
  if not c.open then return end
  local full = fair_room(c) < 1
  if c.taken > 0 or full then
    redis.call('ZADD', ready[lane], now + (full and 1000 or math.min(c.taken, 1000)) / 1024, c.name)
  else
    join_turns(lane, c.name, now)
  end
end

local batch, by_crawl = {}, {}
for i = 1, crawl_count do
  by_crawl[i] = {}
  crawl(i).taken, crawl(i).pairs = 0, by_crawl[i]
end
for i = 1, pair_count do
  local p = load_pair(i, lane, true)
  p.taken = 0
  p.host.asked = (p.host.asked or 0) + 1
  batch[i], p.crawl.pairs[#p.crawl.pairs + 1] = p, p
end

-- Before any of them is served: a faster crawl of the host would take its time again and again.
for _, p in ipairs(batch) do
  if p.host.asked > 1 and p.crawl.delay > 0 then
    local _, at, why = hindrance(p)
    if why == 'turn' then ask_turn(p, at) end
  end
end

-- First give each crawl a fair share of the leases, and each of its pairs a fair share of that and of its host's slots;
-- then the rest to whoever can use it.
local function may_serve(p) return count > 0 and fair_room(p.crawl) > 0 and not hindrance(p) end

for i, mine in ipairs(by_crawl) do
  local left = math.ceil(count / (crawl_count - i + 1))
  for j, p in ipairs(mine) do
    if left > 0 and may_serve(p) then
      serve(p, math.min(math.ceil(left / (#mine - j + 1)), math.ceil(host_room(p) / p.host.asked)))
      left = left - p.taken
    end
    p.host.asked = p.host.asked - 1
  end
end
for _, p in ipairs(batch) do
  if may_serve(p) then serve(p, count) end
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
for _, c in pairs(crawls) do
  unpark(c)
  pass_turn(c)
end

if #rows > 0 then redis.call('SET', KEYS[3], whole(token)) end

local text, late, wants = {claimed_text}, {}, {}
for i = 1, crawl_count do
  local c = crawl(i)
  text[#text + 1] = c.epoch
  for _, row in ipairs(expired(i, 64)) do late[#late + 1] = row end
  if c.shared and c.wants then wants[#wants + 1] = table.concat({i, c.pages, c.fetches, c.slots, c.most}, ' ') end
end
for _, row in ipairs(rows) do text[#text + 1] = row end
return {table.concat(text, '\n'), table.concat(late, '\n'), table.concat(wants, '\n')}
