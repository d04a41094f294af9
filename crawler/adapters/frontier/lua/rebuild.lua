-- Begin a rebuild (with a new epoch) or end it. Between the two nothing is claimed and the crawl is not over.
-- own: 'begin', and on one of several servers the epoch that the first of them has begun   -> epoch
-- own: 'end', epoch, pages left, fetches left, first free sequence   -> epoch

local c = crawl(1)
if not c.open then
  redis.call('UNLINK', c.seen)  -- the crawl was closed meanwhile
  return '0'
end

if ARGV[own] == 'begin' then
  local epoch = ARGV[own + 1] or whole(math.max(now, tonumber(c.epoch) + 1))
  redis.call('HSET', c.info, 'epoch', epoch, 'building', now)
  return epoch
end

-- Another process began a rebuild again: that one will end it.
if c.epoch ~= ARGV[own + 1] then return c.epoch end

local sequence = math.max(number(redis.call('HGET', c.info, 'sequence')), tonumber(ARGV[own + 4]))
redis.call('HSET', c.info, 'building', 0, 'pages', ARGV[own + 2], 'fetches', ARGV[own + 3], 'sequence', whole(sequence))
if c.shared then
  redis.call('HSET', c.info, 'slots', '0 0 0')
  redis.call('HDEL', c.info, 'given', 'back')
end
crawls[1] = nil
unpark(crawl(1))
return c.epoch
