// The text that a person writes, as it would be stored: asked for while the person types, and stored nowhere.
import { call } from "../lib/api.js"
import { startAsking } from "../lib/newest.js"
import { useEffect, useRef, useState } from "../lib/view.js"

const PAUSE = 400 // milliseconds without typing before the server is asked
const SHOWN = ["title", "locale", "cover_url", "body_html"]
const KEPT_ALL = { dropped: [], dropped_count: 0 }

/** Whether the preview of two forms is the same. @param {Record<string, string>} one @param {Record<string, string>} other */
export const looksLike = (one, other) => SHOWN.every(name => one[name] === other[name])

/**
 * A function that returns the form with its text as it would be stored. It asks the server only for a text that is neither stored nor
 * the last one.
 * @param {Record<string, string>} stored the form of the stored article @param {(text: string, signal: AbortSignal) => Promise<any>} sanitize
 */
export const makePreviewing = (stored, sanitize) => {
  let last = { text: stored.body_html, answer: /** @type {any} */ ({ ...KEPT_ALL, body_html: stored.body_html }) }
  return async (fields, signal) => {
    if (fields.body_html !== last.text) last = { text: fields.body_html, answer: await sanitize(fields.body_html, signal) }
    return { fields, ...last.answer }
  }
}

const sanitize = async (text, signal) =>
  (await call("POST", "/console/v1/articles/preview", { body: { body_html: text }, signal })).data

/** @type {{ shown: any, error: any }} */
const NOTHING = { shown: null, error: null }

/**
 * The preview of what is typed. shown: the last answer with its form; null until there is one, and while the form is what is stored.
 * @param {Record<string, string>} fields of the form @param {Record<string, string>} stored the form of the stored article
 * @param {boolean} mayChange without it, nothing is asked for, and nothing counts as changed
 * @returns {{ shown: any, error: any, isChanged: boolean, retry: () => void }}
 */
export const useLivePreview = (fields, stored, mayChange) => {
  const [state, show] = useState(NOTHING)
  const asking = useRef(/** @type {any} */ (null))
  const isChanged = mayChange && !looksLike(fields, stored)
  useEffect(() => {
    asking.current = startAsking({
      run: makePreviewing(stored, sanitize), pause: PAUSE,
      onAnswer: shown => show({ shown, error: null }), onError: error => show({ shown: null, error }),
    })
    show(NOTHING)
    return asking.current.stop
  }, SHOWN.map(name => stored[name]))
  useEffect(() => {
    if (isChanged) return asking.current.ask(fields)
    asking.current.forget()
    show(NOTHING)
  }, [mayChange, ...SHOWN.map(name => fields[name]), ...SHOWN.map(name => stored[name])])
  return { ...(isChanged ? state : NOTHING), isChanged, retry: () => asking.current.ask(fields, 0) }
}
