-- Leases end.
-- own: for each host, token, end, at ms, url, lateness, pair (0 when its end needs none)
-- -> numbers of those that were no longer leased
--
-- A page's budget belongs to the URL: stored spends it, dropped gives it back, all others keep it with the URL.

local stale = {}
local c = crawl(1)

local ends = {}
function ends.stored() end

function ends.dropped(h, l)
  if l.kind == 'p' then refund(c, 1, 0) end
end

function ends.retry(h, l, i, at)
  l.attempts = l.attempts + 1
  put_back(c, h, queues(i, l.lane), l, at)
end

function ends.moved(h, l, i, _, url)
  l.hops, l.moved = l.hops + 1, url
  put_back(c, h, queues(i, l.lane), l)
end

function ends.render(h, l, i)
  l.lane = 'b'
  put_back(c, h, queues(i, l.lane), l)
end

local tokens = {}
for a = own, #ARGV, 7 do tokens[#tokens + 1] = ARGV[a + 1] end
local leases = take_away(c, tokens)

for n, token in ipairs(tokens) do
  local a = own + (n - 1) * 7
  local h, l = host(tonumber(ARGV[a])), leases[token]
  leases[token] = nil
  if not l or l.silent then free_slot(h, token) end
  if not l then
    stale[#stale + 1] = n - 1
  else
    if l.silent then tell(h, token, l.claimed, tonumber(ARGV[a + 5])) end
    -- robots.txt stands in no queue: it is asked for again whenever a host needs it.
    if l.kind == 'r' then
      free_robots(h, token)
    else
      ends[ARGV[a + 2]](h, l, tonumber(ARGV[a + 6]), ARGV[a + 3], ARGV[a + 4])
    end
  end
end

settle_hosts()
unpark(c)
return stale
