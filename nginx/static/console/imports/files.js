// The file of an import that is being uploaded, in the browser's database. So a reload continues the upload. The page of the
// job deletes it when the job takes no more rows. The list of imports and each import delete the files of all jobs after a day.
// The browser deletes them with the sign-out (Clear-Site-Data). The memory of the page has the plans too, as long as the database
// would have them: a browser may refuse the database, or have no space for a file.
import { session } from "../lib/session.js"

const NAME = "muster-imports"
const STORE = "files"
const KEPT_FOR = 24 * 3600 * 1000

/** @type {Map<string, any>} the plans of this page, by job */
const inPage = new Map()
session.subscribe(() => session.get().admin === null && inPage.clear())

/** @returns {Promise<IDBDatabase>} */
const opened = () => new Promise((resolve, reject) => {
  const request = indexedDB.open(NAME, 1)
  request.onupgradeneeded = () => request.result.createObjectStore(STORE)
  request.onsuccess = () => resolve(request.result)
  request.onerror = () => reject(request.error)
})

/**
 * Makes a request of the files.
 * @param {IDBTransactionMode} mode
 * @param {(store: IDBObjectStore) => IDBRequest} action
 * @param {(result: any) => boolean} [step] asks for a further result of the request, and then returns true
 * @returns {Promise<any>} the last result
 */
const inStore = async (mode, action, step = () => false) => {
  const database = await opened()
  try {
    return await new Promise((resolve, reject) => {
      const request = action(database.transaction(STORE, mode).objectStore(STORE))
      request.onsuccess = () => step(request.result) || resolve(request.result)
      request.onerror = () => reject(request.error)
    })
  } finally {
    database.close()
  }
}

/** Keeps the plan of an upload: in the page, and in the database if the browser allows it. */
export const keepPlan = async (jobId, plan) => {
  const kept = { ...plan, keptAt: Date.now() }
  inPage.set(jobId, kept)
  try {
    await inStore("readwrite", store => store.put(kept, jobId))
  } catch {
    // Without the database, a reload asks for the file again.
  }
}

const isOld = plan => Date.now() - plan.keptAt >= KEPT_FOR

const deleteIfOld = cursor => {
  if (!cursor) return false
  if (isOld(cursor.value)) cursor.delete()
  cursor.continue()
  return true
}

/** Deletes the old plans of all jobs. */
export const dropOldPlans = async () => {
  for (const [jobId, plan] of inPage) if (isOld(plan)) inPage.delete(jobId)
  try {
    await inStore("readwrite", store => store.openCursor(), deleteIfOld)
  } catch {
    // The browser deletes them with the sign-out.
  }
}

/** @returns {Promise<any | null>} the plan of the job, if this browser has it */
export const planOf = async jobId => {
  await dropOldPlans()
  const stored = await inStore("readonly", store => store.get(jobId)).catch(() => undefined)
  return stored ?? inPage.get(jobId) ?? null
}

export const forgetPlan = async jobId => {
  inPage.delete(jobId)
  try {
    await inStore("readwrite", store => store.delete(jobId))
  } catch {
    // The browser deletes it with the sign-out.
  }
}
