import type { IncomingMessage, ServerResponse } from "node:http";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { JsonObject } from "@bufbuild/protobuf";
import { parseNetworkEntry } from "@reeve/agent/spec/network-entry";
import { BubblewrapDriver } from "@reeve/sandbox/bubblewrap/driver";
import { sandboxIdentity } from "@reeve/sandbox/host/identity";
import { workspaceRoot } from "@reeve/sandbox/host/workspace-root";
import { Lookups } from "@reeve/sandbox/network/lookups";
import { NetworkedDriver } from "@reeve/sandbox/network/networked-driver";
import { skipReason } from "@reeve/sandbox/test/support/bubblewrap-here";
import { recordingLog } from "@reeve/sandbox/test/support/recording-log";
import { temporaryFolder } from "@reeve/sandbox/test/support/temporary-folder";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startBrowser } from "../src/tools/browser/browser-process.ts";
import { BrowserSessions } from "../src/tools/browser/browser-sessions.ts";
import { browserTools } from "../src/tools/browser/browser-tools.ts";
import { findChromium } from "../src/tools/browser/chromium-command.ts";
import type { PageTimes } from "../src/tools/browser/guarded-page.ts";
import type { WebServer } from "./support/web/web-bench.ts";
import { webContext, webServer } from "./support/web/web-bench.ts";

const never = new AbortController().signal;
/** A hostile page takes all of it. */
const shortTimes = { navigationMs: 500, actionMs: 500, operationMs: 5_000, probeMs: 500 };
const program = findChromium();
const missing = program === undefined ? " (Chromium is not installed)" : skipReason;

const pages: Readonly<Record<string, string>> = {
  "/form": `<title>Form</title><h1>Ask</h1><form action="/answer"><label>Name <input name="name"></label></form>
    <a href="/article">Article</a>`,
  "/article": `<title>Article</title><p>${"Red pandas eat bamboo. ".repeat(4_000)}</p>`,
  "/loop": "<title>Loop</title><p>a<script>for (;;);</script>",
  "/alerts": "<title>Alerts</title><p>a<script>for (;;) alert(1);</script>",
  "/polite": `<title>Polite</title><p>a<script>alert(1); confirm(2); console.log("x".repeat(5e6));
    document.querySelector("p").append(open("/form") ? " opened" : " refused");
    navigator.geolocation.getCurrentPosition(() => 0, () => document.title = "Denied");</script>`,
  "/leaving": `<title>Bank</title><button onclick="leave(1e5)">Far</button><button onclick="leave(3e5)">Too far</button><script>
    const leave = (size) => location.href = location.href.replace(/a.test(.*)/, "b.test$1?#") + "x".repeat(size);</script>`,
  "/swapping": `<title>Cart</title><button id="a" onclick="document.title = 'Paid'">Cancel</button>
    <button onclick="document.querySelector('#a').textContent = 'Pay'">Swap</button>`,
  "/waiting": `<title>Cart</title><button id="a" onclick="document.title = 'Paid'">Cancel</button><input id="b" aria-label="Note">
    <button onclick="change(a, 'Pay')">Swap</button><button onclick="change(b, 'Password')">Switch</button><script>
    const change = (element, name) => {
      element.disabled = true;
      setTimeout(() => { element.ariaLabel = name; element.disabled = false; }, 1_500);
    };</script>`,
  "/framing": `<title>Shop</title><iframe src="/framed"></iframe><button onclick="fetch('/held').then(far)">Arm</button><script>
    const far = () => document.querySelector("iframe").src = location.href.replace(/a.test(.*)framing/, "b.test$1framed?far");</script>`,
  "/framed": `<button onclick="fetch('/used')">Confirm</button><script>fetch("/shown" + location.search)</script>`,
  "/titled": `<p>a<script>document.title = "t".repeat(8e6)</script>`,
  "/local": `<title>Local</title><a href="file:///etc/passwd">file</a><a href="data:text/html,a">data</a>
    <a href="chrome://version">chrome</a><a href="/download">download</a>`,
  "/flood": `<title>Flood</title><p>a<script>setInterval(() => {
    for (let count = 0; count < 9_000; count++) { console.log(count); fetch("data:text/plain,a").catch(() => 0); }
  })</script>`,
  "/memory": `<title>Memory</title><p>a<script>const kept = []; for (;;) kept.push(new Uint8Array(1e8).fill(1));</script>`,
};

/** The requests of pages, one that a test waits for, and one that waits for a test. */
const requested: string[] = [];
const shownFar = Promise.withResolvers<void>();
const held = Promise.withResolvers<void>();

function serve({ url = "" }: IncomingMessage, response: ServerResponse): void {
  const { pathname, searchParams } = new URL(url, "http://a.test");
  requested.push(url);
  if (url === "/shown?far") shownFar.resolve();
  if (url === "/held") return void held.promise.then(() => response.end());
  const to = searchParams.get("to");
  if (to !== null) return void response.writeHead(302, { location: to }).end();
  if (pathname === "/download") {
    const headers = { "content-disposition": "attachment", "content-type": "application/zip" };
    return void response.writeHead(200, headers).end("zip");
  }
  response.writeHead(200, { "content-type": "text/html" });
  if (pathname === "/huge") return endless(response);
  const name = searchParams.get("name") ?? "nobody";
  response.end(pages[pathname] ?? `<title>Answer</title><p>Hello ${name}`);
}

/** Sends a page of 1 GB, as fast as it is read. */
function endless(response: ServerResponse): void {
  const chunk = "<div>a</div>".repeat(100_000);
  let left = 1_000;
  const more = () => {
    while (left-- > 0 && response.write(chunk)) if (response.destroyed) return;
    if (left <= 0) response.end();
  };
  response.on("drain", more);
  more();
}

/** Returns the element on the first line that matches a pattern, as a model reads it. */
function elementOf(content: string, pattern: string) {
  const found = new RegExp(`- (\\w+) "([^"]*)".*\\[ref=(\\w+)\\]`);
  const line = content.split("\n").find((each) => new RegExp(pattern).test(each)) ?? "";
  const [, role = "", name = "", element = "none"] = found.exec(line) ?? [];
  const [page = ""] = content.split("\n").filter((each) => each.startsWith("http"));
  return { element, role, name, page };
}

// Requirement: WEB-8
describe.skipIf(missing !== "")(`the browser of a run${missing}`, () => {
  const resources = new AsyncDisposableStack();
  const { log, logged } = recordingLog();
  let server: WebServer;
  let sessions: BrowserSessions;
  let impatient: BrowserSessions;

  // The library reads it when it is loaded.
  const temporary = mkdtempSync(join(tmpdir(), "reeve-browser-"));
  const outside = process.env["TMPDIR"];

  beforeAll(async () => {
    process.env["TMPDIR"] = temporary;
    resources.defer(() => {
      if (outside === undefined) delete process.env["TMPDIR"];
      else process.env["TMPDIR"] = outside;
      rmSync(temporary, { recursive: true });
    });
    server = resources.use(await webServer(serve));
    const { path } = resources.use(await temporaryFolder());
    const identity = sandboxIdentity(64_017);
    const root = workspaceRoot(path, identity);
    const allow = ["*.test:*"].flatMap((text) => parseNetworkEntry(text, "operator") ?? []);
    const driver = new NetworkedDriver(new BubblewrapDriver(identity), {
      policy: { allow, ranges: ["127.0.0.1"], maxBytes: 100_000_000 },
      identity,
      folder: () => join(root, "network"),
      lookups: new Lookups(async () => ["127.0.0.1"]),
      log,
    });
    const folder = join(root, "browsers");
    const options = { driver, identity, folder, program: program ?? "", log };
    const open = (times?: PageTimes) =>
      new BrowserSessions({
        max: 2,
        isRunOver: async () => false,
        start: (network, signal) => startBrowser({ ...options, times }, network, signal),
      });
    sessions = resources.use(open());
    impatient = resources.use(open(shortTimes));
  });
  afterAll(() => resources.disposeAsync());

  async function called(name: string, args: JsonObject = {}, used = sessions) {
    const tool = browserTools(used).find(({ descriptor }) => descriptor.name === name);
    if (tool === undefined) throw new Error(`there is no tool ${name}`);
    return await tool.call(
      webContext(args, [`a.test:${server.port}`, `b.test:${server.port}`]),
      never,
    );
  }

  const at = (path: string) => `http://a.test:${server.port}${path}`;
  const opened = async (path: string, used = sessions) =>
    await called("browser_open", { url: at(path) }, used);

  test("opens a page, types, clicks, reads in parts, and takes a screenshot", async () => {
    const form = await opened("/form");
    expect(form).toMatchObject({ isError: false });
    expect(form.content).toContain(`Form\n${at("/form")}`);
    const typed = { ...elementOf(form.content, "textbox"), text: "Ann", submit: true };
    const answer = await called("browser_type", typed);
    expect(answer.content).toContain("Hello Ann");
    await opened("/form");
    const { content } = await called("browser_read");
    const article = await called("browser_click", elementOf(content, "Article"));
    expect(article.content).toContain("Red pandas");
    const [, next] = /browser_read with offset (\d+)/.exec(article.content) ?? [];
    const rest = await called("browser_read", { offset: Number(next) });
    expect(rest.content).toContain("bamboo");
    const { attachments } = await called("browser_screenshot");
    expect(attachments).toMatchObject([{ mediaType: "image/png" }]);
    expect(sessions.count).toBe(1);
    const unknown = { ...elementOf(article.content, "Red pandas"), element: "e999" };
    expect((await called("browser_click", unknown)).content).toMatch(/no element e999 now/);
  });

  test("leaves nothing outside of its own folder, where a killed toolhost would not find it", async () => {
    await opened("/form");
    expect(readdirSync(temporary).filter((name) => name.startsWith("playwright"))).toEqual([]);
  });

  test("dismisses dialogs, opens no other page, and gives pages no permission", async () => {
    const polite = await opened("/polite");
    expect(polite.isError).toBe(false);
    const { content } = await called("browser_read");
    expect(content).toContain(`Denied\n${at("/polite")}`);
    expect(content).toContain("a refused");
  });

  // Requirement: HITL-2
  test("clicks and types only what was read, on the page where it was read", async () => {
    const { content } = await opened("/swapping");
    const cancel = elementOf(content, "Cancel");
    expect(cancel).toMatchObject({ role: "button", name: "Cancel", page: at("/swapping") });
    for (const other of [{ page: at("/form") }, { role: "link" }, { name: "Pay" }]) {
      const refused = await called("browser_click", { ...cancel, ...other });
      expect(refused).toMatchObject({ isError: true });
      expect(refused.content).toContain("nothing was done: read");
    }
    const far = { ...cancel, page: cancel.page.replace("a.test", "b.test"), text: "a" };
    expect((await called("browser_type", far)).content).toMatch(/^the page is http:\/\/a\.test/);
    await called("browser_click", elementOf(content, "Swap"));
    const swapped = await called("browser_click", cancel);
    expect(swapped).toMatchObject({ isError: true });
    expect((await called("browser_read")).content).toMatch(/^Cart\n[^]*button "Pay"/);
  });

  // Requirement: HITL-2
  test("does not use an element that changes while it cannot be used", async () => {
    const { content } = await opened("/waiting");
    await called("browser_click", elementOf(content, "Swap"));
    const clicked = await called("browser_click", elementOf(content, "Cancel"));
    expect(clicked).toMatchObject({ isError: true });
    await called("browser_click", elementOf(content, "Switch"));
    const typed = { ...elementOf(content, "Note"), text: "secret" };
    expect(await called("browser_type", typed)).toMatchObject({ isError: true });
    const read = await called("browser_read");
    expect(read.content).toMatch(/^Cart\n[^]*button "Pay"[^]*textbox "Password"/);
    expect(read.content).not.toContain("secret");
  });

  // Requirement: HITL-2
  test("does not use an element of a frame that shows another origin than was read", async () => {
    await opened("/framing");
    const { content } = await called("browser_read");
    await called("browser_click", elementOf(content, "Arm"));
    held.resolve();
    await shownFar.promise;
    const clicked = await called("browser_click", elementOf(content, "Confirm"));
    expect(clicked).toMatchObject({ isError: true });
    const far = elementOf((await called("browser_read")).content, "Confirm");
    expect(requested).not.toContain("/used");
    expect(await called("browser_click", far)).toMatchObject({ isError: false });
    expect(requested).toContain("/used");
  });

  test("shows the address of a document with it, however long it is, or neither", async () => {
    const { content } = await opened("/leaving");
    const far = await called("browser_click", elementOf(content, '"Far"'));
    expect(far.content).toMatch(/^Bank\nhttp:\/\/b\.test:/);
    const again = await opened("/leaving");
    const tooFar = await called("browser_click", elementOf(again.content, '"Too far"'));
    expect(tooFar).toMatchObject({ isError: true });
    expect(tooFar.content).toMatch(/has ended: its address.* is too long/);
    await opened("/titled");
    expect((await called("browser_screenshot")).content.length).toBeLessThan(1_000);
  });

  test("shows no page of a host that the agent may not reach, and nothing local", async () => {
    for (const url of ["file:///etc/passwd", "chrome://version", "data:text/html,a"]) {
      const { content } = await called("browser_open", { url });
      expect(content).toBe("url: only http and https are supported");
    }
    const metadata = await opened(`/?to=${encodeURIComponent("http://169.254.169.254/latest")}`);
    expect(metadata.content).toMatch(/169\.254\.169\.254:80 is not among the hosts/);
    const local = await opened("/local");
    for (const name of ["file", "data", "chrome", "download"]) {
      const clicked = await called("browser_click", elementOf(local.content, `"${name}"`));
      expect(clicked.content).not.toMatch(/root:|Chromium/);
      expect((await called("browser_read")).content).toContain(at("/local"));
    }
    const outside = logged.filter(({ outcome }) => outcome === "allowed");
    expect(new Set(outside.map(({ host }) => host))).toEqual(new Set(["a.test", "b.test"]));
  });

  test.each(["/loop", "/alerts", "/memory"])("ends with the hostile page %s", async (path) => {
    const { content, isError } = await opened(path, impatient);
    expect(isError).toBe(true);
    expect(content).toMatch(/does not respond|crashed|has ended/);
    const next = await called("browser_read", {}, impatient);
    expect(next.content).toMatch(/no open page: .*call browser_open/);
    expect(impatient.count).toBe(0);
  });

  test("gives up a page of 1 GB", async () => {
    expect((await opened("/huge", impatient)).isError).toBe(true);
  });
});
