-- P18's load: the costliest legal requests of one organization in turn, for wrk. BENCH_REQUESTS: a
-- file with one request per line: method, path, credential, origin, and the file of the body, or -.
-- Run by lib/wrk.py.
local requests = {}
local count = 0

local function content_of(path)
    local file = assert(io.open(path, "rb"))
    local content = file:read("*a")
    file:close()
    return content
end

local function prepared(line)
    local method, path, credential, origin, body = line:match("^(%S+) (%S+) (%S+) (%S+) (%S+)$")
    local headers = { ["Origin"] = origin, ["Content-Type"] = "application/json" }
    if credential ~= "-" then
        headers["Authorization"] = "Bearer " .. credential
    end
    return wrk.format(method, path, headers, body ~= "-" and content_of(body) or nil)
end

function init(_)
    for line in io.lines(os.getenv("BENCH_REQUESTS")) do
        requests[#requests + 1] = prepared(line)
    end
end

function request()
    count = count + 1
    return requests[count % #requests + 1]
end
