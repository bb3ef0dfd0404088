/**
 * What is done to failed elements in one step, so that no other process and no kill comes in between. The stream holds one
 * entry a failing document; the hash beside it says by document id which one, as
 * `entry version attempts firstAt lastAt stage code`.
 *
 * KEYS: the stream, the hash.
 */
const read = `
local function held(id)
  local line = redis.call('HGET', KEYS[2], id)
  if not line then return nil end
  local parts = {}
  for part in string.gmatch(line, '[^ ]+') do parts[#parts + 1] = part end
  return { entry = parts[1], version = parts[2], attempts = parts[3], firstAt = parts[4], lastAt = parts[5] }
end
local function remove(id, entry)
  redis.call('XDEL', KEYS[1], entry)
  redis.call('HDEL', KEYS[2], id)
end
`;

/** ARGV: pipeline, then of each record id, version, attempts, firstAt, lastAt, stage, code, record (JSON). */
export const putScript = `${read}
for at = 2, #ARGV, 8 do
  local id, version, attempts, firstAt, lastAt = ARGV[at], ARGV[at + 1], ARGV[at + 2], ARGV[at + 3], ARGV[at + 4]
  local stage, code = ARGV[at + 5], ARGV[at + 6]
  local before = held(id)
  if not before or before.version <= version then
    if before and before.version == version then
      attempts = string.format('%d', tonumber(before.attempts) + tonumber(attempts))
      if before.firstAt < firstAt then firstAt = before.firstAt end
    end
    local entry = redis.call('XADD', KEYS[1], '*', 'pipeline', ARGV[1], 'id', id, 'version', version,
      'stage', stage, 'code', code, 'attempts', attempts, 'firstAt', firstAt, 'lastAt', lastAt, 'record', ARGV[at + 7])
    redis.call('HSET', KEYS[2], id, table.concat({ entry, version, attempts, firstAt, lastAt, stage, code }, ' '))
    if before then redis.call('XDEL', KEYS[1], before.entry) end
  end
end
return redis.status_reply('OK')`;

/** ARGV: an id. Gives the fields of its entry; one whose entry somebody took out of the stream is forgotten. */
export const getScript = `${read}
local one = held(ARGV[1])
if not one then return nil end
local found = redis.call('XRANGE', KEYS[1], one.entry, one.entry)
if #found > 0 then return found[1][2] end
redis.call('HDEL', KEYS[2], ARGV[1])
return nil`;

/** ARGV: ids and versions by turns. Gives how many records were removed. */
export const discardScript = `${read}
local removed = 0
for at = 1, #ARGV, 2 do
  local one = held(ARGV[at])
  if one and one.version <= ARGV[at + 1] then
    remove(ARGV[at], one.entry)
    removed = removed + 1
  end
end
return removed`;

/** ARGV: a time, then ids. Gives how many of these had last failed before it, and were removed. */
export const expireScript = `${read}
local removed = 0
for at = 2, #ARGV do
  local one = held(ARGV[at])
  if one and one.lastAt < ARGV[1] then
    remove(ARGV[at], one.entry)
    removed = removed + 1
  end
end
return removed`;
