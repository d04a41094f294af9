-- (crawl, host) pairs that may be requested now, or the milliseconds until the first that may.
-- KEYS 1 ready   ARGV 1 count   -> members joined by newlines, milliseconds ('' when nothing has a time)
--
-- Crawls take turns, however many hosts each has: the one that was served longest ago comes first. A crawl's time in
-- `ready` is never too late, but may be too early, as pairs are moved without it. It is put right here.

local clock = redis.call('TIME')
local now = clock[1] * 1000 + math.floor(clock[2] / 1000)
local count = tonumber(ARGV[1])

local function hosts_of(name) return KEYS[1] .. ':' .. name end

-- Members of before crawls took turns were pairs, crawl|host.
local function split_pair(member, score)
  local name, host = member:match('^(%x+)|(.*)$')
  if not name then return false end
  redis.call('ZREM', KEYS[1], member)
  redis.call('ZADD', hosts_of(name), score, host)
  redis.call('ZADD', KEYS[1], 'LT', score, name)
  return true
end

-- Nothing of the crawl is due before its first pair. -> whether its time was too early
local function put_right(name, score)
  if split_pair(name, score) then return true end
  local first = tonumber(redis.call('ZRANGE', hosts_of(name), 0, 0, 'WITHSCORES')[2])
  if not first then
    redis.call('ZREM', KEYS[1], name)
  elseif first > tonumber(score) then
    redis.call('ZADD', KEYS[1], math.max(first, now + 1), name)
  else
    return false
  end
  return true
end

local function due_of(name, from, most)
  return redis.call('ZRANGEBYSCORE', hosts_of(name), '-inf', now, 'LIMIT', from, most)
end

local function add(lines, name, hosts)
  for _, host in ipairs(hosts) do lines[#lines + 1] = name .. '|' .. host end
end

-- Each crawl gets a fair share of the count, then the rest goes to those that have more.
local function take_turns(turns)
  local lines, more = {}, {}
  for i = 1, #turns, 2 do
    local name, share = turns[i], math.ceil((count - #lines) / ((#turns - i + 1) / 2))
    local hosts = due_of(name, 0, share)
    add(lines, name, hosts)
    if #hosts == 0 then
      put_right(name, math.min(turns[i + 1], now))
    elseif #hosts == share then
      more[#more + 1] = {name, share}
    end
  end
  for _, rest in ipairs(more) do
    if #lines < count then add(lines, rest[1], due_of(rest[1], rest[2], count - #lines)) end
  end
  return lines
end

while true do
  local turns = redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', '(' .. now + 1, 'WITHSCORES', 'LIMIT', 0, count)
  if #turns == 0 then break end
  local lines = take_turns(turns)
  if #lines > 0 then return {table.concat(lines, '\n'), ''} end
end

while true do
  local first = redis.call('ZRANGE', KEYS[1], 0, 0, 'WITHSCORES')
  -- The pairs of a paused host have a time in the far future.
  if not first[1] or tonumber(first[2]) >= 2 ^ 52 then return {'', ''} end
  if not put_right(first[1], first[2]) then
    return {'', string.format('%.0f', math.ceil(tonumber(first[2]) - now))}
  end
end
