import type { Page } from "playwright-core";
import { expect } from "vitest";

const sizes = [
  { width: 400, height: 860 },
  { width: 640, height: 860 },
  { width: 1280, height: 860 },
] as const;

/**
 * Expects that a screen fits into the windows of a telephone, a half screen, and a screen: nothing is cut off at the side, and no control covers another. Compares
 * places and not pixels, which differ between versions of the browser and its fonts.
 */
export async function expectLayout(page: Page): Promise<void> {
  for (const size of sizes) {
    await page.setViewportSize(size);
    // What depends on the size of the window is drawn again in later frames.
    await expect
      .poll(async () => ({ size, found: await page.evaluate(problemsInPage) }), { timeout: 20_000 })
      .toEqual({ size, found: [] });
  }
}

const problemsInPage = `(() => {
  const found = [];
  const { scrollWidth, clientWidth } = document.documentElement;
  if (scrollWidth > clientWidth) found.push("the page is " + (scrollWidth - clientWidth) + " px too wide");
  const nameOf = (element) => element.outerHTML.slice(0, 120);
  const scrolls = (element) => {
    for (let each = element.parentElement; each !== null; each = each.parentElement) {
      if (each.scrollWidth > each.clientWidth && /auto|scroll/.test(getComputedStyle(each).overflowX)) return true;
    }
    return false;
  };
  const controls = [...document.querySelectorAll("a[href], button, input, select, textarea")].filter(
    (element) => element.checkVisibility({ visibilityProperty: true, opacityProperty: true }) && !element.matches(".skip"),
  );
  for (const control of controls) {
    const { left, right, top, bottom, width, height } = control.getBoundingClientRect();
    if (width === 0 || height === 0 || scrolls(control)) continue;
    if (left < -1 || right > innerWidth + 1) found.push("cut off: " + nameOf(control));
    const [x, y] = [(left + right) / 2, (top + bottom) / 2];
    if (x < 0 || y < 0 || x >= innerWidth || y >= innerHeight) continue;
    const over = document.elementFromPoint(x, y)?.closest("a[href], button, input, select, textarea");
    if (over !== null && over !== undefined && over !== control && !over.contains(control) && !control.contains(over)) {
      found.push(nameOf(over) + " covers " + nameOf(control));
    }
  }
  return found.slice(0, 5);
})()`;
