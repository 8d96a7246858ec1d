-- Makes the proposals of one call, in order, for a shard of countdowns. It knows ids, versions and windows of time, and
-- nothing about countdowns.
--   KEYS: the hash of records, the sorted set of when they may be removed, the last version, the log (and channel)
--   ARGV: the length of the log, then seven for each proposal: key, expected id, notBefore, notAfter, due or nothing, id,
--     and the record's text, or nothing if the proposal only confirms the expected id
-- Replies with the engine's time and a list for each proposal: an outcome, then the version (won), the held record
-- (conflict), or the engine's words and the command that it has refused (failed: nothing was written; unknown: something
-- was). Integers travel as strings.
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local function text(integer) return string.format('%.0f', integer) end
local changes, written, command = {}, false, ''

local function call(name, ...)
    command = name
    return redis.call(name, ...)
end

local function propose(key, expected, notBefore, notAfter, due, id, json)
    local held = call('HGET', KEYS[1], key)
    local heldVersion, heldID = '', ''
    if held then
        heldVersion, heldID = string.match(held, '^(%d+) (%S+) ')
        if not heldID then heldVersion, heldID = '', held end
    end
    if held and heldID == id then return {'won', heldVersion} end
    if heldID ~= expected then return {'conflict', held or ''} end
    if now < tonumber(notBefore) then return {'early'} end
    if now > tonumber(notAfter) then return {'late'} end
    if json == '' then return {'won', heldVersion} end
    -- Without the key versions begin at the time, so that they are not used again after FLUSHALL.
    local version = text((tonumber(call('GET', KEYS[3])) or now) + 1)
    local record = version .. ' ' .. id .. ' ' .. json
    -- The first write: if it fails, nothing was written.
    call('XADD', KEYS[4], 'MAXLEN', '~', ARGV[1], version .. '-0', 'key', key, 'record', record)
    written = true
    call('SET', KEYS[3], version)
    call('HSET', KEYS[1], key, record)
    if due == '' then call('ZREM', KEYS[2], key) else call('ZADD', KEYS[2], due, key) end
    changes[#changes + 1] = key .. '\n' .. record
    return {'won', version}
end

local answers = {text(now)}
for first = 2, #ARGV, 7 do
    written = false
    local made, answer = pcall(propose, unpack(ARGV, first, first + 6))
    if not made then
        local words = type(answer) == 'table' and answer.err or tostring(answer)
        answer = {written and 'unknown' or 'failed', words, command}
    end
    answers[#answers + 1] = answer
end
if #changes > 0 then
    redis.pcall('SPUBLISH', KEYS[4], table.concat(changes, '\n'))
    -- Only if something is due: an unconditional removal would make confirms fail while writes are refused.
    local due = redis.pcall('ZRANGE', KEYS[2], '-inf', '(' .. text(now), 'BYSCORE', 'LIMIT', 0, 4)
    if #due > 0 then
        redis.pcall('ZREM', KEYS[2], unpack(due))
        redis.pcall('HDEL', KEYS[1], unpack(due))
    end
end
return answers
