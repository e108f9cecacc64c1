import { execFile } from "node:child_process";
import process from "node:process";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { fetchPage } from "../src/tools/web/fetch-page.ts";
import { PageReaders } from "../src/tools/web/page/page-readers.ts";
import { readerPermissions, readPage } from "../src/tools/web/page/read-page.ts";
import type { WebServer } from "./support/web/web-bench.ts";
import { testEgress, webContext, webServer } from "./support/web/web-bench.ts";

const never = new AbortController().signal;
const paragraph =
  "Red pandas live in the mountains of Asia, and eat bamboo, eggs, and fruit. ".repeat(8);
const article = `<html><head><title>Red pandas</title><script>alert(1)</script></head><body>
<nav><a href="/home">Home</a></nav><article><h2>Where they live</h2><p>${paragraph}</p>
<p>${paragraph} See <a href="/more?a=1">more</a> and <a href="javascript:alert(1)">this</a>.</p></article></body></html>`;

/** A PDF of one page. */
const pdf = (() => {
  const stream = "BT /F1 24 Tf 72 700 Td (Hello from page one) Tj ET";
  const objects = [
    "<< /Type /Catalog /Pages 2 0 R >>",
    "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
    "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >> >>",
    `<< /Length ${stream.length} >>\nstream\n${stream}\nendstream`,
    "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
  ].map((body, index) => `${index + 1} 0 obj\n${body}\nendobj\n`);
  return Buffer.from(`%PDF-1.4\n${objects.join("")}trailer\n<< /Size 6 /Root 1 0 R >>\n%%EOF\n`);
})();

/** An article of the maximum size, with a link in each of its paragraphs. */
const largest = (() => {
  let html = "<html><head><title>All of it</title></head><body><article>";
  for (let index = 0; html.length < 999_900; index++) {
    html += `<p>They live in <a href="/places/${index}">the mountains</a>, and eat bamboo.</p>\n`;
  }
  return `${html}</article></body></html>`;
})();

const pages: Readonly<Record<string, readonly [string, string | Buffer]>> = {
  "/article": ["text/html", article],
  "/latin1": [
    "text/html",
    Buffer.from('<meta charset="iso-8859-1"><title>a</title><p>caf\u{e9}</p>', "latin1"),
  ],
  "/pdf": ["application/pdf", pdf],
  "/broken": ["application/pdf", "no pdf"],
  "/long": ["text/plain", "0123456789".repeat(12_000)],
  "/image": ["image/png", "a"],
  "/huge": ["text/html", "<p>a".repeat(600_000)],
};

describe("fetch_page", () => {
  let server: WebServer;
  const { egress } = testEgress();

  beforeAll(async () => {
    server = await webServer((request, response) => {
      const [type, body] = pages[request.url ?? ""] ?? [];
      if (type === undefined) response.writeHead(404).end();
      else response.writeHead(200, { "content-type": type }).end(body);
    });
  });
  afterAll(() => server[Symbol.asyncDispose]());

  async function fetched(path: string, offset?: number) {
    const args = {
      url: `http://a.test:${server.port}${path}`,
      ...(offset !== undefined && { offset }),
    };
    return await fetchPage(egress, new PageReaders()).call(
      webContext(args, [`a.test:${server.port}`]),
      never,
    );
  }

  // Requirement: WEB-6
  test("returns the readable text of a page as Markdown, with its title and absolute links", async () => {
    const { structured, content } = await fetched("/article");
    expect(structured).toMatchObject({ title: "Red pandas" });
    expect(content).toContain("## Where they live");
    expect(content).toContain(`[more](http://a.test:${server.port}/more?a=1)`);
    expect(content).not.toMatch(/alert|Home/);
    expect((await fetched("/latin1")).content).toContain("café");
  });

  // Requirement: WEB-6
  test("returns the text of a PDF by page, and says why another one cannot be read", async () => {
    expect((await fetched("/pdf")).structured).toMatchObject({
      text: "[page 1]\nHello from page one",
    });
    expect(await fetched("/broken")).toMatchObject({ isError: true });
    expect((await fetched("/image")).content).toMatch(/of the type image\/png, which has no text/);
    expect((await fetched("/none")).content).toMatch(/has the status 404/);
    expect((await fetched("/huge")).content).toMatch(/more than 1000000 bytes of HTML/);
  });

  // Requirement: WEB-6
  test("continues a long text at the offset that it names", async () => {
    const first = await fetched("/long");
    const next = Number(first.structured?.["next_offset"]);
    expect(first.structured).toMatchObject({ total_chars: 120_000, next_offset: 49_000 });
    expect((await fetched("/long", next)).structured?.["text"]).toHaveLength(49_000);
    expect((await fetched("/long", 98_000)).structured).not.toHaveProperty("next_offset");
    expect((await fetched("/long", 120_000)).content).toMatch(/only 120000 characters/);
  });

  // Requirement: WEB-6
  test("reads an article of the maximum size within the memory of a reader", async () => {
    const source = { kind: "html", html: largest, url: "http://a.test/" } as const;
    const limits = { timeoutMs: 60_000, heapMiB: 160, memoryMiB: 256 };
    expect(await readPage(source, never, limits)).toMatchObject({
      kind: "read",
      title: "All of it",
      text: expect.stringMatching(
        /^They live in \[the mountains\]\(http:\/\/a\.test\/places\/0\)/,
      ) as string,
    });
  });

  // Requirement: WEB-6
  test("gives a reader no access to files, so not to the environment of the toolhost", async () => {
    for (const path of [`/proc/${process.pid}/environ`, "/etc/hostname"]) {
      const script = `require("node:fs").readFileSync("${path}")`;
      const read = promisify(execFile)(process.execPath, [...readerPermissions(), "-e", script]);
      await expect(read).rejects.toThrow(/ERR_ACCESS_DENIED/);
    }
  });

  // Requirement: WEB-6
  test("ends the reader of a page that takes too long or too much memory", async () => {
    const html = "<div>".repeat(300_000);
    const source = { kind: "html", html, url: "http://a.test/" } as const;
    const limits = { timeoutMs: 60_000, heapMiB: 160, memoryMiB: 256 };
    expect(await readPage(source, never, { ...limits, timeoutMs: 1 })).toEqual({
      kind: "failed",
      reason: "the page cannot be read: it takes more than 1 ms",
    });
    expect(await readPage(source, never, { ...limits, heapMiB: 16 })).toMatchObject({
      reason: expect.stringMatching(/memory/) as string,
    });
    expect(await readPage(source, never, { ...limits, memoryMiB: 60 })).toEqual({
      kind: "failed",
      reason: "the page cannot be read: it takes more than 60 MiB of memory",
    });
  });

  // Requirement: WEB-6
  test("reads one page of a run at a time, and is busy to a tenant that has its share", async () => {
    const source = { kind: "html", html: "<p>a", url: "http://a.test/" } as const;
    const readers = new PageReaders({ pages: 2, waitMs: 0 });
    const read = (tenant: string, runId: string) => readers.read(source, { tenant, runId }, never);
    const [first, sameRun, sameTenant, other] = await Promise.all([
      read("acme", "run_1"),
      read("acme", "run_1"),
      read("acme", "run_2"),
      read("globex", "run_3"),
    ]);
    for (const each of [first, other]) expect(each).toMatchObject({ kind: "read", text: "a" });
    for (const each of [sameRun, sameTenant]) {
      expect(each).toMatchObject({ reason: expect.stringMatching(/^busy: .*try again/) as string });
    }
  });
});
