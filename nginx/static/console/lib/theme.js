// Light or dark: as the system has it, until the person chooses.
import { readSetting, writeSetting } from "./settings.js"

const dark = matchMedia("(prefers-color-scheme: dark)")

const apply = () => {
  const chosen = readSetting("theme")
  if (chosen) document.documentElement.dataset.theme = chosen
  else delete document.documentElement.dataset.theme
}

export const isDark = () => (readSetting("theme") ?? (dark.matches ? "dark" : "light")) === "dark"

export const toggleTheme = () => {
  writeSetting("theme", isDark() ? "light" : "dark")
  apply()
}

export const startTheme = apply
