// The file of an import that is being uploaded, in the browser's database, so that a reload continues the upload. Sign-out
// deletes it (Clear-Site-Data), and so do the end of the upload and a day.

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

const inStore = async (mode, action) => {
  const database = await opened()
  try {
    return await new Promise((resolve, reject) => {
      const request = action(database.transaction(STORE, mode).objectStore(STORE))
      request.onsuccess = () => resolve(request.result)
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

/** @returns {Promise<any | null>} the plan of the job, if this browser has it */
export const planOf = async jobId => {
  try {
    const plan = await inStore("readonly", store => store.get(jobId))
    if (!plan || Date.now() - plan.keptAt < KEPT_FOR) return plan ?? null
    await forgetPlan(jobId)
  } catch {
    // As if there were none.
  }
  return null
}

export const forgetPlan = async jobId => {
  try {
    await inStore("readwrite", store => store.delete(jobId))
  } catch {
    // The database deletes it with the sign-out.
  }
}
