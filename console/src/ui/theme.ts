export type Theme = "system" | "light" | "dark";

const key = "reeve.theme";
const themes: readonly Theme[] = ["system", "light", "dark"];

export function currentTheme(): Theme {
  const stored = localStorage.getItem(key);
  return stored !== null && isTheme(stored) ? stored : "system";
}

export function isTheme(name: string): name is Theme {
  return themes.some((theme) => theme === name);
}

const listeners = new Set<() => void>();

/** Calls back when another theme is shown. Returns what ends that. */
export function onThemeChange(listener: () => void): () => void {
  listeners.add(listener);
  return () => void listeners.delete(listener);
}

/** Shows the theme that the person chose, or the one of the system. */
export function applyTheme(theme: Theme = currentTheme()): void {
  localStorage.setItem(key, theme);
  document.documentElement.dataset["theme"] = theme;
  for (const listener of listeners) listener();
}

export function nextTheme(theme: Theme): Theme {
  return themes[(themes.indexOf(theme) + 1) % themes.length] ?? "system";
}
