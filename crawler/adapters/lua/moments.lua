-- Requests went out, or were answered, so many milliseconds after the moment before their claim.
-- own: 'sent' or 'answered', then for each: crawl, host, token, claimed, lateness (answered: negative, none was made)
--
-- A token whose lease is over changes no lease. Its request was real all the same, so the host's time counts it, and
-- the slot it still holds at the host comes free.

local answered = ARGV[own] == 'answered'

for a = own + 1, #ARGV, 5 do
  local c, h, token = crawl(tonumber(ARGV[a])), host(tonumber(ARGV[a + 1])), ARGV[a + 2]
  tell(h, token, ARGV[a + 3], tonumber(ARGV[a + 4]))
  if answered then
    redis.call('SREM', c.flying, token)
    free_slot(h, token)
  end
end

settle_hosts()
if answered then
  for _, c in pairs(crawls) do unpark(c) end
end
