// Conflicts of If-Match. After an attempt with an unknown result, the change of the record may be the person's own.
import { dialogs as t } from "./texts_dialogs.js"
import { useRef } from "./view.js"

/** Whether the server may have done what was asked, although the call failed. @param {any} error */
const isUnsure = error => error?.status === 0 || error?.status >= 500

/** What had an attempt with an unknown result: records as they were read, and forms without a record. @type {WeakSet<object>} */
const tried = new WeakSet()

/**
 * The messages of a form's error codes.
 * @param {any} error of the last attempt @param {Record<string, string>} [known] messages of its codes
 * @param {any} [record] that the form changes, as it was read: the attempts of all forms with this object count. Each reading makes another one
 * @returns {Record<string, string>}
 */
export const useConflict = (error, known, record) => {
  const form = useRef({ error: /** @type {any} */ (null) }).current
  const subject = record ?? form
  if (error !== form.error && isUnsure(error)) tried.add(subject)
  form.error = error
  return { PRECONDITION_FAILED: t.conflict, ...known, ...(tried.has(subject) && { PRECONDITION_FAILED: t.unsure }) }
}
