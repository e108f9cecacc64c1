import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { documentParser } from "@reeve/knowledge/parse/parse-document";
import type { readerProgram } from "@reeve/knowledge/parse/reader-arguments";
import { smallPdf } from "@reeve/knowledge/test/small-pdf";
import { expect, test } from "vitest";
import { compilePrograms } from "../../scripts/programs/compile-programs.ts";
import { shippedPrograms } from "../../scripts/programs/shipped-programs.ts";

const never = new AbortController().signal;

test("the bundle of the reader reads documents where the repository is not", async () => {
  const folder = await mkdtemp(join(tmpdir(), "reeve-reader-"));
  try {
    const programs = {
      "document-reader": shippedPrograms["document-reader"],
      "reader-arguments": "packages/knowledge/src/parse/reader-arguments.ts",
    };
    await compilePrograms({ programs, folder, place: "programs" });
    const bundled = (await import(pathToFileURL(join(folder, "reader-arguments.mjs")).href)) as {
      readonly readerProgram: typeof readerProgram;
    };
    const parse = documentParser({ program: bundled.readerProgram() });
    const pdf = smallPdf([["Travel", "Book trains."]]);
    for (const [format, bytes, text] of [
      ["text", Buffer.from("# Travel\nBook trains.\n"), "# Travel\nBook trains."],
      ["html", Buffer.from("<h1>Travel</h1><p>Book trains.</p>"), "# Travel\nBook trains."],
      ["pdf", pdf, "Travel\nBook trains."],
    ] as const) {
      expect((await parse("a", format, bytes, never)).passages).toMatchObject([{ text }]);
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});
