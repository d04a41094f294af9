-- Complete leases: stored, dropped, retry, moved or render.
-- own: for each lease: host, token, end, at ms, url, lateness, pair (0 when its end needs none)
-- -> numbers of the leases that were no longer held (stale)
--
-- A page's budget belongs to the URL: stored spends it, dropped gives it back, all others keep it with the URL.
-- Each request counts as a fetch, so a retry takes one more. A request that was never sent (negative lateness) gives
-- its fetch back.

local stale = {}
local c = crawl(1)

local ends = {}
function ends.stored() end

function ends.dropped(h, l, o)
  if l.kind == 'p' then refund(c, 1, o.unsent and 1 or 0) end
end

-- It will not be requested again: without a fetch left, its ledger row waits for the end of the crawl.
local function again(h, l, o, at)
  if l.kind == 'p' and not o.unsent then
    if c.fetches < 1 then return refund(c, 1, 0) end
    refund(c, 0, -1)
  end
  put_back(c, h, queues(o.pair, l.lane), l, at)
end

function ends.retry(h, l, o)
  l.attempts = l.attempts + 1
  again(h, l, o, o.at)
end

function ends.moved(h, l, o)
  l.hops, l.moved = l.hops + 1, o.url
  again(h, l, o)
end

function ends.render(h, l, o)
  l.lane = 'b'
  again(h, l, o)
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
    if l.silent then note_sent(h, token, l.claimed, tonumber(ARGV[a + 5])) end
    -- robots.txt is in no queue: it is requested again whenever a host needs it.
    if l.kind == 'r' then
      free_robots(h, token)
    else
      ends[ARGV[a + 2]](h, l, {
        at = ARGV[a + 3], url = ARGV[a + 4], unsent = tonumber(ARGV[a + 5]) < 0, pair = tonumber(ARGV[a + 6]),
      })
    end
  end
end

settle_hosts()
unpark(c)
return stale
