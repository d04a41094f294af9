-- Leases go back as if never claimed. own: for each pair, token
--
-- Only the host's time remembers: unless somebody said otherwise, a request may have gone out until now.

for a = own, #ARGV, 2 do
  local i, token = tonumber(ARGV[a]), ARGV[a + 1]
  local c, h = owners(i)
  local l = take_away(c, h, token)
  if l and l.silent then requested(h, token, now + 1) end
  if l and l.kind ~= 'r' then
    local q = queues(i, l.lane)
    if l.fresh == '1' then
      if l.hops ~= '0' then keep_past(c, l) end
      redis.call('HINCRBY', c.info, 'fresh', redis.call('ZADD', q.fresh, l.score, l.member))
      refund(c, 1, 1)
      join(c, h, l.lane, 0)
    else
      put_back(c, h, q, l)
    end
  end
end

settle_hosts()
for _, c in pairs(crawls) do unpark(c) end
