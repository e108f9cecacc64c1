import { useMutation } from "@connectrpc/connect-query";
import { RunService } from "@reeve/contracts/run";
import { useState } from "react";
import { problemOf } from "../../../api/problem.ts";
import { requestIds } from "../../../api/request-ids.ts";
import type { RunModel } from "../../../run/run-model.ts";
import { Icon } from "../../../ui/icons.tsx";
import { ProblemView } from "../../../ui/problem-view.tsx";
import { MessageBox } from "../../../ui/message-box.tsx";

/** Sends a message to a run in progress, which it takes up at its next step. */
export function Composer({ run }: { readonly run: RunModel }) {
  const [text, setText] = useState("");
  const send = useMutation(RunService.method.sendMessage);
  const [ids] = useState(requestIds);
  const { runId } = run;
  const onSend = () =>
    send.mutate(
      { runId, text, messageId: ids.idFor(runId, text) },
      {
        onSuccess: () => {
          ids.answered();
          setText((now) => (now === text ? "" : now));
        },
      },
    );
  return (
    <div className="composer">
      {[...run.waiting].map(([id, message]) => (
        <p key={id} className="waiting-message">
          <Icon name="send" />
          <span>{message.text}</span>
          <span className="muted">waits for the next step</span>
        </p>
      ))}
      {send.error !== null && <ProblemView problem={problemOf(send.error)} />}
      <MessageBox
        label="Message to the run"
        placeholder="Tell the run something …"
        text={text}
        isBusy={send.isPending}
        onChange={setText}
        onSend={onSend}
      />
    </div>
  );
}
