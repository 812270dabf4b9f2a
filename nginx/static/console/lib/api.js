// Calls of Muster's API. The session is in a cookie that scripts cannot read (docs/api/sign-in.md).
import { route } from "./router.js"
import { confirmFactor, endSession, session, takeSession } from "./session.js"
import { noteUse } from "./session_end.js"

/** A call that failed. `fields`: the faults of a 422 by the path of the field. */
export class ApiError extends Error {
  /** @param {number} status @param {any} error @param {string | null} requestId */
  constructor(status, error, requestId) {
    super(error.message)
    this.status = status
    this.code = error.code
    this.details = error.details ?? {}
    this.requestId = requestId
    /** @type {Api.FieldFault[]} */
    const faults = this.details.fields ?? []
    /** @type {Record<string, string>} */
    this.fields = Object.fromEntries(faults.map(fault => [fault.path, fault.message]))
  }
}

/** Whether the same call may succeed in a while. @param {any} error */
export const isPassing = error => error instanceof ApiError && (error.status === 0 || error.status === 429 || error.status >= 500)

const UNREACHABLE = { code: "UNREACHABLE", message: "The server cannot be reached. Check your connection, and try again." }
const UNREADABLE = { code: "UNREADABLE", message: "The server's answer could not be read. Try again." }
// Calls about the person act on no organization.
const WITHOUT_ORGANIZATION = /^\/(v1\/auth|api\/auth|v1\/sessions?|v1\/two-factor)(\/|$)/
const ENDED = new Set(["MISSING", "SESSION_ENDED", "INVALID"])

/** @param {string} path @param {Record<string, any>} [query] empty values are left out */
const withQuery = (path, query = {}) => {
  const given = Object.entries(query).filter(([, value]) => value !== null && value !== undefined && value !== "")
  return given.length ? `${path}?${new URLSearchParams(given)}` : path
}

/** @param {Response} reply */
const failure = async reply => {
  const requestId = reply.headers.get("X-Request-Id")
  try {
    const { error } = await reply.json()
    return new ApiError(reply.status, error, requestId)
  } catch {
    return new ApiError(reply.status, UNREADABLE, requestId)
  }
}

/**
 * @typedef {{ body?: any, json?: string, query?: Record<string, any>, headers?: Record<string, string>, signal?: AbortSignal }} Options
 * @param {string} method @param {string} path @param {string | null} organization @param {Options} options json: a body that is JSON already
 */
const send = async (method, path, organization, { body, json = body === undefined ? undefined : JSON.stringify(body), query, headers, signal }) => {
  try {
    return await fetch(withQuery(path, query), {
      method, signal, body: json, credentials: "same-origin", cache: "no-store",
      headers: {
        "X-Muster-Console": "1",
        ...(organization ? { "X-Organization": organization } : {}),
        ...(json === undefined ? {} : { "Content-Type": "application/json" }),
        ...headers,
      },
    })
  } catch (error) {
    if (signal?.aborted) throw error
    throw new ApiError(0, UNREACHABLE, null)
  }
}

/**
 * Whether a request may be repeated after a 401. A code of the second factor gives the cookie another value, and a request that
 * was on its way has the value before: the session has ended only if the server says so again.
 * @param {ApiError} error @param {string} path @param {string | undefined} person who made the request
 */
const mayRepeat = async (error, path, person) => {
  if (error.code === "2FA_TOO_OLD") return confirmFactor()
  if (!ENDED.has(error.details.reason)) return false
  if (path !== "/v1/session" && session.get().state === "in") {
    const reply = await send("GET", "/v1/session", null, {})
    if (reply.ok) return (await reply.json()).admin.id === person
    if (reply.status !== 401) throw await failure(reply)
  }
  endSession()
  return false
}

/** After a 403, which may mean that the person's seat was removed or changed: reads the seats again. */
const readSeats = async () => {
  try {
    const reply = await send("GET", "/v1/session", null, {})
    if (reply.ok) takeSession(await reply.json())
  } catch {
    // The next 403 asks again.
  }
}

/**
 * The body of a reply. A reply that is interrupted counts as a server that cannot be reached.
 * @param {Response} reply @param {Options & { asText?: boolean }} options
 */
const bodyOf = async (reply, { asText, signal }) => {
  const isJson = !asText && reply.headers.get("Content-Type")?.startsWith("application/json")
  try {
    return await (isJson ? reply.json() : reply.text())
  } catch (error) {
    if (signal?.aborted) throw error
    throw new ApiError(0, UNREADABLE, reply.headers.get("X-Request-Id"))
  }
}

/**
 * One call, for the organization in the address at its beginning. If the API asks for a recent second factor, the person is asked for a code, and the call is repeated once.
 * The types of the path, body, query and reply are those of the OpenAPI description.
 * @template {string} M
 * @template {string} P
 * @param {M} method
 * @param {P & Api.Path<M, P>} path
 * @param {{ body?: Api.Body<M, P>, json?: string, query?: Api.Query<M, P>, headers?: Record<string, string>, signal?: AbortSignal,
 *   asText?: boolean }} [options] json: a body that is JSON already; asText: the reply is not read as JSON
 * @returns {Promise<{ data: Api.Reply<M, P>, headers: Headers, status: number }>}
 */
export const call = async (method, path, options = {}) => {
  const organization = WITHOUT_ORGANIZATION.test(path) ? null : route.get().organization
  const person = session.get().admin?.id
  let reply = await send(method, path, organization, options)
  if (reply.status === 401) {
    const error = await failure(reply)
    if (!(await mayRepeat(error, path, person))) throw error
    reply = await send(method, path, organization, options)
  }
  else noteUse(reply)
  if (!reply.ok) {
    const error = await failure(reply)
    if (error.code === "FORBIDDEN" && organization) await readSeats()
    throw error
  }
  return { data: reply.status === 204 ? null : await bodyOf(reply, options), headers: reply.headers, status: reply.status }
}

/**
 * @template {string} P
 * @param {P & Api.Path<"GET", P>} path @param {Api.Query<"GET", P>} [query] @param {AbortSignal} [signal]
 */
export const get = async (path, query, signal) => (await call("GET", path, { query, signal })).data
/**
 * @template {string} P
 * @param {P & Api.Path<"POST", P>} path @param {Api.Body<"POST", P>} [body] @param {Api.Query<"POST", P>} [query]
 */
export const post = async (path, body, query) => (await call("POST", path, { body, query })).data

/** The header that rejects a change if the record has changed since it was read. Its ETag is `updated_at` in quotes. @param {{ updated_at: string }} record */
export const ifMatch = record => ({ "If-Match": `"${record.updated_at}"` })

/** The header that rejects a PUT of a record that exists already. */
export const IF_NEW = { "If-None-Match": "*" }

/** An error without the messages that are shown next to their fields. @param {any} error @param {(path: string) => boolean} [isShown] */
export const withoutFields = (error, isShown = () => true) => error && ({
  code: error.code, message: error.message, requestId: error.requestId,
  fields: Object.fromEntries(Object.entries(error.fields ?? {}).filter(([path]) => !isShown(path))),
})

/**
 * The first records of a list, page after page, and whether there are more.
 * @param {number} most records after which no further page is read
 * @param {any} path @param {string} name of the records in the reply @param {any} [query] @param {AbortSignal} [signal]
 * @returns {Promise<{ records: any[], hasMore: boolean }>}
 */
export const getFirst = async (most, path, name, query, signal) => {
  const records = []
  for (let cursor = /** @type {string | null | undefined} */ (null); cursor !== undefined;) {
    const page = await get(path, { ...query, cursor, limit: 100 }, signal)
    records.push(...page[name])
    cursor = page.next_cursor ?? undefined
    if (cursor !== undefined && records.length >= most) return { records, hasMore: true }
  }
  return { records, hasMore: false }
}

/**
 * All records of a list. For lists that are short by a limit of the API.
 * @param {any} path @param {string} name of the records in the reply @param {any} [query] @param {AbortSignal} [signal]
 */
export const getAll = async (path, name, query, signal) => (await getFirst(Infinity, path, name, query, signal)).records
