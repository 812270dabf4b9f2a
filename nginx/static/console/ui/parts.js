// Parts that all screens use.
import { copyText } from "../lib/copy.js"
import { isPredicate } from "../lib/faults.js"
import { isFocusLost } from "../lib/focus.js"
import { isolate } from "../lib/isolate.js"
import { placeNow } from "../lib/router.js"
import { texts } from "../lib/texts.js"
import { Scope, mayLeave } from "../lib/unsaved.js"
import { html, useEffect, useId, useLayoutEffect, useRef, useState } from "../lib/view.js"

/** @typedef {import("../lib/api.js").ApiError} ApiError */

const t = texts.parts
/** @type {Record<string, string>} */
const general = texts.errors

let visited = "" // the screen whose heading had the focus last

/**
 * Whether a heading takes the focus: on a new screen whose fields a person does not use yet, in a dialog, or if the control with
 * the focus is gone. @param {HTMLElement} heading
 */
const takesFocus = heading => {
  const isNew = placeNow() !== visited
  visited = placeNow()
  const isInField = document.activeElement?.matches("main :is(input, select, textarea)")
  return (isNew && !isInField) || heading.closest("dialog") !== null || isFocusLost()
}

/**
 * The heading of a screen. It sets the page's title and takes the focus, so that a screen reader reads it.
 * @param {{ text: string, actions?: any, children?: any }} props
 */
export const Title = ({ children, text, actions }) => {
  const heading = useRef(null)
  useEffect(() => {
    document.title = `${isolate(text)} – Muster`
    if (takesFocus(heading.current)) heading.current.focus({ preventScroll: true })
  }, [text])
  return html`<header class="title"><h1 ref=${heading} tabindex="-1">${children ?? text}</h1>
    ${actions && html`<div class="actions">${actions}</div>`}</header>`
}

/**
 * A step of a screen. When another one replaces it, the new heading takes the focus from a control that is gone.
 * @param {{ title: string, children: any }} props
 */
export const Step = ({ title, children }) => {
  const heading = useRef(null)
  const shown = useRef(title)
  useLayoutEffect(() => {
    if (shown.current !== title && isFocusLost()) heading.current.focus({ preventScroll: true })
    shown.current = title
  }, [title])
  return html`<h2 key=${title} ref=${heading} tabindex="-1">${title}</h2>${children}`
}

export const Loading = ({ text = t.loading }) => html`<p class="loading" role="status">${text}</p>`

export const Empty = ({ title, children }) => html`<div class="empty"><h2>${title}</h2>${children}</div>`

/** The result is here, because an announcement is behind a modal dialog. @param {{ text: string, label?: string }} props */
export const CopyButton = ({ text, label = t.copy }) => {
  const [result, show] = useState("")
  const isDone = result === t.copied
  const copy = async () => {
    show("") // so that the same result is read again
    const done = await copyText(text)
    show(done ? t.copied : t.notCopied)
  }
  useEffect(() => {
    if (!isDone) return undefined
    const timer = setTimeout(() => show(""), 3000)
    return () => clearTimeout(timer)
  }, [isDone])
  return html`<span class="copy"><button type="button" class="small" onClick=${copy}>${isDone ? t.copied : label}</button>${" "}
    <span class=${isDone ? "hidden" : "fault"} role="status">${result}</span></span>`
}

/** @param {ApiError} error */
const faultLines = error => Object.entries(error.fields ?? {}).map(([path, message]) => `${path} ${message}`.trim())

/**
 * An error with what to do, and its request id to copy. `known`: messages of its code that replace the API's. isLow: it is below
 * what people use meanwhile, at the bottom of the window, so that it moves no control. Where it does not stick, it is scrolled to
 * once for each code, because live events repeat it.
 * @param {{ error: ApiError | null, retry?: () => void, retryText?: string, known?: Record<string, string>, isLow?: boolean }} props
 */
export const ErrorBox = props => props.error && html`<${ShownError} ...${props} />`

/** @param {{ error: ApiError, retry?: () => void, retryText?: string, known?: Record<string, string>, isLow?: boolean }} props */
const ShownError = ({ error, retry, retryText = t.tryAgain, known = {}, isLow = false }) => {
  const box = useRef(/** @type {HTMLElement | null} */ (null))
  useLayoutEffect(() => {
    const { current } = box
    if (current && !(isLow && getComputedStyle(current).position === "sticky")) current.scrollIntoView({ block: "nearest" })
  }, [error.code, isLow || error.requestId])
  const message = known[error.code] ?? general[error.code] ?? error.message
  const report = [message, ...faultLines(error), error.requestId && `${t.requestId}: ${error.requestId}`].filter(Boolean).join("\n")
  return html`<div class="box error ${isLow ? "low" : ""}" role="alert" ref=${box}>
    <p>${message}</p>
    ${faultLines(error).length > 0 && html`<ul>${faultLines(error).map(line => html`<li>${line}</li>`)}</ul>`}
    ${error.requestId && html`<p class="faint">${t.requestId}: <code>${error.requestId}</code> <${CopyButton} text=${report} label=${t.copyError} /></p>`}
    ${retry && html`<button type="button" onClick=${retry}>${retryText}</button>`}
  </div>`
}

/**
 * What a loader shows until it has data. An error of a later load is below them. children: draws the data. title: of the screen,
 * if the data have its heading.
 * @param {{ state: { data: any, error: ApiError | null, reload: () => void }, title?: string, children: (data: any) => any }} props
 */
export const Loaded = ({ state, title, children }) => {
  if (state.data !== null) return html`${children(state.data)}<${ErrorBox} error=${state.error} retry=${state.reload} isLow=${true} />`
  return html`${title && html`<${Title} text=${title} />`}
    ${state.error ? html`<${ErrorBox} error=${state.error} retry=${state.reload} />` : html`<${Loading} />`}`
}

/** The API's messages about a field begin with the verb: "is required". @param {string} message */
const sentenceOf = message => (isPredicate(message) ? `${t.thisValue} ${message}` : message)

/**
 * As Loaded, for data with filters: those of other filters are dimmed until those of the current ones are there.
 * @param {{ state: { data: any, error: ApiError | null, isOld: boolean, reload: () => void }, children: (data: any) => any }} props
 */
export const Filtered = ({ state, children }) => html`<p class="hidden" role="status">${state.isOld && t.loading}</p>
  <div class=${state.isOld ? "old" : ""} aria-busy=${state.isOld}><${Loaded} state=${state}>${children}<//></div>`

/**
 * A labeled field. `children` gets the attributes that connect the control with its label, hint and error.
 * @param {{ label: string, hint?: string, error?: string, children: (attributes: object) => any }} props
 */
export const Field = ({ label, hint, error, children }) => {
  const id = useId()
  const described = [hint && `${id}-hint`, error && `${id}-error`].filter(Boolean).join(" ")
  const attributes = { id, "aria-describedby": described || undefined, "aria-invalid": error ? "true" : undefined }
  return html`<div class="field"><label for=${id}>${label}</label>
    ${children(attributes)}
    ${hint && html`<p class="hint" id="${id}-hint">${hint}</p>`}
    ${error && html`<p class="fault" id="${id}-error">${sentenceOf(error)}</p>`}</div>`
}

/** Controls with a message about all of them. @param {{ legend: string, error?: string, children: any }} props */
export const Group = ({ legend, error, children }) => {
  const id = useId()
  return html`<fieldset aria-describedby=${error ? id : undefined}><legend>${legend}</legend>${children}
    ${error && html`<p class="fault" id=${id} role="alert">${sentenceOf(error)}</p>`}</fieldset>`
}

/** @type {Record<string, string>} */
const LAST = { date: "9999-12-31", "datetime-local": "9999-12-31T23:59" } // without it, browsers take years of six digits

/**
 * isFirst: takes the focus when it is drawn first, from the heading too. Other attributes are those of the input.
 * @param {{ label: string, hint?: string, error?: string, type?: string, value: string, onInput: (text: string) => void, isFirst?: boolean }} props
 */
export const TextField = ({ label, hint, error, type, value, onInput, isFirst = false, ...rest }) => {
  const input = useRef(null)
  useEffect(() => void (isFirst && input.current.focus()), [])
  return html`<${Field} label=${label} hint=${hint} error=${error}>${attributes => html`
    <input ref=${input} ...${attributes} type=${type} max=${type && LAST[type]} ...${rest} value=${value} onInput=${event => onInput(event.target.value)} />`}<//>`
}

/** The options, and the value itself if it is none of them: a form shows it, and keeps it. @param {string[][]} options @param {string} value */
const withValue = (options, value) =>
  (!value || options.some(([key]) => key === value) ? options : [...options, [value, t.notOffered(value)]])

/** @param {{ label: string, hint?: string, error?: string, value: string, onChange: (key: string) => void, options: string[][] }} props */
export const SelectField = ({ label, hint, error, value, onChange, options, ...rest }) =>
  html`<${Field} label=${label} hint=${hint} error=${error}>${attributes => html`
    <select ...${attributes} ...${rest} value=${value} onChange=${event => onChange(event.target.value)}>
      ${withValue(options, value).map(([key, text]) => html`<option value=${key} selected=${key === value}>${text}</option>`)}
    </select>`}<//>`

/**
 * A modal dialog. It returns the focus to the control that opened it. Escape and the button at its top, which is there while it
 * loads too, ask first if that loses something unsaved. A button with a description gets the focus before other buttons.
 * onClose: null while it must stay.
 * @param {{ title: string, onClose: (() => void) | null, isWide?: boolean, children: any }} props
 */
export const Dialog = ({ title, onClose, isWide = false, children }) => {
  const dialog = useRef(null)
  const closer = useRef(null) // the last in the dialog, so that what it loads is before it
  const [scope] = useState({})
  const first = useRef(false)
  const focusFirst = () => {
    const control = dialog.current.querySelector("input, select, textarea, button[aria-describedby]")
    control?.focus()
    first.current = document.activeElement === control // a button is not shown before the dialog has loaded
  }
  useLayoutEffect(() => {
    const before = document.activeElement
    const element = dialog.current
    element.showModal()
    focusFirst()
    return () => {
      element.close() // what is around a modal dialog takes no focus
      getSelection()?.removeAllRanges() // of a click in it: Ctrl+A would select it around the field
      if (before instanceof HTMLElement) before.focus()
    }
  }, [])
  useLayoutEffect(() => { // fields that have loaded
    if (!first.current && [dialog.current, closer.current].includes(document.activeElement)) focusFirst()
  })
  const leave = async () => {
    if (onClose && await mayLeave(scope)) onClose()
  }
  const cancel = event => {
    event.preventDefault()
    leave()
  }
  const closed = () => { // a browser closes it in spite of cancel() when Escape is pressed again
    if (!dialog.current?.isConnected || dialog.current.open) return
    dialog.current.showModal()
    leave()
  }
  return html`<dialog ref=${dialog} class=${isWide ? "wide" : ""} aria-label=${title} onCancel=${cancel} onClose=${closed}>
    <h2>${title}</h2><${Scope.Provider} value=${scope}>${children}<//>
    <button type="button" class="quiet closer" ref=${closer} aria-label=${t.close} disabled=${!onClose} onClick=${leave}>×</button></dialog>`
}

/**
 * A question before something that cannot be undone. The focus begins on Cancel. `known`: as of ErrorBox.
 * @param {{ title: string, action: string, kind?: string, isBusy: boolean, error: ApiError | null, known?: Record<string, string>,
 *   onConfirm: () => void, onClose: () => void, children: any }} props
 */
export const Confirm = ({ title, action, kind = "danger", isBusy, error, known, onConfirm, onClose, children }) => {
  const id = useId()
  return html`<${Dialog} title=${title} onClose=${onClose}><div id=${id}>${children}</div>
    <${ErrorBox} error=${error} known=${known} />
    <div class="actions"><button type="button" class=${kind} disabled=${isBusy} onClick=${onConfirm}>${action}</button>
      <button type="button" aria-describedby=${id} onClick=${onClose}>${t.cancel}</button></div><//>`
}

/** A secret that is shown once. @param {{ label: string, value: string }} props */
export const Secret = ({ label, value }) => html`<div class="secret"><p>${label}</p>
  <code tabindex="0">${value}</code> <${CopyButton} text=${value} /></div>`

/** Older browsers take the roles of rows and cells that are drawn as blocks. @param {HTMLTableRowElement} row @param {string[]} columns */
const nameCells = (row, columns) => {
  row.setAttribute("role", "row")
  for (const [index, cell] of [...row.cells].entries()) {
    cell.setAttribute("role", cell.matches("th") ? "rowheader" : "cell")
    if (cell.matches("td")) cell.dataset.column = columns[index]
  }
}

/**
 * A table that scrolls in its own region when it is too wide. numbers: the indexes of the columns with numbers. isStacked: narrow
 * windows have the cells of a row below each other, so that its buttons are in view.
 * @param {{ caption: string, columns: string[], numbers?: number[], isStacked?: boolean, children: any }} props
 */
export const Table = ({ caption, columns, numbers = [], isStacked = false, children }) => {
  const body = useRef(/** @type {HTMLTableSectionElement | null} */ (null))
  useLayoutEffect(() => {
    if (isStacked) for (const row of body.current?.rows ?? []) nameCells(row, columns)
  })
  return html`<div class="scroll ${isStacked ? "stacked" : ""}" role="region" aria-label=${caption} tabindex="0">
    <table role=${isStacked ? "table" : undefined}><caption class="hidden">${caption}</caption>
      <thead><tr>${columns.map((column, index) => html`<th scope="col" class=${numbers.includes(index) ? "number" : ""}>${column}</th>`)}</tr></thead>
      <tbody role=${isStacked ? "rowgroup" : undefined} ref=${body}>${children}</tbody></table></div>`
}

/**
 * The end of a list: the button for its next page. After the last page a text takes its place and its focus, so that a person who
 * uses the keyboard stays there. @param {{ list: ReturnType<typeof import("../lib/load.js").useList> }} props
 */
export const More = ({ list }) => {
  const end = useRef(/** @type {HTMLElement | null} */ (null))
  useLayoutEffect(() => void (isFocusLost() && end.current?.focus({ preventScroll: true })), [list.hasMore])
  return html`${list.hasMore
    ? html`<p><button type="button" disabled=${list.more.isBusy} onClick=${list.loadMore}>${list.more.isBusy ? t.loading : t.more}</button></p>`
    : list.isExtended && html`<p class="faint" tabindex="-1" ref=${end}>${t.end}</p>`}
    <${ErrorBox} error=${list.more.error} isLow=${true} />`
}

/** A state as a word, with a shape and a color that repeat it. @param {{ kind?: "plain" | "good" | "warn" | "bad", children: any }} props */
export const Badge = ({ kind = "plain", children }) => html`<span class="badge ${kind}">${children}</span>`

/** Pairs of names and values; values that are missing are left out. @param {{ pairs: Array<[string, any]> }} props */
export const Facts = ({ pairs }) => html`<dl class="facts">${pairs.filter(([, value]) => value !== undefined)
  .map(([name, value]) => html`<div><dt>${name}</dt><dd>${value === null || value === "" ? "–" : value}</dd></div>`)}</dl>`
