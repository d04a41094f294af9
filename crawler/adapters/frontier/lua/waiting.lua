-- Why each pair waits. own: host cap, budget and slots that the crawl has at least, here or on other servers   -> for each: lane, host, queued, ms until it is due (-1 unknown), reason

local rows = {}
for i = 1, crawl_count do
  local c, budget = crawl(i), tonumber(ARGV[own + 1])
  c.pages, c.fetches = math.max(c.pages, budget), math.max(c.fetches, budget)
  c.slots = math.max(c.slots, tonumber(ARGV[own + 2]))
end
for i = 1, pair_count do
  for lane in lanes:gmatch('.') do
    local p = load_pair(i, lane, false)
    local queued = p.fresh_count + p.free_count + redis.call('ZCARD', p.later)
    local where, at, why = hindrance(p)
    if queued > 0 and where ~= 'gone' then
      local due = where == 'at' and at < FOREVER and math.max(0, at - now) or (where and -1 or 0)
      if why == 'turn' then why = 'gap' end
      rows[#rows + 1] = table.concat({lane, p.host.name, queued, whole(due), why or 'ready'}, '\n')
    end
  end
end
return table.concat(rows, '\n')
