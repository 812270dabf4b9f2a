// The file of an import that is being uploaded, in the browser's database, so that a reload continues the upload. It is
// deleted by the sign-out (Clear-Site-Data), by the page of a job that takes no more rows, and by any import's page after a
// day.

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
    await inStore("readwrite", store => store.put({ ...plan, jobId, keptAt: Date.now() }, jobId))
  } catch {
    // Without the database, a reload asks for the file again.
  }
}

const isOld = plan => Date.now() - plan.keptAt >= KEPT_FOR

/** Deletes the old plans of all jobs. */
const dropOldPlans = async () => {
  const plans = await inStore("readonly", store => store.getAll())
  await Promise.all(plans.filter(isOld).map(plan => forgetPlan(plan.jobId)))
}

/** @returns {Promise<any | null>} the plan of the job, if this browser has it */
export const planOf = async jobId => {
  try {
    await dropOldPlans()
    return await inStore("readonly", store => store.get(jobId)) ?? null
  } catch {
    return null
  }
}

export const forgetPlan = async jobId => {
  try {
    await inStore("readwrite", store => store.delete(jobId))
  } catch {
    // The database deletes it with the sign-out.
  }
}
