-- P9's load: GET of one member after the other, for wrk. BENCH_KEY: the organization's key;
-- BENCH_PATHS: a file with one path per line. Run by lib/wrk.py.
local paths = {}
for line in io.lines(os.getenv("BENCH_PATHS")) do
    paths[#paths + 1] = line
end
local requests = {}
local at = 0

function init()
    wrk.headers["Authorization"] = "Bearer " .. os.getenv("BENCH_KEY")
    for index, path in ipairs(paths) do
        requests[index] = wrk.format("GET", path)
    end
end

function request()
    at = at % #requests + 1
    return requests[at]
end
