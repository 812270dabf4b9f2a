// Conflicts of If-Match. After an attempt with an unknown result, the change of the record may be the person's own.
import { dialogs as t } from "./texts_dialogs.js"
import { useRef } from "./view.js"

/** Whether the server may have done what was asked, although the call failed. @param {any} error */
const isUnsure = error => error?.status === 0 || error?.status >= 500

/**
 * The messages of a form's error codes.
 * @param {any} error of the last attempt @param {Record<string, string>} [known] messages of its codes
 * @param {any} [version] of the record that the form shows: with another one, earlier attempts no longer count
 * @returns {Record<string, string>}
 */
export const useConflict = (error, known, version) => {
  const wasUnsure = useRef(false)
  const seen = useRef(version)
  if (seen.current !== version) wasUnsure.current = false
  seen.current = version
  wasUnsure.current ||= isUnsure(error)
  return { PRECONDITION_FAILED: t.conflict, ...known, ...(wasUnsure.current && { PRECONDITION_FAILED: t.unsure }) }
}
