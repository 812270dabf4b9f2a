// Light or dark: as the system has it, until the person chooses. All tabs of the browser have the same theme.
import { followSetting, readSetting, writeSetting } from "./settings.js"
import { createStore } from "./store.js"

const system = matchMedia("(prefers-color-scheme: dark)")

export const theme = createStore({ isDark: false })

const apply = () => {
  const chosen = readSetting("theme")
  if (chosen) document.documentElement.dataset.theme = chosen
  else delete document.documentElement.dataset.theme
  theme.set({ isDark: (chosen ?? (system.matches ? "dark" : "light")) === "dark" })
}

export const toggleTheme = () => {
  writeSetting("theme", theme.get().isDark ? "light" : "dark")
  apply()
}

export const startTheme = () => {
  apply()
  followSetting("theme", apply)
  system.addEventListener("change", apply)
}
