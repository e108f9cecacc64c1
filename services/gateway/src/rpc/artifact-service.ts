import type { ServiceImpl } from "@connectrpc/connect";
import type { ArtifactService } from "@reeve/contracts/artifact";
import { ArtifactHeaderSchema } from "@reeve/contracts/artifact";
import { create } from "@bufbuild/protobuf";
import { principalOf } from "@reeve/platform/rpc/principal";
import type { GatewayPorts } from "../app/gateway-ports.ts";
import {
  downloadArtifact,
  listArtifacts,
  storeArtifact,
  uploadArtifact,
} from "../app/transfer-artifacts.ts";

/** Returns the handlers of ArtifactService. */
export function artifactService({
  artifacts,
  artifactQuotas,
  assertRoom,
}: Pick<GatewayPorts, "artifacts" | "artifactQuotas" | "assertRoom">): ServiceImpl<
  typeof ArtifactService
> {
  const ports = { artifacts, artifactQuotas };
  return {
    uploadArtifact: async (requests, context) => {
      const principal = principalOf(context);
      async function* whileThereIsRoom() {
        for await (const request of requests) {
          assertRoom();
          yield request;
        }
      }
      const sent = whileThereIsRoom();
      return { artifact: await uploadArtifact(ports, principal, sent, context.signal) };
    },
    createArtifact: async ({ header = create(ArtifactHeaderSchema), content }, context) => {
      const principal = principalOf(context);
      assertRoom();
      async function* chunks() {
        yield content;
      }
      return { artifact: await storeArtifact(ports, principal, header, chunks(), context.signal) };
    },
    downloadArtifact: ({ artifactId }, context) =>
      downloadArtifact(artifacts, principalOf(context).tenant, artifactId, context.signal),
    listArtifacts: async (request, context) => {
      const { tenant } = principalOf(context);
      const page = await listArtifacts(artifacts, tenant, request, context.signal);
      return { artifacts: [...page.items], nextPageToken: page.nextPageToken };
    },
    deleteArtifact: async ({ artifactId }, context) => {
      const { tenant } = principalOf(context);
      return { existed: await artifacts.delete(tenant, artifactId, context.signal) };
    },
  };
}
