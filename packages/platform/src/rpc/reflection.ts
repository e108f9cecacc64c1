import type { DescExtension, DescFile, DescService, MessageInitShape } from "@bufbuild/protobuf";
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { FileDescriptorProtoSchema } from "@bufbuild/protobuf/wkt";
import type { ConnectRouter } from "@connectrpc/connect";
import { Code } from "@connectrpc/connect";
import type { ServerReflectionRequest } from "../../gen/grpc/reflection/v1/reflection_pb.ts";
import {
  ServerReflection,
  ServerReflectionRequestSchema,
  ServerReflectionResponseSchema,
} from "../../gen/grpc/reflection/v1/reflection_pb.ts";
import {
  ServerReflection as ServerReflectionAlpha,
  ServerReflectionRequestSchema as AlphaRequestSchema,
  ServerReflectionResponseSchema as AlphaResponseSchema,
} from "../../gen/grpc/reflection/v1alpha/reflection_pb.ts";

type Reply = NonNullable<
  MessageInitShape<typeof ServerReflectionResponseSchema>["messageResponse"]
>;

/** Serves gRPC reflection, v1 and v1alpha, so that generic clients can call `services` without their proto files. */
export function serveReflection(router: ConnectRouter, services: readonly DescService[]): void {
  const files = filesOf(services);
  router.service(ServerReflection, {
    async *serverReflectionInfo(requests) {
      for await (const request of requests) {
        yield create(ServerReflectionResponseSchema, {
          validHost: request.host,
          originalRequest: request,
          messageResponse: answer(request.messageRequest, services, files),
        });
      }
    },
  });
  router.service(ServerReflectionAlpha, {
    async *serverReflectionInfo(requests) {
      for await (const request of requests) {
        // The two versions differ only in their package: they have the same wire format.
        const bytes = toBinary(AlphaRequestSchema, request);
        const { messageRequest } = fromBinary(ServerReflectionRequestSchema, bytes);
        const messageResponse = answer(messageRequest, services, files);
        const response = create(ServerReflectionResponseSchema, { messageResponse });
        const answered = fromBinary(
          AlphaResponseSchema,
          toBinary(ServerReflectionResponseSchema, response),
        );
        yield { ...answered, validHost: request.host, originalRequest: request };
      }
    },
  });
}

function answer(
  request: ServerReflectionRequest["messageRequest"],
  services: readonly DescService[],
  files: ReadonlyMap<string, DescFile>,
): Reply {
  switch (request.case) {
    case "listServices":
      return {
        case: "listServicesResponse",
        value: { service: services.map(({ typeName }) => ({ name: typeName })) },
      };
    case "fileByFilename":
      return filesReply(files.get(request.value), request.value);
    case "fileContainingSymbol":
      return filesReply(
        [...files.values()].find((file) => defines(file, request.value)),
        request.value,
      );
    case "fileContainingExtension": {
      const { containingType, extensionNumber } = request.value;
      const found = extensionsOf(files, containingType).find(
        ({ number }) => number === extensionNumber,
      );
      return filesReply(found?.file, `${containingType} ${extensionNumber}`);
    }
    case "allExtensionNumbersOfType":
      return {
        case: "allExtensionNumbersResponse",
        value: {
          baseTypeName: request.value,
          extensionNumber: extensionsOf(files, request.value).map(({ number }) => number),
        },
      };
    case undefined:
      return errorReply(
        Code.InvalidArgument,
        "the request has no message_request that this server knows",
      );
  }
}

/** Returns the file with everything that it imports, so that a client needs only one request. */
function filesReply(file: DescFile | undefined, name: string): Reply {
  if (file === undefined) return errorReply(Code.NotFound, `${name} not found`);
  const fileDescriptorProto = [...withImports(file)].map(({ proto }) =>
    toBinary(FileDescriptorProtoSchema, proto),
  );
  return { case: "fileDescriptorResponse", value: { fileDescriptorProto } };
}

function errorReply(errorCode: Code, errorMessage: string): Reply {
  return { case: "errorResponse", value: { errorCode, errorMessage } };
}

function filesOf(services: readonly DescService[]): ReadonlyMap<string, DescFile> {
  const all = services.flatMap(({ file }) => [...withImports(file)]);
  return new Map(all.map((file) => [file.proto.name, file]));
}

function withImports(file: DescFile, seen = new Set<DescFile>()): ReadonlySet<DescFile> {
  if (!seen.has(file)) {
    seen.add(file);
    for (const dependency of file.dependencies) withImports(dependency, seen);
  }
  return seen;
}

function defines(file: DescFile, symbol: string): boolean {
  const messages = [...file.messages];
  for (const message of messages) messages.push(...message.nestedMessages);
  const enums = [...file.enums, ...messages.flatMap(({ nestedEnums }) => nestedEnums)];
  return (
    [...messages, ...enums, ...file.services, ...file.extensions].some(
      ({ typeName }) => typeName === symbol,
    ) ||
    file.services.some(({ typeName, methods }) =>
      methods.some(({ name }) => `${typeName}.${name}` === symbol),
    ) ||
    messages.some(({ typeName, fields }) =>
      fields.some(({ name }) => `${typeName}.${name}` === symbol),
    )
  );
}

function extensionsOf(
  files: ReadonlyMap<string, DescFile>,
  typeName: string,
): readonly DescExtension[] {
  return [...files.values()]
    .flatMap(({ extensions }) => extensions)
    .filter(({ extendee }) => extendee.typeName === typeName);
}
