export type Theme = "system" | "light" | "dark";

const key = "reeve.theme";
const themes: readonly Theme[] = ["system", "light", "dark"];

export function currentTheme(): Theme {
  const stored = localStorage.getItem(key);
  return themes.find((theme) => theme === stored) ?? "system";
}

/** Shows the theme that the person chose, or the one of the system. */
export function applyTheme(theme: Theme = currentTheme()): void {
  localStorage.setItem(key, theme);
  document.documentElement.dataset["theme"] = theme;
}

export function nextTheme(theme: Theme): Theme {
  return themes[(themes.indexOf(theme) + 1) % themes.length] ?? "system";
}
