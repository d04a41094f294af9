-- Put expired leases of one crawl back into the queue with one loss more; after too many losses they stay out as
-- poison. Called by the reconciler (`handlers/crawls/reconcile.py`).
-- own: most losses, how many poison leases to return, then for each: pair, token
-- -> for each: epoch, poison (0 or 1), token, claimed, host, attempts, losses, hops, kind and URL
--
-- A poison URL stays leased under a new token until a worker completes it, however often that takes.

local most_losses, told = tonumber(ARGV[own]), tonumber(ARGV[own + 1])
local c = crawl(1)
local rows = {}

local function row(poison, token, l)
  rows[#rows + 1] = table.concat(
    {c.epoch, poison, token, l.claimed, l.host, l.attempts, l.losses, l.hops, target(l)}, '\n')
end

-- The worker may have sent this request and died before logging it: the politeness audit needs it.
local function remember(token, l)
  redis.call('ZADD', KEYS[4], token, table.concat({token, l.claimed, c.name, l.host, target(l)}, '\n'))
  redis.call('ZREMRANGEBYRANK', KEYS[4], 0, -100001)
end

local function poison(l)
  local token = whole(math.max(number(redis.call('GET', KEYS[3])), now * 100) + 1)
  redis.call('SET', KEYS[3], token)
  redis.call('HSET', c.data, token, pack(l))
  redis.call('SADD', c.poison, token)
end

local function lose(h, i, token, l)
  free_slot(h, token)
  if h.hold_token == token then requested(h, token, h.last) end
  remember(token, l)
  l.losses = l.losses + 1
  if l.kind == 'r' then
    free_robots(h, token)
  elseif l.losses >= most_losses then
    return poison(l)
  else
    -- It will be requested again; the first request may have been sent, too.
    if l.kind == 'p' and c.fetches > 0 then refund(c, 0, -1) end
    put_back(c, h, queues(i, l.lane), l)
  end
  row(0, token, l)
end

local tokens, pair_of = {}, {}
for a = own + 2, #ARGV, 2 do
  -- It may have ended since it was found to be late.
  local deadline = redis.call('ZSCORE', c.leases, ARGV[a + 1])
  if deadline and tonumber(deadline) <= now then
    tokens[#tokens + 1] = ARGV[a + 1]
    pair_of[ARGV[a + 1]] = tonumber(ARGV[a])
  end
end

local leases = take_away(c, tokens)
for _, token in ipairs(tokens) do
  local _, h = owners(pair_of[token])
  lose(h, pair_of[token], token, leases[token])
end

settle_hosts()
unpark(c)
for _, token in ipairs(redis.call('SRANDMEMBER', c.poison, told)) do
  row(1, token, unpacked(redis.call('HGET', c.data, token)))
end
return table.concat(rows, '\n')
