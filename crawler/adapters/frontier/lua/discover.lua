-- Discover URLs: queue new ones, lower the depth of known ones that were deeper.
-- own: for each pair, digest, depth, score, hops, member   -> how many were queued, digests that were lowered

local c = crawl(1)
if not c.open then return {0, {}} end

local digests = {}
for a = own, #ARGV, 6 do digests[#digests + 1] = ARGV[a + 1] end
local known = #digests > 0 and redis.call('HMGET', c.seen, unpack(digests)) or {}

local depths, lowered, queued, count = {}, {}, {}, 0

for n, digest in ipairs(digests) do
  local a = own + (n - 1) * 6
  local depth = tonumber(ARGV[a + 2])
  local before = depths[digest] or tonumber(known[n] or nil)
  if not before then
    depths[digest] = depth
    if tonumber(ARGV[a + 3]) >= 0 then
      local i = tonumber(ARGV[a])
      queued[i] = queued[i] or {fresh = {}, free = {}}
      line_up(c, queued[i], a)
      count = count + 1
    end
  elseif depth < before then
    depths[digest] = depth
    lowered[digest] = known[n] and true or nil
  end
end

local args = {}
for digest, depth in pairs(depths) do args[#args + 1], args[#args + 2] = digest, depth end
if #args > 0 then redis.call('HSET', c.seen, unpack(args)) end

enqueue_all(c, queued)

local list = {}
for digest in pairs(lowered) do list[#list + 1] = digest end
return {count, list}
