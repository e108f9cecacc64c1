import { readFileSync } from "node:fs";
import { join } from "node:path";
import { getOption } from "@bufbuild/protobuf";
import { bucket, channel } from "@reeve/contracts/bus";
import { messagesWithBucket, messagesWithChannel } from "@reeve/contracts/declared";
import { expect, test } from "vitest";

const page = readFileSync(join(import.meta.dirname, "../../docs/security.md"), "utf8");
/** The columns of the table that says what is encrypted. */
const rows = page
  .slice(page.indexOf("| encrypted "))
  .split("\n\n")[0]
  ?.split("\n")
  .map((row) => row.split("|").map((cell) => cell.trim()));
const encrypted = rows?.map(([, left = ""]) => left).join(" ") ?? "";

function namesIn(text: string): readonly string[] {
  return [...text.matchAll(/`([\w-]+)`/g)].map(([, name = ""]) => name);
}

test("the page about security names exactly the streams and buckets that are encrypted", () => {
  const streams = messagesWithChannel
    .map((message) => getOption(message, channel))
    .flatMap(({ sealed, stream }) => (sealed && stream !== undefined ? [stream.name] : []));
  const buckets = messagesWithBucket
    .map((message) => getOption(message, bucket))
    .flatMap(({ sealed, name }) => (sealed ? [name] : []));
  expect(new Set(namesIn(encrypted))).toEqual(new Set([...streams, ...buckets]));
});

test("the first part of the key of each encrypted bucket is the tenant", () => {
  const keys = messagesWithBucket
    .map((message) => getOption(message, bucket))
    .flatMap(({ sealed, key }) => (sealed ? [key.split(".")[0]] : []));
  expect(new Set(keys)).toEqual(new Set(["{tenant}"]));
});
