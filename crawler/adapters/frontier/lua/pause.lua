-- Pause or resume a crawl. own: 1 pause or 0 resume. Leases go on; pairs are parked at their next claim.

local c = crawl(1)
if not c.open then return end
redis.call('HSET', c.info, 'paused', ARGV[own])
crawls[1] = nil
unpark(crawl(1))
