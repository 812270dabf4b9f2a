-- P7's and P8's load: POST /v1/track as pages send it, for wrk: text/plain, the key in the query,
-- each event with its own client_event_id. BENCH_KEY: the tracking key; BENCH_ORIGIN: an origin
-- that the key allows; BENCH_RUN: a word that is unique for the run; BENCH_EVENTS: per call. Run by
-- lib/wrk.py.
local threads = 0

function setup(thread)
    threads = threads + 1
    thread:set("id", threads)
end

local headers = { ["Origin"] = os.getenv("BENCH_ORIGIN"), ["Content-Type"] = "text/plain;charset=UTF-8" }
local path = "/v1/track?key=" .. os.getenv("BENCH_KEY")
local run = os.getenv("BENCH_RUN")
local events = tonumber(os.getenv("BENCH_EVENTS"))
local count = 0

local function event()
    count = count + 1
    return '{"anonymous_id":"v-' .. (count % 5000) .. '","action":"page_viewed","tags":["pricing","spring"],'
        .. '"client_event_id":"' .. run .. "-" .. id .. "-" .. count .. '"}'
end

local function batch()
    local list = {}
    for place = 1, events do
        list[place] = event()
    end
    return '{"events":[' .. table.concat(list, ",") .. "]}"
end

function request()
    return wrk.format("POST", path, headers, events == 1 and event() or batch())
end
