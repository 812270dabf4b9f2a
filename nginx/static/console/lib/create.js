// Creates records exactly once. If a reply is lost, the record may exist: a repetition with the same Idempotency-Key gets the reply
// of the first request, also with a secret that is shown once (docs/api/idempotency.md).
import { call } from "./api.js"
import { route } from "./router.js"
import { useState } from "./view.js"

/**
 * A function as post(), for one form. It sends a repeated request with the same key until it succeeds, because the API does not
 * record errors. Another path, body or organization gets a key of its own.
 */
export const createOnce = () => {
  /** @type {Map<string, string>} the keys of requests that have not succeeded */
  const keys = new Map()
  /**
   * @template {string} P
   * @param {P & Api.Path<"POST", P>} path of an operation that accepts an Idempotency-Key
   * @param {Api.Body<"POST", P>} [body]
   * @param {{ json?: string, headers?: Record<string, string> }} [options] as of call()
   * @returns {Promise<Api.Reply<"POST", P>>}
   */
  return async (path, body, { json, headers } = {}) => {
    const request = JSON.stringify([route.get().organization, path, json ?? body])
    const key = keys.get(request) ?? crypto.randomUUID()
    keys.set(request, key)
    const { data } = await call("POST", path, { body, json, headers: { ...headers, "Idempotency-Key": key } })
    keys.delete(request)
    return data
  }
}

/** createOnce() for as long as the form is shown: what the person begins again is a new record. */
export const useCreate = () => useState(() => ({ create: createOnce() }))[0].create
