// Modules that are loaded when they are needed. An upgrade of the server replaces the folder of the console's files, so a page
// that was opened before it cannot load further modules. It loads itself again.

const MAIN = new URL("../main.js", import.meta.url).pathname

/** Whether the server has another version of the console than this page. */
const isOutdated = async () => {
  try {
    const reply = await fetch("/console/", { cache: "no-store" })
    return reply.ok && !(await reply.text()).includes(`"${MAIN}"`)
  } catch {
    return false
  }
}

/**
 * Imports a module. After an upgrade of the server it loads the page again instead, and does not return.
 * @template T
 * @param {() => Promise<T>} load
 */
export const loadModule = async load => {
  try {
    return await load()
  } catch (error) {
    if (!(await isOutdated())) throw error
    location.reload()
    return new Promise(() => {})
  }
}
