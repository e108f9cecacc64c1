import type { Artifact, Message, Part, StreamResponse, Task, TaskStatus } from "@a2a-js/sdk";
import { TaskState } from "@a2a-js/sdk";
import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import type { RemoteUsage } from "@reeve/agent/resolve/remote-usage";
import { usageIn } from "@reeve/agent/resolve/remote-usage";
import type { ModelPart } from "@reeve/engine/ports/model-provider";
import { ModelFailure } from "@reeve/engine/ports/model-provider";
import type { RemoteFile } from "./remote-files.ts";
import { filesIn } from "./remote-files.ts";

/** What a remote agent needs to know before it continues. */
export interface RemoteQuestion {
  readonly text: string;
  /** The data of the request, if it is one of a Reeve. */
  readonly request: JsonObject | undefined;
  /** Id of the message with which the agent asks. Empty: it has none. */
  readonly messageId: string;
}

/** How the work on a message ended. */
export type RemoteEnd =
  | {
      readonly kind: "answer";
      readonly text: string;
      /** Why the answer is not whole, if the agent is a Reeve and says so. */
      readonly incomplete?: "truncated" | "filtered" | undefined;
    }
  | { readonly kind: "question"; readonly question: RemoteQuestion };

/** The maximum length of an answer. A turn of a run must fit into one message of the bus. */
const maxAnswer = 150_000;
/** The maximum length of the id of a task, a context, or a message. */
const maxId = 255;
/** How much of what the agent says with a status is shown. */
const maxSaid = 16_000;
/** The most events that are read for one message. */
const maxEvents = 20_000;
/** How much of what the agent says before its answer is shown in one step. */
const maxReasoning = 1_000_000;

/**
 * Follows the events of a task of a remote agent. It believes the agent as little as possible: events of another task, states that do not
 * exist, and an answer without end are failures, and nothing after the end is read.
 */
export class RemoteTurn {
  #taskId: string;
  #contextId: string;
  readonly #artifacts = new Map<string, string>();
  readonly #files = new Map<string, readonly RemoteFile[]>();
  #answered: string;
  #end: RemoteEnd | undefined;
  #events = 0;
  #reasoning = 0;
  #lastSaid = "";
  #usage: RemoteUsage | undefined;
  #isAnnounced = false;

  /**
   * `answeredId` is the id of the message with which the agent asked what is answered now. A task that still has it is one from before the
   * answer.
   */
  constructor(ids: { readonly taskId: string; readonly contextId: string }, answeredId = "") {
    this.#taskId = ids.taskId;
    this.#contextId = ids.contextId;
    this.#answered = answeredId;
  }

  /** From now on, a question that was answered already is asked again. */
  acceptRepeatedQuestion(): void {
    this.#answered = "";
  }

  get taskId(): string {
    return this.#taskId;
  }

  get contextId(): string {
    return this.#contextId;
  }

  /** How the work ended. Undefined: it has not. */
  get end(): RemoteEnd | undefined {
    return this.#end;
  }

  /** What the task has used since it began. Undefined: the agent does not report it. */
  get usage(): RemoteUsage | undefined {
    return this.#usage;
  }

  /** The files of the answer. */
  get files(): readonly RemoteFile[] {
    return [...this.#files.values()].flat();
  }

  /** Whether a task waits for what is answered now, so that the answer has not reached it. */
  stillAsks({ status }: Task): boolean {
    if (status?.state !== TaskState.TASK_STATE_INPUT_REQUIRED) return false;
    return this.#answered === "" || status.message?.messageId === this.#answered;
  }

  /** Takes an event, and returns what the run shows of it. Throws a ModelFailure if the agent failed, or the event is not possible. */
  take({ payload }: StreamResponse): readonly ModelPart[] {
    if (this.#end !== undefined) return [];
    this.#events += 1;
    if (this.#events > maxEvents) throw impossible(`more than ${maxEvents} events`);
    switch (payload?.$case) {
      case "task":
        return this.#takeTask(payload.value);
      case "message":
        return this.#takeMessage(payload.value);
      case "statusUpdate":
        this.#assertTask(payload.value.taskId);
        return this.#takeStatus(payload.value.status, payload.value.metadata);
      case "artifactUpdate": {
        const { taskId, artifact, append } = payload.value;
        this.#assertTask(taskId);
        return artifact === undefined ? [] : this.#takeArtifact(artifact, append);
      }
      case undefined:
        throw impossible("an event without content");
    }
  }

  /** Takes a task as it is. */
  takeTask(task: Task): readonly ModelPart[] {
    return this.#takeTask(task);
  }

  #takeTask({ id, contextId, status, artifacts, metadata }: Task): readonly ModelPart[] {
    if (id === "") throw impossible("a task without an id");
    if (this.#taskId !== "" && this.#taskId !== id)
      throw impossible("another task than that of the message");
    const isKnown = this.#isAnnounced && contextId === this.#contextId;
    this.#isAnnounced = true;
    this.#taskId = assertId(id);
    this.#contextId = assertId(contextId);
    const left = new Set(this.#artifacts.keys());
    const parts = artifacts.flatMap((each) => {
      left.delete(each.artifactId);
      return this.#takeArtifact(each, false);
    });
    for (const artifactId of left) {
      this.#artifacts.delete(artifactId);
      this.#files.delete(artifactId);
    }
    const announced = isKnown ? [] : [{ kind: "remote_task", taskId: id, contextId } as const];
    return [...announced, ...parts, ...this.#takeStatus(status, metadata)];
  }

  /** An agent may answer at once, without a task. */
  #takeMessage({ parts, contextId }: Message): readonly ModelPart[] {
    this.#contextId = contextId === "" ? this.#contextId : assertId(contextId);
    this.#files.set("message", filesIn(parts, { key: "message" }));
    this.#end = { kind: "answer", text: bounded(textOf(parts)) };
    return [];
  }

  #takeArtifact({ artifactId, parts, name }: Artifact, append: boolean): readonly ModelPart[] {
    const text = textOf(parts);
    const before = this.#artifacts.get(assertId(artifactId)) ?? "";
    this.#artifacts.set(artifactId, bounded(append ? before + text : text));
    const known = append ? (this.#files.get(artifactId) ?? []) : [];
    const files = filesIn(parts, {
      key: `artifact/${artifactId}`,
      name,
      known: known.length,
    });
    this.#files.set(artifactId, [...known, ...files]);
    // A task repeats what its updates said.
    const isRepeated = !append && text.startsWith(before);
    return this.#shown(isRepeated ? text.slice(before.length) : text);
  }

  /** Returns what the run shows of a text before the answer. */
  #shown(text: string): readonly ModelPart[] {
    const shown = text.slice(0, maxReasoning - this.#reasoning);
    this.#reasoning += shown.length;
    return shown === "" ? [] : [{ kind: "reasoning", text: shown }];
  }

  #saying(said: string): readonly ModelPart[] {
    if (said === this.#lastSaid) return [];
    this.#lastSaid = said;
    return said === "" ? [] : this.#shown(`${said.slice(0, maxSaid)}\n`);
  }

  #takeStatus(status: TaskStatus | undefined, metadata: Task["metadata"]): readonly ModelPart[] {
    const said = status?.message === undefined ? "" : textOf(status.message.parts);
    this.#usage = usageIn(metadata) ?? this.#usage;
    switch (status?.state) {
      case TaskState.TASK_STATE_SUBMITTED:
      case TaskState.TASK_STATE_WORKING:
        return this.#saying(said);
      case TaskState.TASK_STATE_COMPLETED: {
        const artifacts = [...this.#artifacts.values()].filter((text) => text !== "").join("\n\n");
        this.#files.set("status", filesIn(status.message?.parts ?? [], { key: "status" }));
        const answer = artifacts === "" ? said : artifacts;
        const isEmpty = answer === "" && this.files.length === 0;
        const text = isEmpty ? "The remote agent completed the task without an answer." : answer;
        this.#end = { kind: "answer", text: bounded(text), incomplete: incompleteIn(metadata) };
        return [];
      }
      case TaskState.TASK_STATE_INPUT_REQUIRED:
        if (this.#answered !== "" && status.message?.messageId === this.#answered) return [];
        this.#end = { kind: "question", question: questionOf(status.message) };
        return [];
      case TaskState.TASK_STATE_AUTH_REQUIRED:
        throw new ModelFailure(
          "unauthenticated",
          named("AUTH_REQUIRED: it needs another authentication", said),
        );
      case TaskState.TASK_STATE_FAILED:
        throw new ModelFailure("refused", named("the task failed", said));
      case TaskState.TASK_STATE_CANCELED:
        throw new ModelFailure("refused", named("the task was canceled there", said));
      case TaskState.TASK_STATE_REJECTED:
        throw new ModelFailure("refused", named("the task was rejected", said));
      case TaskState.TASK_STATE_UNSPECIFIED:
      case TaskState.UNRECOGNIZED:
      case undefined:
        throw impossible("a task without a known state");
    }
  }

  #assertTask(taskId: string): void {
    if (this.#taskId === "") throw impossible("an update before its task");
    if (taskId !== this.#taskId) throw impossible("an update of another task");
  }
}

function incompleteIn(metadata: Task["metadata"]): "truncated" | "filtered" | undefined {
  const reason: unknown = metadata?.["incomplete"];
  return reason === "truncated" || reason === "filtered" ? reason : undefined;
}

const maxQuestion = 4_000;

/** A Reeve says in data what it asks; everything else is a text. */
function questionOf(message: Message | undefined): RemoteQuestion {
  const parts = message?.parts ?? [];
  const said = parts.flatMap(({ content }) => (content?.$case === "text" ? [content.value] : []));
  const text = said.join("\n\n").trim().slice(0, maxQuestion);
  const request = parts.map(({ content }) => dataIn(content)).find((each) => each !== undefined);
  const question = text === "" ? "The remote agent needs more information." : text;
  return { text: question, request, messageId: assertId(message?.messageId ?? "") };
}

function dataIn(content: Part["content"]): JsonObject | undefined {
  if (content?.$case !== "data") return undefined;
  // The SDK parsed JSON.
  const value = content.value as JsonValue;
  const isRequest = typeof value === "object" && value !== null && !Array.isArray(value);
  return isRequest && typeof value["approvalId"] === "string" ? value : undefined;
}

/** Returns the text of parts, without their files. */
function textOf(parts: readonly Part[]): string {
  return parts.map(textOfPart).join("");
}

function textOfPart({ content }: Part): string {
  switch (content?.$case) {
    case "text":
      return content.value;
    case "data":
      return JSON.stringify(content.value ?? null);
    case "url":
    case "raw":
    case undefined:
      return "";
  }
}

function bounded(text: string): string {
  if (text.length <= maxAnswer) return text;
  const message = `the answer of the remote agent has more than ${maxAnswer} characters`;
  throw new ModelFailure("malformed", message, { retryable: false });
}

function assertId(id: string): string {
  if (id.length > maxId) throw impossible(`an id of more than ${maxId} characters`);
  return id;
}

function named(what: string, said: string): string {
  return `the remote agent: ${what}${said === "" ? "" : `: ${said.slice(0, 1_000)}`}`;
}

function impossible(what: string): ModelFailure {
  return new ModelFailure("malformed", `the remote agent sent ${what}`, { retryable: false });
}
