// Files that are dropped on the page. Without this, a browser opens a file that misses the box in place of the page.
import { useEffect, useRef, useState } from "../lib/view.js"

/** @param {DragEvent} event */
const hasFiles = event => event.dataTransfer?.types.includes("Files")

/**
 * Takes a file that is dropped anywhere on the page. Returns whether one is over it.
 * @param {((file: File) => void) | null} onFile null if the page needs no file now
 */
export const useFileDrop = onFile => {
  const [isOver, show] = useState(false)
  const taking = useRef(onFile)
  taking.current = onFile
  useEffect(() => {
    const end = new AbortController()
    /** @param {string} type @param {(event: DragEvent) => void} listen */
    const on = (type, listen) => addEventListener(type, /** @type {any} */ (listen), { signal: end.signal })
    on("dragover", event => {
      if (!event.dataTransfer || !hasFiles(event)) return
      event.preventDefault()
      event.dataTransfer.dropEffect = taking.current ? "copy" : "none"
      show(taking.current !== null)
    })
    on("dragleave", event => event.relatedTarget === null && show(false)) // the window
    on("drop", event => {
      if (!hasFiles(event)) return
      event.preventDefault()
      show(false)
      const file = event.dataTransfer?.files[0]
      if (file) taking.current?.(file)
    })
    return () => end.abort()
  }, [])
  return isOver
}
