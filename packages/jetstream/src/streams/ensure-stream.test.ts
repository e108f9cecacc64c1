import { channelOf } from "@reeve/contracts/channel";
import { messagesWithChannel } from "@reeve/contracts/declared";
import { expect, test } from "vitest";
import { streamConfig } from "./ensure-stream.ts";

// A process of an older version writes its own settings over newer ones unless their version is higher. It only adds subjects.
test("the settings of streams change only together with their version", () => {
  const declared = messagesWithChannel
    .map((message) => channelOf(message))
    .filter(({ stream }) => stream !== undefined)
    .map((channel) => streamConfig(channel))
    .map((config) => ({ ...config, subjects: "any" }))
    .toSorted((a, b) => (a.name < b.name ? -1 : 1));
  expect(declared).toMatchSnapshot("settings of version 1");
});
