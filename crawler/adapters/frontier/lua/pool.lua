-- What a crawl may do on several servers and none of them was given: pages, fetches, slots. KEYS 1 pool, at its home
-- ARGV 'open', epoch, servers, max pages, max fetches, max concurrent   -> 1 if more is given out than it now may do
-- ARGV 'reset', epoch, servers, max pages, max fetches, max concurrent, pages left, fetches left
-- ARGV 'take', epoch ('' is whichever there is), number of the server, how many of each it wants, then for each server
--   that gave back: number, all that it ever gave back   -> epoch, all that the taker was ever
--   given, how many of each are new; nothing if the epoch is over
-- ARGV 'forget', epoch, number of a server that lost all it had, base of pages, base of fetches
-- ARGV 'read'   -> epoch, servers, what all servers together may do, what is given out
--
-- `base` is what the crawl may do from the beginning of its epoch on, `out` what servers hold or have spent of it.

local POOL, op, epoch = KEYS[1], ARGV[1], ARGV[2]

local function three(field)
  local p, f, s = (redis.call('HGET', POOL, field) or '0 0 0'):match('^(-?%d+) (-?%d+) (-?%d+)$')
  return {tonumber(p), tonumber(f), tonumber(s)}
end

local function keep(field, t)
  redis.call('HSET', POOL, field, string.format('%.0f %.0f %.0f', t[1], t[2], t[3]))
end

local function argument(from) return {tonumber(ARGV[from]), tonumber(ARGV[from + 1]), tonumber(ARGV[from + 2])} end

local function begin(max, base)
  redis.call('DEL', POOL)
  redis.call('HSET', POOL, 'epoch', epoch, 'servers', ARGV[3])
  keep('max', max)
  keep('base', base)
end

if op == 'read' then
  local known = redis.call('HMGET', POOL, 'epoch', 'servers')
  if not known[1] then return {} end
  local base, out = three('base'), three('out')
  return {tonumber(known[1]), tonumber(known[2]), base[1], base[2], base[3], out[1], out[2], out[3]}
end

if op == 'reset' then
  local max = argument(4)
  begin(max, {tonumber(ARGV[7]), tonumber(ARGV[8]), max[3]})
  return 0
end

if op == 'open' then
  local max = argument(4)
  if redis.call('HGET', POOL, 'epoch') ~= epoch then
    begin(max, max)
    return 0
  end
  local before, base, out, over = three('max'), three('base'), three('out'), 0
  for n = 1, 3 do
    base[n] = base[n] + max[n] - before[n]
    if base[n] < out[n] then over = 1 end
  end
  keep('max', max)
  keep('base', base)
  return over
end

local known = redis.call('HGET', POOL, 'epoch')
if not known or (epoch ~= '' and epoch ~= known) then return {} end
local base, out = three('base'), three('out')

if op == 'forget' then
  local given, back = three('given ' .. ARGV[3]), three('back ' .. ARGV[3])
  for n = 1, 3 do out[n] = out[n] - (given[n] - back[n]) end
  redis.call('HDEL', POOL, 'given ' .. ARGV[3], 'back ' .. ARGV[3])
  keep('base', {tonumber(ARGV[4]), tonumber(ARGV[5]), base[3]})
  keep('out', out)
  return 0
end

for a = 7, #ARGV, 4 do
  local field = 'back ' .. ARGV[a]
  local before, after = three(field), argument(a + 1)
  for n = 1, 3 do
    after[n] = math.max(before[n], after[n])
    out[n] = out[n] - (after[n] - before[n])
  end
  keep(field, after)
end

local field, wants, more = 'given ' .. ARGV[3], argument(4), {0, 0, 0}
local given = three(field)
for n = 1, 3 do
  local left = math.max(0, base[n] - out[n])
  if wants[n] > 0 then more[n] = math.min(left, math.max(wants[n], math.ceil(left / 2))) end
  given[n], out[n] = given[n] + more[n], out[n] + more[n]
end
keep(field, given)
keep('out', out)
return {tonumber(known), given[1], given[2], given[3], more[1], more[2], more[3]}
