-- How many (crawl, host) pairs are due and how many must wait. KEYS 1 ready   ARGV 1 ms now   -> due, waiting

local due, all = 0, 0
for _, name in ipairs(redis.call('ZRANGE', KEYS[1], 0, -1)) do
  local hosts = KEYS[1] .. ':' .. name
  due = due + redis.call('ZCOUNT', hosts, '-inf', ARGV[1])
  all = all + redis.call('ZCARD', hosts)
end
return {due, all - due}
