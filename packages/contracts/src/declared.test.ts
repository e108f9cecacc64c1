import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { messagesWithBucket, messagesWithChannel } from "./declared.ts";

const proto = join(import.meta.dirname, "../../../proto");

test("the lists have every channel and every bucket of the contracts", () => {
  const sources = globSync("reeve/*/v1/*.proto", { cwd: proto })
    .map((file) => readFileSync(join(proto, file), "utf8"))
    .join("");
  const declared = (option: string) =>
    // A file of the same package as the options names them without the package.
    sources.split(new RegExp(`option \\((?:reeve\\.bus\\.v1\\.)?${option}\\) = \\{`)).length - 1;
  expect(messagesWithChannel).toHaveLength(declared("channel"));
  expect(messagesWithBucket).toHaveLength(declared("bucket"));
  expect(messagesWithBucket.length).toBeGreaterThan(7);
});
