import assert from "node:assert/strict"
import test from "node:test"
import { load } from "../console/connections/list.js"
import { parse, route } from "../console/lib/router.js"

const HERE = "01a1fd07-6e99-7265-b40a-2831efbbc0ee"

/** Answers requests by their path. @returns {string[]} the paths that were requested */
const serve = replies => {
  const paths = []
  globalThis.fetch = async path => {
    paths.push(path)
    return new Response(JSON.stringify(replies[path.split("?")[0]]), { headers: { "Content-Type": "application/json" } })
  }
  return paths
}

const replies = ready => ({ "/v1/external-data/catalog": [{ provider: "gitlab", ready }, { provider: "slack", ready: false }], "/v1/external-data/connections": [] })

test("connections are unknown, not missing, while no provider is set up", async () => {
  route.set(parse(`#/o/${HERE}/connections`))
  const paths = serve(replies(false))
  assert.equal((await load()).connections, null)
  assert.deepEqual(paths, ["/v1/external-data/catalog"])
})

test("connections are listed if a provider is set up", async () => {
  route.set(parse(`#/o/${HERE}/connections`))
  const paths = serve(replies(true))
  assert.deepEqual((await load()).connections, [])
  assert.deepEqual(paths, ["/v1/external-data/catalog", `/v1/external-data/connections?org=${HERE}`])
})
