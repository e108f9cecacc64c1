import { useQuery } from "@connectrpc/connect-query";
import { Link } from "@tanstack/react-router";
import type { ThreadMessage } from "@reeve/contracts/thread";
import { Role, ThreadService } from "@reeve/contracts/thread";
import { useCallback, useEffect, useState } from "react";
import { problemOf } from "../../api/problem.ts";
import { plural } from "../../format/amounts.ts";
import { Markdown } from "../../ui/content/markdown.tsx";
import { MessageParts } from "../../ui/content/message-parts.tsx";
import { Disclosure } from "../../ui/disclosure.tsx";
import { ProblemView } from "../../ui/problem-view.tsx";
import { buildWorkflowName } from "../workflows/plan/read-plan.ts";
import { keepTurns } from "./keep-turns.ts";
import { LiveTurn } from "./live-turn.tsx";
import { PastPlan } from "./past-plan.tsx";
import { placeTurns } from "./place-turns.ts";
import { StoredTree } from "./stored-tree.tsx";

interface TurnsProps {
  readonly threadId: string;
  /** The number of turns that have ended: the messages are read again when it changes. */
  readonly turns: number;
  /** Empty: no turn is active. */
  readonly activeRunId: string;
}

/**
 * The turns of a thread, with what their runs did. A turn that a person saw while it was active stays as it is when it ends: what is open
 * in it, such as a question before a plan is applied, must not close.
 */
export function Turns({ threadId, turns, activeRunId }: TurnsProps) {
  const [watched, setWatched] = useState<readonly string[]>([]);
  const [eventsOf, setEventsOf] = useState<ReadonlyMap<string, number>>(new Map());
  if (activeRunId !== "" && !watched.includes(activeRunId)) {
    setWatched(keepTurns(watched, activeRunId, eventsOf));
  }
  const onEnded = useCallback(
    (runId: string, events: number) => setEventsOf((before) => new Map(before).set(runId, events)),
    [],
  );
  const { data, error, refetch } = useQuery(ThreadService.method.listThreadMessages, {
    threadId,
    pageSize: 1_000,
  });
  useEffect(() => {
    if (turns > 0) void refetch();
  }, [turns, refetch]);
  const messages = data?.messages ?? [];
  return (
    <>
      {error !== null && <ProblemView problem={problemOf(error)} />}
      <ol className="items">
        {placeTurns(messages, watched).map((part) => (
          <li key={part.key}>
            {part.kind === "live" ? (
              <LiveTurn runId={part.runId} onEnded={onEnded} />
            ) : (
              <Message message={part.message} isLast={part.message === messages.at(-1)} />
            )}
          </li>
        ))}
      </ol>
    </>
  );
}

interface MessageProps {
  readonly message: ThreadMessage;
  /** Whether no message follows it. */
  readonly isLast: boolean;
}

function Message({ message, isLast }: MessageProps) {
  if (message.role !== Role.USER) return <Answer message={message} isLast={isLast} />;
  return (
    <div className="message user">
      <Markdown text={message.text} />
      <MessageParts parts={message.parts} />
    </div>
  );
}

function Answer({ message, isLast }: MessageProps) {
  const nodes = message.executionTree?.nodes ?? [];
  return (
    <div className="message agent">
      {nodes.length > 0 && <StoredTree nodes={nodes} />}
      {nodes.some(({ name }) => name === buildWorkflowName) && (
        <Disclosure isOpen={isLast} summary="Planned workflow">
          <PastPlan runId={message.runId} />
        </Disclosure>
      )}
      <Markdown text={message.text} />
      {message.omittedTextBytes > 0 && (
        <p className="note">The answer has {message.omittedTextBytes} bytes. The run shows it.</p>
      )}
      {message.error !== "" && <p className="note bad">{message.error}</p>}
      <p className="sub">
        <Link to="/runs/$runId/{-$view}" params={{ runId: message.runId }}>
          Show the run
        </Link>
        {nodes.length > 0 && <span>{plural(nodes.length, "call")}</span>}
      </p>
    </div>
  );
}
