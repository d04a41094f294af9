-- Library, loaded after leases.lua where URLs enter the frontier.

-- Add one entry of ARGV (score, hops, member from a + 3 on) to a pair's lines. Only pages take budget.
local function line_up(c, lines, a)
  local score, hops, member = ARGV[a + 3], ARGV[a + 4], ARGV[a + 5]
  local line = member:sub(1, 1) == 'p' and lines.fresh or lines.free
  line[#line + 1], line[#line + 2] = score, member
  if hops ~= '0' then
    keep_past(c, {member = member, attempts = 0, losses = 0, hops = hops, score = score, moved = ''})
  end
end

-- Add the lines to the pair's queues: pages in the crawl's own lane; sitemaps and probes in the HTTP lane, they never
-- need a browser. A pair whose queue was not empty already waits in the right place.
local function enqueue(c, i, lines)
  local _, h = owners(i)
  for name, line in pairs(lines) do
    if #line > 0 then
      local lane = name == 'fresh' and c.lane or 'h'
      local queue = queues(i, lane)[name]
      local added = redis.call('ZADD', queue, unpack(line))
      c.added[name] = c.added[name] + added
      if redis.call('ZCARD', queue) == added then welcome(c, h, lane) end
    end
  end
end

local function enqueue_all(c, queued)
  c.added = {fresh = 0, free = 0}
  for i, lines in pairs(queued) do enqueue(c, i, lines) end
  for name, count in pairs(c.added) do
    if count > 0 then redis.call('HINCRBY', c.info, name, count) end
  end
  if c.shared then redis.call('HINCRBY', c.info, 'arrivals', c.added.fresh + c.added.free) end
end

-- A process is still at the rebuild of this crawl.
local function alive(c)
  if c.building then redis.call('HSET', c.info, 'building', now) end
end
