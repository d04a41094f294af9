-- Library, loaded after layout.lua: when a host may be requested again (gap, block, pause), and which pairs then move.

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

-- A pair may be requested from `score` on; `mode` LT or GT: if that is sooner or later than what was so before.
local function set_ready(lane, crawl_name, host_name, score, mode)
  if mode then
    redis.call('ZADD', ready_hosts(lane, crawl_name), mode, score, host_name)
  else
    redis.call('ZADD', ready_hosts(lane, crawl_name), score, host_name)
  end
end

-- Still in this millisecond, behind the crawls that were served in it.
local LAST = now + 1023 / 1024

-- The crawl has its turn in this lane, from `at` on. One that waits for its turn already keeps its place.
local function join_turns(lane, crawl_name, at)
  redis.call('ZADD', ready[lane], 'LT', math.max(at, now), crawl_name)
end

-- The gap this host requires of every crawl.
local function least_gap(h) return math.max(h.robots, h.learned, h.floor) end

-- When the host may be requested again, by any crawl. The last request's gap counts, and a longer one set since.
local function host_time(h)
  if h.paused then return FOREVER end
  local gap = math.max(h.gap, least_gap(h))
  return math.max(gap > 0 and h.last + gap or 0, h.hold, h.blocked)
end

-- Move the host's pairs to its time, least recently served first, so that no crawl starves another there.
-- Pairs parked under their crawl stay parked (XX), pairs already due keep their place among other hosts' pairs (LT).
-- `mode` GT only delays.
local function rescore(h, mode)
  local t = host_time(h)
  if t <= now and mode == 'GT' then return end
  if t <= now then t, mode = now - 1, 'LT' end
  for rank, waiter in ipairs(redis.call('ZRANGE', h.waiters, 0, -1)) do
    local lane, name = waiter:sub(1, 1), waiter:sub(2)
    local key, score = ready_hosts(lane, name), t + math.min(rank - 1, 1000) / 1024
    if mode then
      redis.call('ZADD', key, 'XX', mode, score, h.name)
    else
      redis.call('ZADD', key, 'XX', score, h.name)
    end
    if mode ~= 'GT' then redis.call('ZADD', ready[lane], 'XX', 'LT', math.max(score, LAST), name) end
  end
end

-- A request reached the server at `moment`. If its token holds the host's next time, that becomes final.
local function requested(h, token, moment)
  if h.hold_token == token then return set_times(h, moment, h.gap, 0, '') end
  h.prev_last = math.max(h.prev_last, moment)
  if moment > h.last then set_times(h, moment, h.gap, h.hold, h.hold_token) end
end

-- The request was never sent: the host's time is what it was before the claim.
local function not_requested(h, token)
  if h.hold_token == token then set_times(h, h.prev_last, h.prev_gap, 0, '') end
end

-- A worker reports how long after its claim the request was sent; negative: it was not.
local function note_sent(h, token, claimed, lateness)
  if lateness < 0 then return not_requested(h, token) end
  requested(h, token, math.min(tonumber(claimed) + lateness, now + 1))
end

-- Requests have ended: free their slots.
local function free_slots(h, tokens)
  redis.call('ZREM', h.flying, unpack(tokens))
  h.freed = true
end

local function free_slot(h, token) free_slots(h, {token}) end

-- Slots came free or times changed at these hosts: pairs that waited for that are checked again.
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
