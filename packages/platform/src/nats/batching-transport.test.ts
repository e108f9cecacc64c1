import { Writable } from "node:stream";
import { setImmediate as turn } from "node:timers/promises";
import { expect, test } from "vitest";
import { BatchingTransport } from "./batching-transport.ts";

test("what is sent in one turn of the event loop is one write", async () => {
  const writes: string[] = [];
  const transport = new BatchingTransport();
  const written = (chunks: readonly { readonly chunk: Buffer }[]) =>
    writes.push(Buffer.concat(chunks.map(({ chunk }) => chunk)).toString());
  const socket = new Writable({
    write(chunk: Buffer, _, done) {
      written([{ chunk }]);
      done();
    },
    writev(chunks, done) {
      written(chunks);
      done();
    },
  });
  // The transport uses nothing else of its socket to send.
  Object.assign(transport, { socket, options: {} });
  transport.send(Buffer.from("a"));
  await Promise.resolve();
  transport.send(Buffer.from("b"));
  await turn();
  transport.send(Buffer.from("c"));
  await turn();
  expect(writes).toEqual(["ab", "c"]);
});
