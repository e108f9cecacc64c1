import type { DescMethodUnary, Message, MessageShape } from "@bufbuild/protobuf";
import { fromBinary, toBinary } from "@bufbuild/protobuf";
import type {
  DescribePluginsResponseSchema,
  ExecutePluginToolRequestSchema,
  ExecutePluginToolResponseSchema,
  RunHookRequestSchema,
  RunHookResponseSchema,
} from "@reeve/contracts/extensions/plugin";
import { PluginService } from "@reeve/contracts/extensions/plugin";
import type { Metadata, sendUnaryData, ServerUnaryCall, UntypedHandleCall } from "@grpc/grpc-js";
import { Server, ServerCredentials } from "@grpc/grpc-js";

/** What a server answers. An error has a `code`, and ends the request with it. */
export interface PluginServerAnswers {
  describe():
    | MessageShape<typeof DescribePluginsResponseSchema>
    | Promise<MessageShape<typeof DescribePluginsResponseSchema>>;
  hook(
    request: MessageShape<typeof RunHookRequestSchema>,
    metadata: Metadata,
  ): Promise<MessageShape<typeof RunHookResponseSchema>>;
  /** Absent: it has no tools. */
  tool?(
    request: MessageShape<typeof ExecutePluginToolRequestSchema>,
  ): Promise<MessageShape<typeof ExecutePluginToolResponseSchema>>;
}

/** A gRPC server with plugins, on a free port. */
export class PluginServer implements AsyncDisposable {
  readonly #server = new Server();
  readonly target: string;

  private constructor(server: Server, port: number) {
    this.#server = server;
    this.target = `127.0.0.1:${port}`;
  }

  static async start(answers: PluginServerAnswers, port = 0): Promise<PluginServer> {
    const server = new Server();
    const { describePlugins, runHook, executePluginTool } = PluginService.method;
    server.addService(
      {
        DescribePlugins: definitionOf(describePlugins),
        RunHook: definitionOf(runHook),
        ...(answers.tool && { ExecutePluginTool: definitionOf(executePluginTool) }),
      },
      {
        DescribePlugins: handlerOf(async () => answers.describe()),
        RunHook: handlerOf((request, metadata) => answers.hook(request as never, metadata)),
        ...(answers.tool && {
          ExecutePluginTool: handlerOf(async (request) => answers.tool?.(request as never)),
        }),
      },
    );
    const bound = Promise.withResolvers<number>();
    server.bindAsync(`127.0.0.1:${port}`, ServerCredentials.createInsecure(), (error, found) => {
      if (error === null) bound.resolve(found);
      else bound.reject(error);
    });
    return new PluginServer(server, await bound.promise);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.forceShutdown();
  }
}

function definitionOf({ input, output, name }: DescMethodUnary) {
  return {
    path: `/${PluginService.typeName}/${name}`,
    requestStream: false,
    responseStream: false,
    requestSerialize: (message: Message) => Buffer.from(toBinary(input, message)),
    requestDeserialize: (bytes: Buffer) => fromBinary(input, bytes),
    responseSerialize: (message: Message) => Buffer.from(toBinary(output, message)),
    responseDeserialize: (bytes: Buffer) => fromBinary(output, bytes),
  };
}

function handlerOf(
  answer: (request: unknown, metadata: Metadata) => Promise<unknown>,
): UntypedHandleCall {
  return (call: ServerUnaryCall<unknown, unknown>, callback: sendUnaryData<unknown>) => {
    void respond(answer(call.request, call.metadata), callback);
  };
}

async function respond(answer: Promise<unknown>, callback: sendUnaryData<unknown>): Promise<void> {
  try {
    callback(null, await answer);
  } catch (error) {
    callback(error as Error);
  }
}
