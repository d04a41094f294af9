-- Library, loaded after crawls.lua: what a lease stores, how it ends, how its URL goes back into the queue.

-- The fields of a stored lease: lane score fresh attempts losses hops claimed / host / member / moved.
-- `member` names the URL for good; `moved` is where it is fetched after a redirect to the same normalized URL.
local function packed(lane, score, fresh, attempts, losses, hops, claimed, host, member, moved)
  return lane .. ' ' .. score .. ' ' .. fresh .. ' ' .. attempts .. ' ' .. losses .. ' ' .. hops .. ' ' .. claimed ..
    '\n' .. host .. '\n' .. member .. '\n' .. moved
end

local function pack(l)
  return packed(l.lane, l.score, l.fresh, l.attempts, l.losses, l.hops, l.claimed, l.host, l.member, l.moved)
end

local function unpacked(raw)
  local lane, score, fresh, attempts, losses, hops, claimed, host, member, moved =
    raw:match('^(%a) (%d+) (%d) (%d+) (%d+) (%d+) (%d+)\n([^\n]*)\n([^\n]*)\n(.*)$')
  return {
    lane = lane, score = score, fresh = fresh, attempts = attempts, losses = losses, hops = hops, claimed = claimed,
    host = host, member = member, moved = moved, kind = member:sub(1, 1), silent = false,
  }
end

-- A lease that is unpacked only when a field other than its kind is read: a lease that ends normally needs none.
local folded = {__index = function(l, field)
  setmetatable(l, nil)
  for name, value in pairs(unpacked(l.raw)) do
    if l[name] == nil then l[name] = value end
  end
  return l[field]
end}

local function fold(raw, silent)
  local member = raw:find('\n', raw:find('\n', 1, true) + 1, true) + 1
  return setmetatable({raw = raw, kind = raw:sub(member, member), silent = silent}, folded)
end

-- The URL at which a lease is fetched, without its kind.
local function target(l)
  if l.moved ~= '' then return l.kind .. l.moved end
  return l.member
end

-- End leases, whoever held them. -> leases by token; those no longer held are missing.
-- `silent`: no worker reported what became of the request.
local function take_away(c, tokens)
  local found = {}
  if #tokens == 0 then return found end
  local raws, flying = redis.call('HMGET', c.data, unpack(tokens)), redis.call('SMISMEMBER', c.flying, unpack(tokens))
  for n, token in ipairs(tokens) do
    if raws[n] then found[token] = fold(raws[n], flying[n] == 1) end
  end
  redis.call('HDEL', c.data, unpack(tokens))
  redis.call('ZREM', c.leases, unpack(tokens))
  redis.call('SREM', c.flying, unpack(tokens))
  redis.call('SREM', c.poison, unpack(tokens))
  return found
end

-- A robots.txt lease has ended: another may be claimed.
local function free_robots(h, token)
  if h.robots_token == token then set(h, 'robots_lease', 0) end
end

local function keep_past(c, l)
  redis.call('HSET', c.past, l.member,
    l.attempts .. ' ' .. l.losses .. ' ' .. l.hops .. ' ' .. l.score .. '\n' .. l.moved)
end

-- Put a URL back into the queue as paid: it can be claimed without budget. With `at`, not before then.
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

-- "crawl / token / host" of each expired lease.
local function expired(i, count)
  local c, rows = crawl(i), {}
  for _, token in ipairs(redis.call('ZRANGEBYSCORE', c.leases, '-inf', now, 'LIMIT', 0, count)) do
    rows[#rows + 1] = i .. '\n' .. token .. '\n' .. unpacked(redis.call('HGET', c.data, token)).host
  end
  return rows
end
