// The file of an import that is being uploaded, in the browser's database. So a reload continues the upload. The page of the
// job deletes it when the job takes no more rows. The list of imports and each import delete the files of all jobs after a day.
// The browser deletes them with the sign-out (Clear-Site-Data).

const NAME = "muster-imports"
const STORE = "files"
const KEPT_FOR = 24 * 3600 * 1000

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

/** Keeps the plan of an upload. A browser may refuse it; the upload works without. */
export const keepPlan = async (jobId, plan) => {
  try {
    await inStore("readwrite", store => store.put({ ...plan, keptAt: Date.now() }, jobId))
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
  try {
    await inStore("readwrite", store => store.openCursor(), deleteIfOld)
  } catch {
    // The browser deletes them with the sign-out.
  }
}

/** @returns {Promise<any | null>} the plan of the job, if this browser has it */
export const planOf = async jobId => {
  await dropOldPlans()
  try {
    return await inStore("readonly", store => store.get(jobId)) ?? null
  } catch {
    return null
  }
}

export const forgetPlan = async jobId => {
  try {
    await inStore("readwrite", store => store.delete(jobId))
  } catch {
    // The browser deletes it with the sign-out.
  }
}
