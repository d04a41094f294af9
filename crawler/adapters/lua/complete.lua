-- Leases end. own: for each pair, token, end, at ms, url, lateness   -> numbers of those that were no longer leased
--
-- A page's budget belongs to the URL: stored spends it, dropped gives it back, all others keep it with the URL.

local stale = {}
local c = crawl(1)

local ends = {}
function ends.stored() end

function ends.dropped(h, i, l)
  if l.kind == 'p' then refund(c, 1, 0) end
end

function ends.retry(h, i, l, at)
  l.attempts = l.attempts + 1
  put_back(c, h, queues(i, l.lane), l, at)
end

function ends.moved(h, i, l, _, url)
  l.hops, l.moved = l.hops + 1, url
  put_back(c, h, queues(i, l.lane), l)
end

function ends.render(h, i, l)
  l.lane = 'b'
  put_back(c, h, queues(i, l.lane), l)
end

for a = own, #ARGV, 6 do
  local i, token, how = tonumber(ARGV[a]), ARGV[a + 1], ARGV[a + 2]
  local _, h = owners(i)
  local l = take_away(c, h, token)
  if l and l.silent then tell(h, token, l.claimed, tonumber(ARGV[a + 5])) end
  if not l then
    stale[#stale + 1] = (a - own) / 6
  elseif l.kind ~= 'r' then
    -- robots.txt stands in no queue: it is asked for again whenever a host needs it.
    ends[how](h, i, l, ARGV[a + 3], ARGV[a + 4])
  end
end

settle_hosts()
unpark(c)
return stale
