-- Fill the seen-set during a rebuild. own: for each digest, depth

local c = crawl(1)
if not c.open then return end
if ARGV[own] then redis.call('HSET', c.seen, unpack(ARGV, own)) end
alive(c)
