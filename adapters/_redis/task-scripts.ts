/**
 * The scripts of tasks in Redis. A task is a hash. For the tasks of a server that are due, each owner has two sorted sets, by due time and
 * by expiry, and the server has one of its owners, by their earliest due time. Tasks without a server have one pair of sets.
 */

export const READ = `return redis.call('HMGET', KEYS[1], 'owner', 'version', 'open', 'due', 'expires', 'state', 'server')`

/** The start of every writing script. A task whose key expires leaves its name in the sets, so each script removes some of those. */
const WRITE = `
local task, due, expiring, open, owners, servers = unpack(KEYS, 1, 6)
local id, owner, version, isOpen, dueAt, expiresAt, state, writer, now, server = unpack(ARGV, 1, 10)
local function setExpiry(key, at)
  if at == '' then redis.call('PERSIST', key) else redis.call('PEXPIREAT', key, at) end
end
local function isExpired(at)
  return at ~= '' and tonumber(at) <= tonumber(now)
end
local function removeExpired()
  local gone = redis.call('ZRANGEBYSCORE', expiring, '-inf', now, 'LIMIT', 0, 10)
  if #gone > 0 then
    redis.call('ZREM', due, unpack(gone))
    redis.call('ZREM', expiring, unpack(gone))
  end
end
local function lastOf(key)
  local last = redis.call('ZREVRANGE', key, 0, 0, 'WITHSCORES')[2]
  return last and (last == 'inf' and '' or string.format('%.0f', last))
end
local function write()
  redis.call('HSET', task, 'owner', owner, 'version', version, 'open', isOpen, 'due', dueAt, 'expires', expiresAt,
    'state', state, 'writer', writer, 'server', server)
  setExpiry(task, expiresAt)
  local isDue = isOpen == '1' and dueAt ~= ''
  if isDue then redis.call('ZADD', due, dueAt, id) else redis.call('ZREM', due, id) end
  if isDue and (server ~= '' or expiresAt ~= '') then
    redis.call('ZADD', expiring, expiresAt == '' and '+inf' or expiresAt, id)
  else
    redis.call('ZREM', expiring, id)
  end
  if server ~= '' then
    removeExpired()
    local first = redis.call('ZRANGE', due, 0, 0, 'WITHSCORES')[2]
    if first then redis.call('ZADD', owners, first, owner) else redis.call('ZREM', owners, owner) end
    local last = lastOf(expiring)
    if last then
      setExpiry(due, last)
      setExpiry(expiring, last)
    end
  end
  redis.call('ZREMRANGEBYSCORE', open, '-inf', now)
  if isOpen == '1' then redis.call('ZADD', open, expiresAt == '' and '+inf' or expiresAt, id) else redis.call('ZREM', open, id) end
  local last = lastOf(open)
  if last then setExpiry(open, last) end
  return 1
end
`

/** A client may repeat a script after it lost the answer: `writer` shows that the task is its own. Servers are remembered for a month. */
export const CREATE = `${WRITE}
local kept = redis.call('HMGET', task, 'expires', 'creator')
if kept[2] == writer then return 1 end
if kept[1] and not isExpired(kept[1]) then return -1 end
redis.call('ZREMRANGEBYSCORE', open, '-inf', now)
if redis.call('ZCARD', open) >= tonumber(ARGV[11]) then return 0 end
removeExpired()
if server ~= '' then
  redis.call('SADD', servers, server)
  redis.call('PEXPIRE', servers, 2592000000)
end
redis.call('HSET', task, 'creator', writer)
return write()`

export const REPLACE = `${WRITE}
local kept = redis.call('HMGET', task, 'version', 'expires', 'writer')
if kept[3] == writer then return 1 end
if not kept[1] or isExpired(kept[2]) or tonumber(kept[1]) ~= tonumber(version) - 1 then return 0 end
return write()`

/** `KEYS[1]` is the key of a task without its id. Looks at about 1000 keys at most, since others have to wait. */
export const LIST = `
local cursor, limit, server = ARGV[1], tonumber(ARGV[2]), ARGV[3]
local pattern = string.gsub(KEYS[1], '[%*%?%[%]%^%-\\\\]', '\\\\%0') .. '*'
local found, seen, rounds = {}, {}, 0
repeat
  local page = redis.call('SCAN', cursor, 'MATCH', pattern, 'COUNT', 10)
  cursor = page[1]
  rounds = rounds + 1
  for _, key in ipairs(page[2]) do
    if not seen[key] and redis.call('TYPE', key).ok == 'hash' then
      seen[key] = true
      local whose = redis.call('HGET', key, 'server')
      if server == '' or not whose or whose == '' or whose == server then
        found[#found + 1] = string.sub(key, #KEYS[1] + 1)
        found[#found + 1] = redis.call('HMGET', key, 'owner', 'version', 'open', 'due', 'expires', 'state', 'server')
      end
    end
  end
until cursor == '0' or #found >= 2 * limit or rounds >= 100
return {cursor, found}`

/** The start of what reads due tasks. `ARGV[1]` is the requested time, `ARGV[2]` the current time if that is earlier. */
const DUE = `
local now, limit = tonumber(ARGV[1]), tonumber(ARGV[3])
local function removeExpired(due, expiring)
  repeat
    local gone = redis.call('ZRANGEBYSCORE', expiring, '-inf', ARGV[2], 'LIMIT', 0, 1000)
    if #gone > 0 then
      redis.call('ZREM', due, unpack(gone))
      redis.call('ZREM', expiring, unpack(gone))
    end
  until #gone == 0
end
local found = {}
local function find(due, expiring, owner)
  removeExpired(due, expiring)
  local count, offset, page = 0, 0, nil
  repeat
    page = redis.call('ZRANGEBYSCORE', due, '-inf', ARGV[1], 'WITHSCORES', 'LIMIT', offset, ARGV[3])
    offset = offset + #page / 2
    for index = 1, #page, 2 do
      local at = redis.call('ZSCORE', expiring, page[index])
      if count < limit and not (at and tonumber(at) <= now) then
        count = count + 1
        found[#found + 1] = page[index]
        found[#found + 1] = owner
        found[#found + 1] = page[index + 1]
      end
    end
  until #page == 0 or count >= limit
end
`

/** The number of due tasks in pairs of sets, and the earliest due time. */
export const COUNT = `${DUE}
local count, oldest = 0, nil
for index = 1, #KEYS, 2 do
  removeExpired(KEYS[index], KEYS[index + 1])
  count = count + redis.call('ZCOUNT', KEYS[index], '-inf', ARGV[1])
  local first = redis.call('ZRANGEBYSCORE', KEYS[index], '-inf', ARGV[1], 'WITHSCORES', 'LIMIT', 0, 1)[2]
  if first and (not oldest or tonumber(first) < tonumber(oldest)) then oldest = first end
end
return {count, oldest or false}`

/** Tasks without a server, and the servers if their key is given. */
export const DUE_OF_NONE = `${DUE}
find(KEYS[1], KEYS[2], '')
return {found, KEYS[3] and redis.call('SMEMBERS', KEYS[3]) or {}}`

/** The owners of a server's tasks, the longest due first. */
export const DUE_OWNERS = `return redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', ARGV[1], 'LIMIT', 0, ARGV[2])`

/** `KEYS[1]` has the owners, `ARGV` from the fourth on; their sets follow in pairs. */
export const DUE_OF_OWNERS = `${DUE}
for index = 4, #ARGV do
  local due, expiring = KEYS[2 * index - 6], KEYS[2 * index - 5]
  find(due, expiring, ARGV[index])
  local first = redis.call('ZRANGE', due, 0, 0, 'WITHSCORES')[2]
  if first then redis.call('ZADD', KEYS[1], first, ARGV[index]) else redis.call('ZREM', KEYS[1], ARGV[index]) end
end
return found`
