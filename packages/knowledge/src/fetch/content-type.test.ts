import { describe, expect, test } from "vitest";
import { contentTypeOf, inUtf8 } from "./content-type.ts";

const pdf = Buffer.from("%PDF-1.4\n\u00E2\u00E3", "latin1");
const archive = Buffer.from("PK\u0003\u0004......[Content_Types].xml\u00E2", "latin1");

const read = (bytes: Uint8Array, header: string) =>
  Buffer.from(inUtf8(bytes, contentTypeOf(bytes, header).charset));

// Requirement: KNOW-8
describe("a document whose server names a charset", () => {
  test("keeps its bytes if it is no text", () => {
    for (const type of ["application/pdf", "text/plain", "application/octet-stream"]) {
      expect(read(pdf, `${type};charset=ISO-8859-1`)).toEqual(pdf);
      expect(read(archive, `${type};charset=ISO-8859-1`)).toEqual(archive);
    }
  });

  test("is converted to UTF-8 if it is text", () => {
    const latin = Buffer.from("caf\u00E9", "latin1");
    for (const type of ["text/markdown", "application/json", "application/xhtml+xml"]) {
      expect(read(latin, `${type}; charset=windows-1252`).toString()).toBe("café");
    }
    const wide = Buffer.from("café", "utf16le");
    expect(read(wide, "text/plain; charset=utf-16le").toString()).toBe("café");
    expect(read(wide, "text/plain; charset=no-charset")).toEqual(wide);
  });

  test("names it in an element of HTML, and in no other text", () => {
    const page = Buffer.from('<meta charset="iso-8859-1">\u00E9', "latin1");
    expect(read(page, "text/html").toString()).toContain("é");
    for (const name of ["utf-16", "UTF-16LE"]) {
      const wrong = Buffer.from(`<meta charset="${name}">é`);
      expect(read(wrong, "text/html")).toEqual(wrong);
    }
    const quoting = Buffer.from('Write `<meta charset="iso-8859-1">` for é.');
    expect(read(quoting, "text/markdown")).toEqual(quoting);
  });

  test("keeps its bytes if they have a byte order mark, or are too many to convert", () => {
    const marked = Buffer.from("\uFEFFcafé");
    expect(read(marked, "text/plain; charset=iso-8859-1")).toEqual(marked);
    const long = Buffer.alloc(8 * 1_048_576 + 1, 0xe9);
    expect(read(long, "text/plain; charset=iso-8859-1")).toHaveLength(long.length);
  });
});

test("a document that its server does not know is HTML by its first bytes, or unknown", () => {
  const page = Buffer.from("<!doctype html><p>Hello");
  for (const type of [undefined, "application/octet-stream", "binary/octet-stream"]) {
    expect(contentTypeOf(page, type).mediaType).toBe("text/html");
    expect(contentTypeOf(Buffer.from("# Notes"), type).mediaType).toBe("");
  }
});
