-- Stands behind the prelude where URLs enter.

-- One entry of ARGV (score, hops, member from a + 3 on) joins a pair's lines. Only pages take budget.
local function line_up(c, lines, a)
  local score, hops, member = ARGV[a + 3], ARGV[a + 4], ARGV[a + 5]
  local line = member:sub(1, 1) == 'p' and lines.fresh or lines.free
  line[#line + 1], line[#line + 2] = score, member
  if hops ~= '0' then
    keep_past(c, {member = member, attempts = 0, losses = 0, hops = hops, score = score, moved = ''})
  end
end

local function enqueue(c, i, lines)
  local _, h = owners(i)
  local q = queues(i, 'h')
  for name, line in pairs(lines) do
    if #line > 0 then redis.call('HINCRBY', c.info, name, redis.call('ZADD', q[name], unpack(line))) end
  end
  welcome(c, h, 'h')
end

-- Somebody is still at the rebuild of this crawl.
local function alive(c)
  if c.building then redis.call('HSET', c.info, 'building', now) end
end
