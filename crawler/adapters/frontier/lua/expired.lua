-- Leases of one crawl that ran out. own: count   -> as claim tells them

return table.concat(expired(1, tonumber(ARGV[own])), '\n')
