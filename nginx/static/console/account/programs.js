// Names of browsers in the text that they send about themselves. Any program can send any text.

// The first one counts: other browsers also name Chrome and Safari.
const BROWSERS = [
  ["Edg", "Edge"], ["EdgA", "Edge"], ["EdgiOS", "Edge"], ["OPR", "Opera"], ["OPT", "Opera"], ["SamsungBrowser", "Samsung Internet"],
  ["Firefox", "Firefox"], ["FxiOS", "Firefox"], ["HeadlessChrome", "Chrome"], ["Chrome", "Chrome"], ["CriOS", "Chrome"], ["Version", "Safari"],
]
/** @type {Array<[RegExp, string]>} */
const SYSTEMS = [[/Windows/, "Windows"], [/Android/, "Android"], [/iPhone|iPad/, "iOS"], [/Mac OS X/, "macOS"], [/CrOS/, "ChromeOS"], [/Linux/, "Linux"]]

/** "Firefox 145 on Windows"; the text itself if it is not one of a known browser. @param {string} userAgent */
export const programOf = userAgent => {
  for (const [mark, name] of BROWSERS) {
    const version = new RegExp(`\\b${mark}/(\\d+)`).exec(userAgent)?.[1]
    const system = SYSTEMS.find(([pattern]) => pattern.test(userAgent))
    if (version && system) return `${name} ${version} on ${system[1]}`
  }
  return userAgent
}
