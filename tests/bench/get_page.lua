-- P12's load: GET of one path after the other, as a page requests it, for wrk. BENCH_ORIGIN: the
-- origin of the page; BENCH_PATHS: a file with one path per line; BENCH_ETAG: the tag that the page
-- has cached, if any. Run by lib/wrk.py.
local paths = {}
for line in io.lines(os.getenv("BENCH_PATHS")) do
    paths[#paths + 1] = line
end
local requests = {}
local at = 0

function init()
    wrk.headers["Origin"] = os.getenv("BENCH_ORIGIN")
    wrk.headers["If-None-Match"] = os.getenv("BENCH_ETAG")
    for index, path in ipairs(paths) do
        requests[index] = wrk.format("GET", path)
    end
end

function request()
    at = at % #requests + 1
    return requests[at]
end
