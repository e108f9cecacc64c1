import type { Browser, CDPSession, Locator, Page } from "playwright-core";
import { ErrorReason } from "@reeve/contracts/error";
import { sleep } from "@reeve/platform/async/sleep";
import { Failure } from "@reeve/platform/failure";
import { withTimeLimit } from "../web/call-egress.ts";
import type { NamedElement } from "./named-element.ts";
import { elementProblem } from "./named-element.ts";
import type { PageView } from "./page-view.ts";
import { withDocument } from "./shown-document.ts";
import { originOfElement, originsOf } from "./shown-origins.ts";

const connectMs = 20_000;

/** How long the operations on a page may take. */
export interface PageTimes {
  /** Until the document of a page is there. */
  readonly navigationMs: number;
  /** For a click, an input, an outline, or an image. */
  readonly actionMs: number;
  /** For one operation as a whole. */
  readonly operationMs: number;
  /** How long a page that answered too late may take to show that it still works. */
  readonly probeMs: number;
}

const defaultTimes: PageTimes = {
  navigationMs: 20_000,
  actionMs: 5_000,
  operationMs: 30_000,
  probeMs: 2_000,
};

/** How long after an action a page may take to start loading another one. */
const settleMs = 200;
const maxProblemChars = 500;

/** A result of an operation on a page, or why there is none. `isLost`: the browser cannot be used anymore. */
export type PageOutcome<Value> =
  | { readonly kind: "done"; readonly value: Value }
  | { readonly kind: "failed"; readonly reason: string; readonly isLost: boolean };

export interface PageOptions {
  /** Resolves with the reason when the browser has ended. */
  readonly ended: Promise<string>;
  /** An existing folder for the files of the library. */
  readonly artifactsDir: string;
  /** Default: 20 seconds for a document, 5 for an action, and 30 for an operation. */
  readonly times?: PageTimes | undefined;
}

/**
 * The one page of a browser. It dismisses dialogs, refuses downloads and further pages, and shows only http and https. Each operation has
 * a time limit. Disposing disconnects.
 */
export class GuardedPage implements AsyncDisposable {
  readonly #browser: Browser;
  readonly #page: Page;
  readonly #devtools: CDPSession;
  readonly #times: PageTimes;
  readonly #lost: Promise<string>;
  /** The origins of the page and its frames when it was last read. */
  #origins: ReadonlySet<string> = new Set();

  constructor(
    { browser, page, devtools }: PageParts,
    { ended, times = defaultTimes }: Pick<PageOptions, "ended" | "times">,
  ) {
    this.#browser = browser;
    this.#page = page;
    this.#devtools = devtools;
    this.#times = times;
    const { promise, resolve } = Promise.withResolvers<string>();
    this.#lost = promise;
    void ended.then((reason) => resolve(`the browser has ended: ${reason}`));
    page.once("crash", () => resolve("the page crashed; it may need too much memory"));
    page.on("dialog", (dialog) => void dialog.dismiss().catch(() => undefined));
    page.on("download", (download) => void download.cancel().catch(() => undefined));
    page.context().on("page", (other) => void other.close().catch(() => undefined));
  }

  /** Opens a URL, and returns its status. */
  async open(url: string, signal: AbortSignal): Promise<PageOutcome<PageView & StatusOf>> {
    return await this.#perform(signal, async () => {
      const response = await this.#page.goto(url, { waitUntil: "domcontentloaded" });
      return { status: response?.status() ?? 0, ...(await this.#shownView()) };
    });
  }

  async read(signal: AbortSignal): Promise<PageOutcome<PageView>> {
    return await this.#perform(signal, () => this.#shownView());
  }

  /** Clicks an element, if the page shows it as it was read, and returns what the page shows then. */
  async click(named: NamedElement, signal: AbortSignal): Promise<PageOutcome<PageView>> {
    return await this.#perform(signal, async () => {
      // The page may change the element while this waits until it can be clicked.
      await (await this.#element(named)).click({ trial: true });
      await (await this.#element(named)).click();
      return await this.#settledView(signal);
    });
  }

  /** Replaces the text of an element as `click` does, perhaps presses Enter there, and returns what the page shows then. */
  async type(
    { text, submit, ...named }: TypedText,
    signal: AbortSignal,
  ): Promise<PageOutcome<PageView>> {
    return await this.#perform(signal, async () => {
      await using found = await (await this.#element(named)).elementHandle();
      await found?.waitForElementState("editable");
      const target = await this.#element(named);
      await target.fill(text);
      if (submit) await target.press("Enter");
      return await this.#settledView(signal);
    });
  }

  /** Returns a PNG of the visible part of the page. */
  async screenshot(signal: AbortSignal): Promise<PageOutcome<PageView & { png: Uint8Array }>> {
    return await this.#perform(signal, async () => {
      const take = () => this.#page.screenshot({ type: "png" });
      const { taken: png, ...document } = await withDocument(this.#devtools, take);
      return { ...document, text: "", png };
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const { probeMs } = this.#times;
    // The browser ends with its sandbox. A connection that is gone needs no end.
    await withTimeLimit(probeMs, AbortSignal.timeout(2 * probeMs), () =>
      this.#browser.close(),
    ).catch(() => undefined);
  }

  /** Returns an element. Rejects at once if the page does not show it now as it was read. */
  async #element(named: NamedElement): Promise<Locator> {
    const problem = elementProblem(await this.#view(), named);
    if (problem !== undefined) throw new Error(problem);
    const found = this.#page.getByRef(named.element);
    if ((await found.count()) === 0) {
      throw new Error(`the page has no element ${named.element} now; read it again`);
    }
    // The address of the page, which is checked, has the origin of its own elements.
    if (!named.element.startsWith("f")) return found;
    const origin = await originOfElement(found);
    if (this.#origins.has(origin)) return found;
    throw new Error(
      `the element ${named.element} is in a frame of ${origin} now; nothing was done: read the page again`,
    );
  }

  /** Returns what is shown to the model, which names the elements of it. */
  async #shownView(): Promise<PageView> {
    const before = originsOf(this.#page);
    const view = await this.#view();
    // Of a frame that goes elsewhere meanwhile, nobody knows which document was shown.
    const after = originsOf(this.#page);
    this.#origins = new Set([...before].filter((origin) => after.has(origin)));
    return view;
  }

  async #view(): Promise<PageView> {
    const take = () => this.#page.ariaSnapshot({ mode: "ai" });
    const { taken: text, ...document } = await withDocument(this.#devtools, take);
    return { ...document, text };
  }

  async #settledView(signal: AbortSignal): Promise<PageView> {
    await sleep(settleMs, signal);
    await this.#page.waitForLoadState("domcontentloaded");
    return await this.#shownView();
  }

  async #perform<Value extends PageView>(
    signal: AbortSignal,
    operation: () => Promise<Value>,
  ): Promise<PageOutcome<Value>> {
    const lost = this.#lost.then((reason) => ({ kind: "failed", reason, isLost: true }) as const);
    const performed = withTimeLimit(this.#times.operationMs, signal, operation).then(
      async (value): Promise<PageOutcome<Value>> => {
        if (value === undefined) return await this.#late("it takes too long");
        const refusal = refusalOf(value.url);
        if (refusal === undefined) return { kind: "done", value };
        await this.#page.goto("about:blank");
        return { kind: "failed", reason: refusal, isLost: false };
      },
    );
    const failed = performed.catch(async (error: unknown) => {
      signal.throwIfAborted();
      return await this.#late(problemOf(error));
    });
    return await Promise.race([failed, lost]);
  }

  /** A page whose script does not end blocks everything that comes after it. */
  async #late(reason: string): Promise<Extract<PageOutcome<never>, { kind: "failed" }>> {
    const { probeMs } = this.#times;
    const probe = this.#page.evaluate("1");
    const alive = await withTimeLimit(probeMs, AbortSignal.timeout(2 * probeMs), () => probe).catch(
      () => undefined,
    );
    if (alive === 1) return { kind: "failed", reason, isLost: false };
    return { kind: "failed", reason: "the page does not respond", isLost: true };
  }
}

interface PageParts {
  readonly browser: Browser;
  readonly page: Page;
  /** The DevTools protocol of the page. */
  readonly devtools: CDPSession;
}

interface StatusOf {
  /** The HTTP status of the page; 0 if it has none. */
  readonly status: number;
}

export interface TypedText extends NamedElement {
  readonly text: string;
  readonly submit: boolean;
}

/** Connects to the page of a browser. Rejects if it has ended, or is not ready in time. */
export async function connectPage(
  url: string,
  options: PageOptions,
  signal: AbortSignal,
): Promise<GuardedPage> {
  // Few toolhosts have browsers. Those that do have loaded it when they started.
  const { chromium } = await import("playwright-core");
  const { artifactsDir } = options;
  const connecting = { timeout: connectMs, artifactsDir };
  const over = options.ended.then((reason) => {
    throw unavailable(`the browser did not start: ${reason}`);
  });
  const browser = await Promise.race([
    withTimeLimit(connectMs, signal, () => chromium.connectOverCDP(url, connecting)),
    over,
  ]);
  const [context] = browser?.contexts() ?? [];
  if (browser === undefined || context === undefined) {
    throw unavailable(`the browser was not ready in ${connectMs / 1_000} s; try again`);
  }
  const { actionMs, navigationMs } = options.times ?? defaultTimes;
  context.setDefaultTimeout(actionMs);
  context.setDefaultNavigationTimeout(navigationMs);
  const page = context.pages()[0] ?? (await context.newPage());
  const ofBrowser = await browser.newBrowserCDPSession();
  await ofBrowser.send("Browser.setDownloadBehavior", { behavior: "deny" });
  const devtools = await context.newCDPSession(page);
  return new GuardedPage({ browser, page, devtools }, options);
}

function unavailable(message: string): Failure {
  return new Failure("unavailable", ErrorReason.UNAVAILABLE, message);
}

/** Returns why a page at a URL is not shown; undefined if it is. */
function refusalOf(url: string): string | undefined {
  const { protocol } = URL.parse(url) ?? {};
  const isShown = /^https?:$/.test(protocol ?? "") || /^(?:about:blank|chrome-error:)/.test(url);
  return isShown ? undefined : `the page led to a URL of ${protocol}, which is refused`;
}

/** Returns what the model reads about an error of the library, without its log of steps. */
function problemOf(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  const [, code] = /net::ERR_(\w+)/.exec(message) ?? [];
  if (code === "ABORTED" || message.includes("Download is starting")) {
    return "it is a download, or was broken off; downloads are refused";
  }
  if (code !== undefined) return `it cannot be loaded: ${code}`;
  const [first = ""] = message.split("\n");
  return first.replace(/^\w+\.\w+: /, "").slice(0, maxProblemChars);
}
