import { expect, test } from "vitest";
import { channelOf } from "./channel.ts";
import { oncePerDescriptor } from "./once-per-descriptor.ts";
import { RunEventSchema, RunSchema } from "./run.ts";

test("a value is computed once for each descriptor, also if it is undefined", () => {
  const computed: string[] = [];
  const compute = oncePerDescriptor(({ typeName }: { readonly typeName: string }) => {
    computed.push(typeName);
  });
  for (const schema of [RunSchema, RunEventSchema, RunSchema]) compute(schema);
  expect(computed).toEqual([RunSchema.typeName, RunEventSchema.typeName]);
});

test("a descriptor without a channel is an error each time", () => {
  for (let attempt = 0; attempt < 2; attempt++) {
    expect(() => channelOf(RunEventSchema)).toThrow("declares no channel");
  }
});
