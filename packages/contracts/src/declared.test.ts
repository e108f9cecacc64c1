import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { getOption } from "@bufbuild/protobuf";
import { expect, test } from "vitest";
import { bucket, channel } from "./bus.ts";
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

test("every channel, bucket, and object store names the services that use it", () => {
  const declared = [
    ...messagesWithChannel.map(
      (message) => [message.typeName, getOption(message, channel)] as const,
    ),
    ...messagesWithBucket.map((message) => [message.typeName, getOption(message, bucket)] as const),
    ...messagesWithBucket.flatMap((message) => {
      const { objects } = getOption(message, bucket);
      return objects === undefined ? [] : [[objects.name, objects] as const];
    }),
  ];
  const unused = declared.filter(([, { access }]) => {
    const receivers = [...(access?.readers ?? []), ...(access?.takers ?? [])];
    return access?.writers.length === 0 || receivers.length === 0;
  });
  // Programs outside of Reeve read it.
  const published = new Set(["reeve.notify.v1.ApprovalNotice"]);
  expect(unused.map(([name]) => name).filter((name) => !published.has(name))).toEqual([]);
});
