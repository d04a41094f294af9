-- Open a crawl, or change its limits: what it has used stays used.
-- own: max pages, max fetches, max concurrent, delay ms, robots (0 or 1), raised host cap, lane of its pages   -> epoch

local c = crawl(1)
local max_pages, max_fetches = tonumber(ARGV[own]), tonumber(ARGV[own + 1])

local used = redis.call('HMGET', c.info, 'max_pages', 'max_fetches')
local pages = c.pages + max_pages - number(used[1])
local fetches = c.fetches + max_fetches - number(used[2])
-- The epoch follows the clock, so that a crawl that was closed or lost never gets an old epoch again.
local epoch = c.open and c.epoch or whole(now)

redis.call('HSET', c.info, 'epoch', epoch, 'max_pages', max_pages, 'max_fetches', max_fetches, 'pages', pages,
  'fetches', fetches, 'max_concurrent', ARGV[own + 2], 'delay', ARGV[own + 3], 'robots', ARGV[own + 4],
  'lane', ARGV[own + 6])
redis.call('HSET', KEYS[5], c.name, ARGV[own + 5])
crawls[1] = nil
unpark(crawl(1))
return epoch
