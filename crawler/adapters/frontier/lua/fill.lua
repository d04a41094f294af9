-- A rebuild tells what was seen. own: for each digest, depth

local c = crawl(1)
if not c.open then return end
redis.call('HSET', c.seen, unpack(ARGV, own))
alive(c)
