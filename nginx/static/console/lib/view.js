// The view library: Preact with its hooks, and htm in place of JSX.
import htm from "../vendor/htm/htm.js"
import { Fragment, createContext, h, render } from "../vendor/preact/preact.js"

export { useContext, useEffect, useErrorBoundary, useId, useLayoutEffect, useMemo, useRef, useState } from "../vendor/preact/hooks.js"
export { Fragment, createContext, render }
export const html = htm.bind(h)
