// Whether a component is still shown.
import { useEffect, useRef } from "./view.js"

/** @returns {() => boolean} whether the component is still shown, for an action that continues after a call */
export const useIsShown = () => {
  const isShown = useRef(true)
  useEffect(() => () => void (isShown.current = false), [])
  return () => isShown.current
}
