import { useEffect } from "react";

/**
 * Makes `aria-keyshortcuts` work: a key alone moves the focus to the control that names it, so that a second key, Enter, confirms.
 * Links are followed at once. Ignored while a person writes.
 */
export function useKeys(onHelp: () => void): void {
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey || isWriting(event)) return;
      if (event.key === "?") return onHelp();
      const target = document.querySelector<HTMLElement>(
        `[aria-keyshortcuts="${CSS.escape(event.key)}"]:not(:disabled)`,
      );
      if (target === null || document.querySelector("dialog[open]") !== null) return;
      event.preventDefault();
      target.focus();
      if (target instanceof HTMLAnchorElement) target.click();
    };
    document.addEventListener("keydown", onKey);
    return () => document.removeEventListener("keydown", onKey);
  }, [onHelp]);
}

/** Calls back for Ctrl+K, or Command+K, also while a person writes. */
export function usePaletteKey(onPalette: () => void): void {
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.key !== "k" || event.altKey || !(event.ctrlKey || event.metaKey)) return;
      // An editor uses it for something else.
      if (event.defaultPrevented) return;
      event.preventDefault();
      onPalette();
    };
    document.addEventListener("keydown", onKey);
    return () => document.removeEventListener("keydown", onKey);
  }, [onPalette]);
}

/** In a shadow root, as that of the editor of specs, the event names only its host. */
function isWriting(event: KeyboardEvent): boolean {
  const [target] = event.composedPath();
  if (!(target instanceof HTMLElement)) return false;
  return target.isContentEditable || target.matches("input, textarea, select");
}
