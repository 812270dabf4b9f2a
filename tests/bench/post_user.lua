-- P10's load: POST /v1/users of one new person after the other, each with an Idempotency-Key, for
-- wrk. BENCH_KEY: the organization's key; BENCH_RUN: a word that is unique for the run. Run by
-- lib/wrk.py.
local threads = 0

function setup(thread)
    threads = threads + 1
    thread:set("id", threads)
end

local headers = {
    ["Authorization"] = "Bearer " .. os.getenv("BENCH_KEY"),
    ["Content-Type"] = "application/json",
}
local run = os.getenv("BENCH_RUN")
local count = 0
local body = [[{"email":"%08x.%s@example.com","external_id":"C-%s","first_name":"Jürgen",]]
    .. [["last_name":"Fernández","country":"DE","dob":"1984-06-17","attributes":{"phone":"+44 7700 900123",]]
    .. [["shirt_size":"L","favourite_team":"Northbridge Rovers"}}]]

function init()
    math.randomseed(id)
end

function request()
    count = count + 1
    local name = run .. "-" .. id .. "-" .. count
    headers["Idempotency-Key"] = "bench-" .. name
    return wrk.format("POST", "/v1/users", headers, body:format(math.random(0, 2147483647), name, name))
end
