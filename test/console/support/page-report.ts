import type { Page, Request } from "playwright-core";

/** The longest text of a page that a report shows. */
const maxText = 2_000;
/** A report keeps the last of the lines. */
const maxLines = 40;
/** A page that does not answer in this time is reported as such. */
const lookMs = 5_000;

/** What happened in a page, for the message of a test that fails. */
export class PageReport {
  readonly #page: Page;
  readonly #startedAt = performance.now();
  readonly #open = new Map<Request, number>();
  readonly #lines: string[] = [];
  #shown = "The page was not looked at.";

  constructor(page: Page) {
    this.#page = page;
    page.on("framenavigated", (frame) => this.#note(`at ${frame.url()}`));
    page.on("console", (line) => {
      if (["error", "warning"].includes(line.type())) this.#note(`${line.type()}: ${line.text()}`);
    });
    page.on("pageerror", ({ message }) => this.#note(`uncaught: ${message}`));
    page.on("crash", () => this.#note("the page crashed"));
    page.on("request", (request) => this.#open.set(request, this.#ms));
    page.on("requestfinished", (request) => this.#open.delete(request));
    page.on("requestfailed", (request) => {
      this.#open.delete(request);
      this.#note(`failed: ${nameOf(request)}: ${request.failure()?.errorText ?? "no reason"}`);
    });
    page.on("response", (response) => {
      if (response.status() >= 400) {
        this.#note(`${response.status()}: ${nameOf(response.request())}`);
      }
    });
  }

  /** Takes note of what the page shows, and of the requests that are open. Call it before the page is closed. */
  async look(): Promise<void> {
    const open = [...this.#open].map(
      ([request, since]) => `  open for ${this.#ms - since} ms: ${nameOf(request)}`,
    );
    const text = await this.#page
      .locator("body")
      .innerText({ timeout: lookMs })
      .catch((error: unknown) => `(not readable: ${String(error)})`);
    this.#shown = [`The page is at ${this.#page.url()} and shows:`, cut(text), ...open].join("\n");
  }

  /** Returns what the page showed, and what happened in it. */
  get text(): string {
    return [this.#shown, "What happened in it, with milliseconds:", ...this.#lines].join("\n");
  }

  get #ms(): number {
    return Math.round(performance.now() - this.#startedAt);
  }

  #note(text: string): void {
    this.#lines.push(`  ${this.#ms} ${cut(text)}`);
    if (this.#lines.length > maxLines) this.#lines.shift();
  }
}

function nameOf(request: Request): string {
  return `${request.method()} ${request.url()}`;
}

function cut(text: string): string {
  return text.length > maxText ? `${text.slice(0, maxText)} …` : text;
}
