-- Makes the proposals of one call, in order, for the countdowns of a namespace. It knows ids, versions and windows of time, and
-- nothing about countdowns. First it reads and decides, then it writes all changes with one command for each key, because
-- most of the time of a script is the way from Lua to a command and back.
--   KEYS: the hash of records, the sorted set of when they may be removed, the last version, the log (and channel), and the
--     version before the first change
--   ARGV: the number of changes that the log keeps, then seven for each proposal: key, expected id, notBefore, notAfter, due
--     or nothing, id, and the record's text, or nothing if the proposal only confirms the expected id
-- Replies with the engine's time and a list for each proposal: an outcome, then the version (won), the held record
-- (conflict), or the engine's words and the command that it has refused (failed: nothing was written; unknown: something
-- was). Integers travel as strings.
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local function text(integer) return string.format('%.0f', integer) end
local answers = {text(now)}
-- The changes of this call: keys and records in turn.
local changes = {}
-- The last record of each changed key, and when it may be removed.
local changed, dueOf = {}, {}
-- The places of the answers that are true only if the changes are written.
local dependent = {}
local version, origin
local command, written = '', false

local function call(name, ...)
    command = name
    return redis.call(name, ...)
end

local function decide(key, expected, notBefore, notAfter, due, id, json)
    local held = changed[key]
    if held then dependent[#dependent + 1] = #answers + 1 else held = call('HGET', KEYS[1], key) end
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
    if not version then
        version = tonumber(call('GET', KEYS[3]))
        -- Without the key versions begin at the time, so that they are not used again after FLUSHALL.
        if not version then version, origin = now, now end
    end
    version = version + 1
    if not changed[key] then dependent[#dependent + 1] = #answers + 1 end
    local made = text(version)
    local record = made .. ' ' .. id .. ' ' .. json
    changed[key] = record
    dueOf[key] = due
    changes[#changes + 1] = key
    changes[#changes + 1] = record
    return {'won', made}
end

local function write()
    local dues, staying = {}, {}
    for key, due in pairs(dueOf) do
        if due == '' then
            staying[#staying + 1] = key
        else
            dues[#dues + 1] = due
            dues[#dues + 1] = key
        end
    end
    -- It also finds a key of another type before anything is written.
    local due = call('ZRANGE', KEYS[2], '-inf', '(' .. text(now), 'BYSCORE', 'LIMIT', 0, 4 + #changes)
    -- The first write: if it fails, nothing was written.
    local oldest = math.max(0, version - ARGV[1])
    call('XADD', KEYS[4], 'MINID', '~', text(oldest) .. '-0', text(version) .. '-0', unpack(changes))
    written = true
    if origin then call('SET', KEYS[5], text(origin)) end
    call('SET', KEYS[3], text(version))
    call('HSET', KEYS[1], unpack(changes))
    if #staying > 0 then call('ZREM', KEYS[2], unpack(staying)) end
    if #dues > 0 then call('ZADD', KEYS[2], unpack(dues)) end
    return due
end

local function refusal(error)
    local words = type(error) == 'table' and error.err or tostring(error)
    return {written and 'unknown' or 'failed', words, command}
end

local isRead, error = pcall(function()
    for place = 2, #ARGV, 7 do answers[#answers + 1] = decide(unpack(ARGV, place, place + 6)) end
end)
if not isRead then
    for place = 2, (#ARGV - 1) / 7 + 1 do answers[place] = refusal(error) end
elseif #changes > 0 then
    local isWritten, result = pcall(write)
    if isWritten then
        redis.pcall('SPUBLISH', KEYS[4], table.concat(changes, '\n'))
        local due = {}
        for _, key in ipairs(result) do if not changed[key] then due[#due + 1] = key end end
        if #due > 0 then
            redis.pcall('ZREM', KEYS[2], unpack(due))
            redis.pcall('HDEL', KEYS[1], unpack(due))
        end
    else
        for _, place in ipairs(dependent) do answers[place] = refusal(result) end
    end
end
return answers
