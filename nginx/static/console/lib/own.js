// Looks up keys that a person has chosen. Such a key may be the name of a method that all objects have, such as "constructor".

/**
 * The value that an object itself has for a key; undefined for another key.
 * @template T
 * @param {Record<string, T>} object
 * @param {string | null | undefined} key
 * @returns {T | undefined}
 */
export const own = (object, key) => (key != null && Object.hasOwn(object, key) ? object[key] : undefined)
