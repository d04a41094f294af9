-- Reserve sequence numbers. own: count   -> the first of them

local c = crawl(1)
-- A worker may still be writing for a crawl that was closed; nothing of it will be queued.
if not c.open then return 0 end
return redis.call('HINCRBY', c.info, 'sequence', ARGV[own]) - tonumber(ARGV[own])
