-- Remove pairs of a crawl from all keys, and its other keys when none is left. own: 1 to forget the crawl itself
-- -> how many pairs are left
--
-- Requests in flight keep their slot at the host until they are answered or their lease expires.

local c = crawl(1)

local function clear(q)
  if c.open then
    redis.call('HINCRBY', c.info, 'fresh', 0 - redis.call('ZCARD', q.fresh))
    redis.call('HINCRBY', c.info, 'free', 0 - redis.call('ZCARD', q.free) - redis.call('ZCARD', q.later))
  end
  redis.call('UNLINK', q.fresh, q.free, q.later)
end

for i = 1, pair_count do
  local _, h = owners(i)
  for lane in lanes:gmatch('.') do
    clear(queues(i, lane))
    redis.call('ZREM', ready_hosts(lane, c.name), h.name)
    redis.call('ZREM', h.waiters, lane .. c.name)
    redis.call('ZREM', c.hosts, lane .. h.name)
  end
end

local left = redis.call('ZCARD', c.hosts)
if left == 0 then
  for lane in lanes:gmatch('.') do redis.call('ZREM', ready[lane], c.name) end
  redis.call('UNLINK', c.leases, c.data, c.flying, c.past, c.poison, c.parked, c.broke, c.seen)
  if ARGV[own] == '1' then redis.call('HDEL', KEYS[5], c.name) end
end
return left
