-- A crawl's numbers. -> nothing when it is not open, else:
-- fresh, free, leased, in flight, pages, fetches, paused, building, epoch

local c = crawl(1)
-- A frontier whose rebuild was abandoned counts as none.
if not c.open or (c.building and now - redis.call('HGET', c.info, 'building') > 60000) then return {} end
local v = redis.call('HMGET', c.info, 'fresh', 'free', 'paused')
return {
  number(v[1]), number(v[2]), redis.call('ZCARD', c.leases) + redis.call('SCARD', c.poison),
  redis.call('SCARD', c.flying), c.pages, c.fetches, number(v[3]), c.building and 1 or 0, tonumber(c.epoch),
}
