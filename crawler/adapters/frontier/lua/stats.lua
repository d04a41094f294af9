-- A crawl's numbers. -> nothing when it is not open, else:
-- fresh, free, leased, in flight, pages, fetches, paused, building, epoch
-- and on one of several servers: slots it has, URLs that ever arrived, what it was given and gave back (share.lua)

local c = crawl(1)
-- A frontier whose rebuild was abandoned counts as none.
if not c.open or (c.building and now - redis.call('HGET', c.info, 'building') > 60000) then return {} end
local v = redis.call('HMGET', c.info, 'fresh', 'free', 'paused', 'arrivals', 'given', 'back')
local told = {
  number(v[1]), number(v[2]), redis.call('ZCARD', c.leases) + redis.call('SCARD', c.poison),
  redis.call('SCARD', c.flying), c.pages, c.fetches, number(v[3]), c.building and 1 or 0, tonumber(c.epoch),
}
if c.shared then
  local none = '0 0 0'
  for _, value in ipairs({c.shared.held, number(v[4]), v[5] or none, v[6] or none}) do told[#told + 1] = value end
end
return told
