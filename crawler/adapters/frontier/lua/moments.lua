-- Requests were sent, or answered, so many milliseconds after the moment before their claim.
-- own: 'sent' or 'answered', then for each: crawl, host, token, claimed, lateness (answered: negative, none was made)
--
-- A token whose lease is over changes no lease. Its request was real all the same, so it counts for the host's time,
-- and the slot it still holds at the host becomes free.

local answered = ARGV[own] == 'answered'
local by_crawl, by_host = {}, {}

local function add(groups, owner, token)
  local group = groups[owner]
  if group then group[#group + 1] = token else groups[owner] = {token} end
end

for a = own + 1, #ARGV, 5 do
  local h, token = host(tonumber(ARGV[a + 1])), ARGV[a + 2]
  note_sent(h, token, ARGV[a + 3], tonumber(ARGV[a + 4]))
  add(by_crawl, tonumber(ARGV[a]), token)
  add(by_host, h, token)
end

if answered then
  for i, tokens in pairs(by_crawl) do redis.call('SREM', crawl(i).flying, unpack(tokens)) end
  for h, tokens in pairs(by_host) do free_slots(h, tokens) end
end

settle_hosts()
if answered then
  for _, c in pairs(crawls) do unpark(c) end
end
