import { channelOf } from "@reeve/contracts/channel";
import { messagesWithChannel } from "@reeve/contracts/declared";
import { expect, test } from "vitest";
import { streamConfig } from "./ensure-stream.ts";

// A process of an older version writes its own settings over newer ones unless their version is higher.
test("the settings of streams change only together with their version", () => {
  const declared = messagesWithChannel
    .map((message) => channelOf(message))
    .filter(({ stream }) => stream !== undefined)
    .map((channel) => streamConfig(channel));
  expect(declared).toMatchSnapshot("settings of version 1");
});
