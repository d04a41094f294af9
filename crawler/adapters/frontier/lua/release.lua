-- Put leases of one crawl back into the queue as if never claimed. own: for each pair, token
--
-- Only the host's time changes: unless reported otherwise, a request may have been sent until now.

local c = crawl(1)

local function give_back(h, l, i)
  local q = queues(i, l.lane)
  if l.fresh == '0' then return put_back(c, h, q, l) end
  if l.hops ~= '0' then keep_past(c, l) end
  redis.call('HINCRBY', c.info, 'fresh', redis.call('ZADD', q.fresh, l.score, l.member))
  refund(c, 1, 1)
  join(c, h, l.lane, 0)
end

local tokens = {}
for a = own, #ARGV, 2 do tokens[#tokens + 1] = ARGV[a + 1] end
local leases = take_away(c, tokens)

for n, token in ipairs(tokens) do
  local i = tonumber(ARGV[own + (n - 1) * 2])
  local _, h = owners(i)
  local l = leases[token]
  leases[token] = nil
  free_slot(h, token)
  if l and l.silent then requested(h, token, now + 1) end
  if l and l.kind == 'r' then
    free_robots(h, token)
  elseif l then
    give_back(h, l, i)
  end
end

settle_hosts()
unpark(c)
