-- One server's share of what a crawl may do on all of them: pages, fetches, slots. It is given by the pool (pool.lua).
-- own: 'receive', epoch, all that it was ever given: pages, fetches, slots   -> how many are new
-- own: 'spare', epoch, 1 to give back everything that is not in use, 1 or 0 for each of the three: whether it is wanted
--   (2: slots, and also the last)
--   -> all that it ever gave back: pages, fetches, slots; nothing if the epoch is over
--
-- Totals only grow, so each of the two may be repeated, and the one who asked may die at any moment.

local c = crawl(1)
if not c.open or not c.shared or c.building or c.epoch ~= ARGV[own + 1] then
  return ARGV[own] == 'receive' and 0 or {}
end

local function totals(field)
  local p, f, s = (redis.call('HGET', c.info, field) or '0 0 0'):match('^(%d+) (%d+) (%d+)$')
  return {tonumber(p), tonumber(f), tonumber(s)}
end

local function keep(field, t)
  redis.call('HSET', c.info, field, whole(t[1]) .. ' ' .. whole(t[2]) .. ' ' .. whole(t[3]))
end

if ARGV[own] == 'receive' then
  local before, after, more = totals('given'), {}, {}
  for n = 1, 3 do
    after[n] = math.max(before[n], tonumber(ARGV[own + 1 + n]))
    more[n] = after[n] - before[n]
  end
  keep('given', after)
  refund(c, more[1], more[2])
  if more[3] > 0 then keep('slots', {c.shared.held + more[3], 0, now}) end
  crawls[1] = nil
  unpark(crawl(1))
  return more[1] + more[2] + more[3]
end

local everything = ARGV[own + 2] == '1'
local function is_wanted(n) return ARGV[own + 2 + n] ~= '0' end
local fresh = number(redis.call('HGET', c.info, 'fresh'))
local s, free = c.shared, math.max(0, c.shared.held - redis.call('SCARD', c.flying))

-- Who has pages waiting keeps half of its budget.
local function unspent(n, held)
  if not is_wanted(n) then return 0 end
  if everything or fresh < 1 then return math.max(0, held) end
  return math.max(0, math.ceil(held / 2))
end

-- Who has work keeps half of its slots. Its last one it only gives to a server that has none; if that slot is in use it
-- is left unused for a second when it comes free, because the one who asked looks again. That happens once in two
-- seconds, or a single slot would wander more than it works.
local function fair()
  if s.held > 1 then return math.min(free, math.floor(s.held / 2)) end
  if s.held == 0 or ARGV[own + 5] ~= '2' then return 0 end
  if free == 0 and now - s.at >= 2000 then s.asked, s.at = 1, now end
  return free
end

local give = 0
if is_wanted(3) then
  local busy = fresh > 0 or c.free > 0
  give = (everything or not busy) and free or fair()
end

local back, gift = totals('back'), {unspent(1, c.pages), unspent(2, c.fetches), give}
for n = 1, 3 do back[n] = back[n] + gift[n] end
keep('back', back)
refund(c, 0 - gift[1], 0 - gift[2])
keep('slots', {s.held - give, give > 0 and 0 or s.asked, s.at})
return back
