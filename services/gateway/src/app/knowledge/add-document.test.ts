import { create } from "@bufbuild/protobuf";
import { ArtifactSchema } from "@reeve/contracts/artifact";
import { ErrorReason } from "@reeve/contracts/error";
import { AddDocumentRequestSchema } from "@reeve/contracts/extensions/knowledge";
import { expect, test } from "vitest";
import { memoryPorts } from "../../../test/support/memory-ports.ts";
import { addDocument } from "./add-document.ts";

const never = new AbortController().signal;
const ann = { tenant: "acme", subject: "ann" };

// Requirement: KNOW-1
test("a PDF of 2 GB is refused by its size, before a byte of it is read", async () => {
  const ports = memoryPorts();
  await ports.knowledge.create(ann, { collectionId: "h", title: "", readers: [] }, never);
  const { artifacts } = ports;
  let reads = 0;
  const huge: Pick<typeof artifacts, "get" | "read"> = {
    get: async () => create(ArtifactSchema, { sizeBytes: 2 ** 31, mediaType: "application/pdf" }),
    read: (...given) => {
      reads += 1;
      return artifacts.read(...given);
    },
  };
  const source = { case: "artifactId", value: "art_huge0000000000000" } as const;
  const request = create(AddDocumentRequestSchema, { collectionId: "h", name: "a.pdf", source });
  const refused = addDocument(
    { ...ports, artifacts: Object.assign(Object.create(artifacts), huge) },
    ann,
    request,
    never,
  );
  await expect(refused).rejects.toMatchObject({
    kind: "exhausted",
    reason: ErrorReason.DOCUMENT_TOO_LARGE,
    message: expect.stringContaining("2147483648 bytes, more than 33554432"),
  });
  expect(reads).toBe(0);
  expect((await ports.knowledge.get(ann, "h", never)).documents).toEqual([]);
});
