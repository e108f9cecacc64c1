import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { createServer } from "node:net";
import { join } from "node:path";
import process from "node:process";
import { deflateSync } from "node:zlib";
import { strToU8, zipSync } from "fflate";
import { ErrorReason } from "@reeve/contracts/error";
import { expect, onTestFinished, test } from "vitest";
import type { ParserOptions } from "../src/parse/parse-document.ts";
import { documentParser } from "../src/parse/parse-document.ts";
import { limited, sandboxed } from "../src/parse/reader-sandbox.ts";
import type { Format } from "../src/parse/formats.ts";
import { smallPdf } from "./small-pdf.ts";

const never = new AbortController().signal;
const parse = documentParser();

/** Whether bubblewrap works on this machine. */
const bubblewrapHere = async () => (await sandboxed([], [])).isSandboxed;

const docx = (body: string) =>
  zipSync({ "word/document.xml": strToU8(`<w:document><w:body>${body}</w:body></w:document>`) });

const html =
  "<title>T</title><h1>Head</h1><p>one <b>bold</b> &amp; two<script>no()</script></p><p>three</p>";
const hiddenHtml =
  '<p>seen</p><p hidden>no <br>one</p><div style="display: none"><p>no</p>two<img></div><p>too</p>';
const paragraphs =
  '<w:p><w:pPr><w:pStyle w:val="Heading1"/></w:pPr><w:r><w:t>Head</w:t></w:r></w:p><w:p><w:r><w:t>one &amp; </w:t></w:r><w:r><w:t>two</w:t></w:r></w:p>';

test.concurrent.each<[Format, Uint8Array, object[]]>([
  ["html", Buffer.from(html), [{ text: "T" }, { text: "# Head\none bold & two\nthree" }]],
  ["html", Buffer.from(hiddenHtml), [{ text: "seen\ntoo" }]],
  ["docx", docx(paragraphs), [{ text: "# Head\none & two", firstLine: 1, lastLine: 2, page: 0 }]],
  [
    "pdf",
    smallPdf([["Travel", "Book trains."], ["Flights"]]),
    [
      { text: "Travel\nBook trains.", page: 1, firstLine: 1, lastLine: 2 },
      { text: "Flights", page: 2, firstLine: 1 },
    ],
  ],
])("the text of %s is read with the place of each passage", async (format, bytes, passages) => {
  expect((await parse("a", format, bytes, never)).passages).toMatchObject(passages);
});

const empty = "<div>".repeat(100);
const deep = "<div>".repeat(1_000_000);
/** A stream of zeros that inflates to 300 MiB. */
const bomb = deflateSync(new Uint8Array(300 * 1_048_576));

// Bombs and damage: the process that reads them says so, or is ended.
// Requirement: KNOW-1
test.concurrent.each<[string, Format, Uint8Array, ErrorReason]>([
  ["a PDF that is none", "pdf", Buffer.from("%PDF-1.7 no"), ErrorReason.DOCUMENT_UNREADABLE],
  ["a DOCX that is none", "docx", Buffer.from("PK\u0003\u0004x"), ErrorReason.DOCUMENT_UNREADABLE],
  ["HTML without text", "html", Buffer.from(empty), ErrorReason.DOCUMENT_UNREADABLE],
  ["deep HTML", "html", Buffer.from(deep), ErrorReason.DOCUMENT_TOO_LARGE],
  ["a PDF bomb", "pdf", smallPdf([["x"]], bomb), ErrorReason.DOCUMENT_TOO_LARGE],
  ["bytes that are no text", "text", Uint8Array.of(0, 255), ErrorReason.DOCUMENT_UNREADABLE],
  [
    "a zip bomb",
    "docx",
    zipSync({ "word/document.xml": new Uint8Array(50_000_000) }),
    ErrorReason.DOCUMENT_TOO_LARGE,
  ],
  ["too much text", "text", Buffer.alloc(5_000_000, "a "), ErrorReason.DOCUMENT_TOO_LARGE],
])("%s is refused", async (_, format, bytes, reason) => {
  await expect(parse("a", format, bytes, never)).rejects.toMatchObject({ reason });
});

/** Runs a program of tests as the reader. */
function probe(name: string, options: ParserOptions = {}) {
  const folder = join(import.meta.dirname, "probes");
  const program = { file: join(folder, `${name}.ts`), code: [folder] };
  return documentParser({ program, ...options });
}

test.each([
  ["in a sandbox", true],
  ["without one", false],
])("the process that reads can do nothing else, %s", async (_, usesSandbox) => {
  const server = createServer((socket) => socket.destroy()).listen(0, "127.0.0.1");
  onTestFinished(() => void server.close());
  await once(server, "listening");
  // A TCP listener has an address and a port.
  const { port } = server.address() as AddressInfo;
  const parseWith = probe("attempts", { usesSandbox });
  const input = Buffer.from(`${process.pid} ${port}`);
  const { passages } = await parseWith("a", "text", input, never);
  const [{ text } = { text: "" }] = passages;
  const { variables, ...attempts } = JSON.parse(text);
  // Bubblewrap and shells say where the process starts, and some shells add what they are.
  const own = new Set(["PWD", "OLDPWD", "SHLVL", "_"]);
  expect(variables.filter((name: string) => !own.has(name))).toEqual([]);
  const isAlone = usesSandbox && (await bubblewrapHere());
  expect(attempts).toEqual({
    reads: false,
    readsEnvironmentOfGateway: false,
    writes: false,
    spawns: false,
    connects: !isAlone,
    seesGateway: !isAlone,
  });
});

test("a process that takes too much memory outside of its heap, or too much time, is ended", async () => {
  const refused = { reason: ErrorReason.DOCUMENT_TOO_LARGE };
  const text = Buffer.from("x");
  const forgetful = probe("forgetful", { maxMemoryBytes: 150 * 1_048_576 });
  await expect(forgetful("a", "text", text, never)).rejects.toMatchObject(refused);
  const hasty = documentParser({ maxDurationMs: 1 });
  await expect(hasty("a", "text", text, never)).rejects.toMatchObject(refused);
});

test("a busy process without a sandbox ends by itself, also if its gateway is gone", async () => {
  const busy = { file: process.execPath, args: ["-e", "for (;;);"] };
  const { file, args } = limited(busy, 1);
  const child = spawn(file, [...args], { stdio: "ignore" });
  const [, signal] = await once(child, "exit");
  expect(["SIGXCPU", "SIGKILL"]).toContain(signal);
});

test("an answer that is no document is refused, and a program that fails is not the fault of the document", async () => {
  const liar = probe("liar");
  for (const answer of [
    '{"passages":[],"pageCount":0}',
    "no JSON",
    '{"unreadable":"text of mine"}',
  ]) {
    const refused = {
      reason: ErrorReason.DOCUMENT_UNREADABLE,
      message: expect.not.stringContaining("mine"),
    };
    await expect(liar("a", "text", Buffer.from(answer), never)).rejects.toMatchObject(refused);
  }
  const missing = probe("no-such-program");
  await expect(missing("a", "text", Buffer.from("x"), never)).rejects.toMatchObject({
    kind: "internal",
  });
});

test("a busy host reads no document without its sandbox", async () => {
  // The module remembers that bubblewrap works, so this is another instance of it.
  const instance = "../src/parse/reader-sandbox.ts?busy";
  const { sandboxed: probing } = (await import(instance)) as { sandboxed: typeof sandboxed };
  const isHere = await bubblewrapHere();
  const outcome = await probing([], [], { probeMs: 1 }).catch((error: unknown) => error);
  expect(outcome).toMatchObject(isHere ? { kind: "unavailable" } : { isSandboxed: false });
  expect((await probing([], [])).isSandboxed).toBe(isHere);
});

test("a probe that takes too long leaves no process", async () => {
  for (let probeMs = 1; probeMs <= 12; probeMs++) {
    const instance = `../src/parse/reader-sandbox.ts?late=${probeMs}`;
    const { sandboxed: probing } = (await import(instance)) as { sandboxed: typeof sandboxed };
    await probing([], [], { probeMs }).catch(() => undefined);
  }
  expect(orphanedProbes()).toEqual([]);
});

function processFile(id: string, file: string): string {
  try {
    return readFileSync(`/proc/${id}/${file}`, "utf8");
  } catch {
    return "";
  }
}

/** Returns the ids of bubblewraps that would start `node --version` and whose parent has ended. */
function orphanedProbes(): readonly string[] {
  if (!existsSync("/proc/self/status")) return [];
  return readdirSync("/proc").filter((id) => {
    const [program = "", ...args] = processFile(id, "cmdline").split("\0");
    const isProbe = program.endsWith("bwrap") && args.includes("--version");
    return isProbe && /^PPid:\t1$/m.test(processFile(id, "status"));
  });
}

test("an aborted caller ends the process that reads", async () => {
  const leaving = new AbortController();
  const reading = parse("a", "text", Buffer.from("x"), leaving.signal);
  leaving.abort(new Error("gone"));
  await expect(reading).rejects.toThrow("gone");
  await expect(parse("a", "text", Buffer.from("x"), leaving.signal)).rejects.toThrow("gone");
});
