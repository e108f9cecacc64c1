import type { MessageInitShape } from "@bufbuild/protobuf";
import type { ListValueSchema } from "@bufbuild/protobuf/wkt";
import type {
  AgentSpec,
  AgentSpecSchema,
  DeepAgent,
  DeepAgentSchema,
} from "@reeve/contracts/agent";

/** A list of names, or the message that holds it in the contract. */
type Names = readonly string[] | MessageInitShape<typeof ListValueSchema> | undefined;

/** A message as an object, in which these fields are lists of names. */
type WithNames<Init, Field extends keyof Init> = Omit<Init, Field> & {
  readonly [Name in Field]?: Names;
};

type SpecInit = Exclude<MessageInitShape<typeof AgentSpecSchema>, AgentSpec>;
type DeepAgentInit = Exclude<MessageInitShape<typeof DeepAgentSchema>, DeepAgent>;

/** An agent's spec as an object, with the names of its fields in camelCase. */
export type AgentInit =
  | AgentSpec
  | (Omit<WithNames<SpecInit, "allowedTools" | "allowedToolPatterns">, "deepAgent"> & {
      readonly deepAgent?:
        | DeepAgent
        | WithNames<DeepAgentInit, "allowedImports" | "commandBlacklist">
        | undefined;
    });
