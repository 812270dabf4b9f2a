// The organization's registry of attributes, which has several pages if it is large.
import { getAll } from "./api.js"

/** All attributes, also the disabled ones. @param {AbortSignal} [signal] @returns {Promise<Api.Attribute[]>} */
export const allAttributes = signal => getAll("/v1/attributes", "attributes", undefined, signal)
