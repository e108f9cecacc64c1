import { strToU8, zipSync } from "fflate";
import { ErrorReason } from "@reeve/contracts/error";
import { expect, test } from "vitest";
import { documentParser } from "../src/parse/parse-document.ts";
import type { Format } from "../src/parse/formats.ts";
import { smallPdf } from "./small-pdf.ts";

const never = new AbortController().signal;
const parse = documentParser();

const docx = (body: string) =>
  zipSync({ "word/document.xml": strToU8(`<w:document><w:body>${body}</w:body></w:document>`) });

const html =
  "<title>T</title><h1>Head</h1><p>one <b>bold</b> &amp; two<script>no()</script></p><p>three</p>";
const paragraphs =
  '<w:p><w:pPr><w:pStyle w:val="Heading1"/></w:pPr><w:r><w:t>Head</w:t></w:r></w:p><w:p><w:r><w:t>one &amp; </w:t></w:r><w:r><w:t>two</w:t></w:r></w:p>';

test.concurrent.each<[Format, Uint8Array, object[]]>([
  ["html", Buffer.from(html), [{ text: "T" }, { text: "# Head\none bold & two\nthree" }]],
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

const deep = "<div>".repeat(2_000);

// Bombs and damage: the process that reads them says so, or is ended.
test.concurrent.each<[string, Format, Uint8Array, ErrorReason]>([
  ["a PDF that is none", "pdf", Buffer.from("%PDF-1.7 no"), ErrorReason.DOCUMENT_UNREADABLE],
  ["a DOCX that is none", "docx", Buffer.from("PK\u0003\u0004x"), ErrorReason.DOCUMENT_UNREADABLE],
  ["HTML without text", "html", Buffer.from(deep), ErrorReason.DOCUMENT_UNREADABLE],
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

test("a document that takes too much memory or time is refused", async () => {
  const text = Buffer.from("x");
  const refused = { reason: ErrorReason.DOCUMENT_TOO_LARGE };
  const forgetful = documentParser({ maxMemoryBytes: 8 * 1_048_576 });
  await expect(forgetful("a", "text", text, never)).rejects.toMatchObject(refused);
  const hasty = documentParser({ maxDurationMs: 1 });
  await expect(hasty("a", "text", text, never)).rejects.toMatchObject(refused);
});

test("an aborted caller ends the process that reads", async () => {
  const leaving = new AbortController();
  const reading = parse("a", "text", Buffer.from("x"), leaving.signal);
  leaving.abort(new Error("gone"));
  await expect(reading).rejects.toThrow("gone");
});
