-- Expired leases of one crawl. own: count   -> in the form of claim.lua

return table.concat(expired(1, tonumber(ARGV[own])), '\n')
