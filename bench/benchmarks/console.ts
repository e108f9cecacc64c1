import process from "node:process";
import { setTimeout } from "node:timers/promises";
import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { buildConsole } from "@reeve/cli/embedded/ensure-console";
import type { RunEvent } from "@reeve/contracts/run";
import { RunEventSchema, RunStatus } from "@reeve/contracts/run";
import { openRunLog } from "@reeve/jetstream/log/open";
import { emptyTail } from "@reeve/jetstream/log/port";
import { connectNats } from "@reeve/platform/nats/connect-nats";
import { createLogger } from "@reeve/platform/telemetry/logger";
import { openBrowser } from "../../test/console/support/open-browser.ts";
import { Cluster } from "../cluster.ts";
import type { Benchmark, Figure } from "../figure.ts";
import { rateOf } from "../measure.ts";

type Browser = Awaited<ReturnType<typeof openBrowser>>;
type Page = Awaited<ReturnType<Browser["newPage"]>>;
type CDPSession = Awaited<ReturnType<Browser["newBrowserCDPSession"]>>;

const tenant = "bench";
const runs = Number(process.env["REEVE_BENCH_RUNS"] ?? 10_000);
const events = runs * 10;
const views = 10;
/** How many rows of the list are certainly on the screen. */
const shownRows = 10;
/** How long the frame with the content of a screen is waited for, and how often it is asked for. */
const maxViewMs = 60_000;
const viewCheckMs = 20;
const bigRun = "run_big0000000000000000000000";
const log = createLogger("bench", "silent");

/** The console in a browser, with 10,000 runs and a run of 100,000 events, as the browser measures it. */
export const consoleScreens: Benchmark = {
  name: "console",
  maxMs: 900_000,
  async *measure(signal: AbortSignal): AsyncIterable<Figure> {
    const problem = await buildConsole(() => undefined, signal);
    if (problem !== undefined) throw new Error(problem);
    await using cluster = await Cluster.start(1, signal);
    await writeRuns(cluster, signal);
    await writeEvents(cluster, signal);
    const browser = await openBrowser();
    // What waits for a page fails when the page is gone; a page that hangs answers nothing.
    const close = () => void browser.close();
    signal.addEventListener("abort", close, { once: true });
    try {
      signal.throwIfAborted();
      yield await firstViews(browser, cluster, "/runs", ".row-link");
      yield* listOfRuns(browser, cluster);
      yield await firstViews(browser, cluster, `/runs/${bigRun}`, ".message.user");
      yield* viewsOfRun(browser, cluster);
    } finally {
      signal.removeEventListener("abort", close);
      await browser.close();
    }
  },
};

/** Opens a screen in a tab without a cache, and measures from the start of the navigation to the frame after its content. */
async function firstViews(
  browser: Browser,
  cluster: Cluster,
  path: string,
  content: string,
): Promise<Figure> {
  const values: number[] = [];
  for (let view = 0; view < views; view++) {
    await using tab = await openTab(browser, cluster, path, content);
    values.push(await tab.firstViewMs());
  }
  const shown = path === "/runs" ? `a list of ${runs} runs` : `a run of ${events} events`;
  return { name: `first view of ${shown}`, unit: "ms", values, aim: { p95: 1_000 } };
}

async function* listOfRuns(browser: Browser, cluster: Cluster): AsyncIterable<Figure> {
  await using tab = await openTab(browser, cluster, "/runs", ".row-link");
  const { page } = tab;
  for (let turn = 0; turn < 20; turn++) {
    await page
      .locator(".runs input")
      .nth((turn % shownRows) + 1)
      .click();
    await page.keyboard.press("PageDown");
    await page.getByRole("button", { name: /^failed/ }).click();
  }
  yield await tab.interactions(`a list of ${runs} runs`);
  yield* await tab.costs(`a list of ${runs} runs`);
}

async function* viewsOfRun(browser: Browser, cluster: Cluster): AsyncIterable<Figure> {
  const openedAt = performance.now();
  await using tab = await openTab(browser, cluster, `/runs/${bigRun}/events`, ".event");
  const { page } = tab;
  await page.locator('[data-connection="ended"]').waitFor();
  const values = [performance.now() - openedAt];
  yield { name: `all ${events} events shown`, unit: "ms", values };
  for (let turn = 0; turn < 10; turn++) {
    await page
      .locator(".event-head")
      .nth(turn + 5)
      .click();
    await page.keyboard.press("PageDown");
    await page.keyboard.press("End");
    await page.keyboard.press("Home");
  }
  yield await tab.interactions(`the events of a run of ${events}`);
  for (let turn = 0; turn < 5; turn++) {
    for (const view of ["Timeline", "Tree", "Conversation", "Events"]) {
      await page.getByRole("link", { name: new RegExp(`^${view}`) }).click();
      await page.keyboard.press("PageDown");
    }
  }
  yield await tab.interactions(`the views of a run of ${events} events`);
  yield* await tab.costs(`a run of ${events} events`);
}

/** A tab, and what the browser has measured in it. */
interface MeasuredTab extends AsyncDisposable {
  readonly page: Page;
  firstViewMs(): Promise<number>;
  /** Returns the times from inputs to the next frames since the last call. */
  interactions(where: string): Promise<Figure>;
  costs(where: string): Promise<readonly Figure[]>;
}

async function openTab(
  browser: Browser,
  cluster: Cluster,
  path: string,
  content: string,
): Promise<MeasuredTab> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 860 } });
  const page = await context.newPage();
  page.setDefaultTimeout(120_000);
  await page.addInitScript({ content: observe(cluster.token, content) });
  await page.goto(`${cluster.url}${path}`);
  await page.locator(content).first().waitFor();
  const debug = await context.newCDPSession(page);
  await debug.send("Performance.enable");
  return {
    page,
    firstViewMs: () => firstViewOf(page),
    interactions: (where) => interactionsOf(page, where),
    costs: (where) => costsOf(debug, where),
    [Symbol.asyncDispose]: () => context.close(),
  };
}

/** A script that the page executes before its own ones: it signs in, and keeps what the browser measures. */
function observe(token: string, content: string): string {
  return `
    sessionStorage.setItem("reeve.token", ${JSON.stringify(token)});
    const observed = (globalThis.observed = { inputs: 0, slowMs: {} });
    const look = () => {
      if (document.querySelector(${JSON.stringify(content)}) === null) return requestAnimationFrame(look);
      // In the frame after the one that shows it, it has been painted.
      requestAnimationFrame(() => (observed.firstViewMs = performance.now()));
    };
    requestAnimationFrame(look);
    for (const input of ["keydown", "pointerdown"]) {
      addEventListener(input, () => observed.inputs++, { capture: true });
    }
    new PerformanceObserver((list) => {
      for (const { interactionId, duration } of list.getEntries()) {
        // Of the events of one interaction, the slowest counts. The browser reports none below 16 ms.
        if (interactionId > 0) observed.slowMs[interactionId] = Math.max(observed.slowMs[interactionId] ?? 0, duration);
      }
    }).observe({ type: "event", buffered: true, durationThreshold: 16 });
  `;
}

async function firstViewOf(page: Page): Promise<number> {
  for (let left = maxViewMs / viewCheckMs; left > 0; left--) {
    // Evaluated by the debugger: the policy of the page refuses a text that the page itself would evaluate.
    const viewMs = await page.evaluate("observed.firstViewMs");
    if (viewMs !== undefined) return Number(viewMs);
    await setTimeout(viewCheckMs);
  }
  throw new Error(`the browser drew no frame of ${page.url()} within ${maxViewMs} ms`);
}

/** What the page has measured. */
interface Observed {
  readonly inputs: number;
  readonly slowMs: Readonly<Record<string, number>>;
}

async function interactionsOf(page: Page, where: string): Promise<Figure> {
  // Entries arrive after the frame of their interaction.
  await setTimeout(500);
  const { inputs, slowMs } = await page.evaluate<Observed>("({ ...observed })");
  await page.evaluate("void Object.assign(observed, { inputs: 0, slowMs: {} })");
  const slow = Object.values(slowMs);
  const quick = Array.from({ length: Math.max(0, inputs - slow.length) }, () => 16);
  return {
    name: `input to paint in ${where}`,
    unit: "ms",
    values: [...slow, ...quick],
    aim: { p95: 100 },
  };
}

async function costsOf(debug: CDPSession, where: string): Promise<readonly Figure[]> {
  const { metrics } = await debug.send("Performance.getMetrics");
  const of = (wanted: string) => metrics.find(({ name }) => name === wanted)?.value ?? Number.NaN;
  return [
    { name: `scripting, ${where}`, unit: "ms", values: [of("ScriptDuration") * 1_000] },
    { name: `heap, ${where}`, unit: "MiB", values: [of("JSHeapUsedSize") / 1024 ** 2] },
  ];
}

/** Writes the logs of runs that ended within the last day, until the gateway has all of them in its index. */
async function writeRuns(cluster: Cluster, signal: AbortSignal): Promise<void> {
  await using nats = await connectNats(cluster.natsUrl, { name: "bench", log }, signal);
  const runLog = await openRunLog(nats);
  const firstMs = Date.now() - 86_400_000;
  let next = 0;
  await rateOf(runs, 50, async () => {
    const at = next++;
    const key = { tenant, run: `run_f${String(at).padStart(25, "0")}` };
    const base = { runId: key.run, time: timestampFromMs(firstMs + at * 8_000) };
    const status = at % 10 === 0 ? RunStatus.ERROR : RunStatus.COMPLETED;
    const input = `Please do task ${at} for me.`;
    const value = { tenant, agentId: `agent-${at % 20}`, input, startedBy: "driver" };
    const events = [
      create(RunEventSchema, { ...base, sequence: 1, event: { case: "runCreated", value } }),
      create(RunEventSchema, {
        ...base,
        sequence: 2,
        event: { case: "status", value: { status } },
      }),
    ];
    await runLog.append(key, emptyTail, events, signal);
  });
  const counted = async () => {
    const { statuses } = await cluster.reeve.runs.countRuns({}, { signal });
    return statuses.reduce((sum, { count }) => sum + count, 0);
  };
  while ((await counted()) < Math.min(runs, 10_000)) await setTimeout(500, undefined, { signal });
}

/** Writes the log of a run with many calls and much text. */
async function writeEvents(cluster: Cluster, signal: AbortSignal): Promise<void> {
  await using nats = await connectNats(cluster.natsUrl, { name: "bench", log }, signal);
  const runLog = await openRunLog(nats);
  const key = { tenant, run: bigRun };
  const batch = 500;
  let tail = emptyTail;
  for (let first = 1; first <= events; first += batch) {
    const part = Array.from({ length: batch }, (_, index) => eventAt(first + index));
    const appended = await runLog.append(key, tail, part, signal);
    if (appended.kind !== "appended") throw new Error(`events were not appended: ${appended.kind}`);
    ({ tail } = appended);
  }
}

function eventAt(sequence: number): RunEvent {
  const base = { runId: bigRun, sequence, time: timestampFromMs(Date.now()), stepNumber: 1 };
  const callId = `${bigRun}-${sequence - (sequence % 10)}-0`;
  const of = (event: Parameters<typeof create<typeof RunEventSchema>>[1]) =>
    create(RunEventSchema, { ...base, ...event });
  if (sequence === 1) {
    const value = { tenant, agentId: "agent-1", input: "Do very much.", startedBy: "driver" };
    return of({ event: { case: "runCreated", value } });
  }
  if (sequence === events) {
    return of({ event: { case: "status", value: { status: RunStatus.COMPLETED } } });
  }
  if (sequence % 10 === 0) {
    const call = { callId, name: "read_file", arguments: { path: `file-${sequence}.txt` } };
    return of({ event: { case: "toolCall", value: call } });
  }
  if (sequence % 10 === 1) {
    const value = { result: { callId, content: `content ${sequence}` }, success: true };
    return of({ event: { case: "toolResult", value } });
  }
  return of({ stepNumber: sequence, event: { case: "text", value: { text: "some words " } } });
}
