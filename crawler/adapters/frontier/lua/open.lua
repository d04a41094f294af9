-- Open a crawl, or change its limits: what it has used stays used.
-- own: max pages, max fetches, max concurrent, delay ms, robots (0 or 1), raised host cap, lane of its pages
-- and then: epoch ('' is its own), and 'rebuild' if one follows, or on one of several servers 'new' or 'old' (only if it
-- is open)   -> epoch
--
-- One of several servers begins with nothing that belongs to the whole crawl: it is given a share (share.lua).

local c = crawl(1)
local max_pages, max_fetches = tonumber(ARGV[own]), tonumber(ARGV[own + 1])
local given, mode = ARGV[own + 7] or '', ARGV[own + 8]
local is_share = mode == 'new' or mode == 'old'
if mode == 'old' and not c.open then return '0' end

local used = redis.call('HMGET', c.info, 'max_pages', 'max_fetches')
local pages = c.pages + max_pages - number(used[1])
local fetches = c.fetches + max_fetches - number(used[2])
-- The epoch follows the clock, so that a crawl that was closed or lost never gets an old epoch again.
local epoch = given ~= '' and given or c.open and c.epoch or whole(now)

if is_share and epoch ~= c.epoch then  -- what it was given belongs to another epoch
  pages, fetches = 0, 0
  redis.call('HDEL', c.info, 'slots', 'given', 'back')
end

redis.call('HSET', c.info, 'epoch', epoch, 'max_pages', max_pages, 'max_fetches', max_fetches, 'pages', pages,
  'fetches', fetches, 'max_concurrent', ARGV[own + 2], 'delay', ARGV[own + 3], 'robots', ARGV[own + 4],
  'lane', ARGV[own + 6])
if is_share then redis.call('HSETNX', c.info, 'slots', '0 0 0') end
-- Until the rebuild has begun nothing is queued: whoever looks now must not take the crawl for over.
if mode == 'rebuild' then redis.call('HSET', c.info, 'building', now) end
redis.call('HSET', KEYS[5], c.name, ARGV[own + 5])
crawls[1] = nil
unpark(crawl(1))
return epoch
