import { memo } from "react";
import type { Frame, Item, RunModel } from "../../../run/run-model.ts";
import { LongList } from "../../../ui/content/long-list.tsx";
import { Markdown } from "../../../ui/content/markdown.tsx";
import { MessageParts } from "../../../ui/content/message-parts.tsx";
import { CallCard } from "./call-card.tsx";
import { FrameCard } from "./frame-card.tsx";
import { Clock } from "../../../ui/times.tsx";
import { Disclosure } from "../../../ui/disclosure.tsx";

interface FrameItemsProps {
  readonly frame: Frame;
  readonly run: RunModel;
  /** Changes when something in the frame has changed. */
  readonly version: number;
}

/** What happened in the root or in a subtask, oldest first. */
export const FrameItems = memo(function FrameItems({ frame, run }: FrameItemsProps) {
  return (
    <LongList
      className="items"
      items={frame.items}
      keyOf={keyOf}
      estimatePx={48}
      render={(item) => <ItemView item={item} run={run} version={versionOf(item)} />}
    />
  );
});

function keyOf({ key }: Item): string {
  return key;
}

function versionOf(item: Item): number {
  switch (item.kind) {
    case "call":
      return item.subtasks.reduce((sum, { version }) => sum + version, item.version);
    case "frame":
      return item.frame.version;
    default:
      return item.version;
  }
}

interface ItemViewProps {
  readonly item: Item;
  readonly run: RunModel;
  readonly version: number;
}

const ItemView = memo(function ItemView({ item, run, version }: ItemViewProps) {
  switch (item.kind) {
    case "user":
      return (
        <div className="message user">
          <span className="who">{item.by || "user"}</span>
          <Markdown text={item.text} />
          <MessageParts parts={item.content} />
        </div>
      );
    case "text":
      return (
        <div className="message agent">
          <Markdown text={item.text} />
        </div>
      );
    case "reasoning":
      return (
        <Disclosure className="reasoning" summary="Reasoning">
          <Markdown text={item.text} />
        </Disclosure>
      );
    case "call":
      return <CallCard call={item} run={run} version={version} view={viewFrame} />;
    case "frame":
      return <FrameCard frame={item.frame} run={run} version={version} view={viewFrame} />;
    case "note":
      return (
        <div className={`note ${item.tone}`}>
          {item.text}
          {item.timeMs !== undefined && (
            <span className="muted">
              {" "}
              <Clock ms={item.timeMs} />
            </span>
          )}
          {item.detail !== "" && (
            <Disclosure className="detail" summary="Details">
              <pre className="code">{item.detail}</pre>
            </Disclosure>
          )}
        </div>
      );
  }
});

function viewFrame(frame: Frame, run: RunModel) {
  return <FrameItems frame={frame} run={run} version={frame.version} />;
}
