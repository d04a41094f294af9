-- Queue known URLs again that the ledger wants fetched, unless they are queued or leased.
-- own: for each pair, digest, depth, score, hops, member   -> how many were queued

local c = crawl(1)
if not c.open then return 0 end

local leased = {}
for _, raw in ipairs(redis.call('HVALS', c.data)) do leased[unpacked(raw).member] = true end

local function waits(i, member)
  if leased[member] then return true end
  for lane in lanes:gmatch('.') do
    local q = queues(i, lane)
    if redis.call('ZSCORE', q.fresh, member) or redis.call('ZSCORE', q.free, member)
      or redis.call('ZSCORE', q.later, member) then
      return true
    end
  end
  return false
end

local function see(digest, depth)
  local known = redis.call('HGET', c.seen, digest)
  if not known or tonumber(depth) < tonumber(known) then redis.call('HSET', c.seen, digest, depth) end
end

local queued, count = {}, 0
for a = own, #ARGV, 6 do
  local i, member = tonumber(ARGV[a]), ARGV[a + 5]
  see(ARGV[a + 1], ARGV[a + 2])
  if tonumber(ARGV[a + 3]) >= 0 and not waits(i, member) then
    leased[member] = true  -- the batch may name it twice
    queued[i] = queued[i] or {fresh = {}, free = {}}
    line_up(c, queued[i], a)
    count = count + 1
  end
end
enqueue_all(c, queued)
alive(c)
return count
