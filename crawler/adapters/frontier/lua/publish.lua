-- Append events to a project's stream.
-- KEYS: stream, counter   ARGV: how many events, most entries, seconds kept, seconds counted, then field, value, …
-- -> the number of the last event

-- In one step: if two workers counted first and appended later, they could overtake each other, and events would be
-- lost. A counter that is gone (expired, or Redis lost it) begins at the time in µs. That is later than any number ever
-- published, so a reader that asks for events after an old number is told of a gap. It stays below 2^53.
if redis.call('EXISTS', KEYS[2]) == 0 then
  local now = redis.call('TIME')
  redis.call('SET', KEYS[2], string.format('%.0f', now[1] * 1000000 + now[2]))
end
local last = string.format('%.0f', redis.call('INCRBY', KEYS[2], ARGV[1]))
redis.call('XADD', KEYS[1], 'MAXLEN', '~', ARGV[2], last .. '-0', unpack(ARGV, 5))
redis.call('EXPIRE', KEYS[1], ARGV[3])
redis.call('EXPIRE', KEYS[2], ARGV[4])
return last
