-- own: 1 pause or 0 resume. Leases out go on; pairs are parked when they are next asked.

local c = crawl(1)
if not c.open then return end
redis.call('HSET', c.info, 'paused', ARGV[own])
crawls[1] = nil
unpark(crawl(1))
