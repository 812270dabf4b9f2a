// The view library: Preact with its hooks, and htm in place of JSX.
import htm from "../vendor/htm/htm.js"
import { Fragment, h, render } from "../vendor/preact/preact.js"

export { useEffect, useErrorBoundary, useId, useLayoutEffect, useMemo, useRef, useState } from "../vendor/preact/hooks.js"
export { Fragment, render }
export const html = htm.bind(h)
