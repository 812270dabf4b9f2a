// The first field of a form with a fault, which can be far from the button that sent the form.
import { useEffect } from "./view.js"

/** Gives the focus to the first faulty field of a form after each error. @param {any} error @param {string} form its selector */
export const useFaultyField = (error, form) => useEffect(() => {
  const faulty = document.querySelector(`${form} [aria-invalid=true]`)
  if (error && faulty instanceof HTMLElement) faulty.focus()
}, [error])
