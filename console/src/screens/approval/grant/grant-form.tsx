import type { JsonObject } from "@bufbuild/protobuf";
import { exactRule } from "@reeve/agent/permission/exact-rule";
import type { RuleFreedom } from "@reeve/agent/permission/rule-freedom";
import { freedomOf } from "@reeve/agent/permission/rule-freedom";
import type { Approval } from "@reeve/contracts/approval";
import { GrantScope } from "@reeve/contracts/approval";
import { shownExactly } from "@reeve/contracts/content/shown-exactly";
import { useState } from "react";
import { nameOfAgent } from "../../../format/names.ts";
import type { GrantDraft } from "./grant-draft.ts";
import { readGrantDraft } from "./grant-draft.ts";

interface GrantFormProps {
  readonly approval: Approval;
  /** JSON Schema of the arguments. Undefined: unknown. */
  readonly schema: JsonObject | undefined;
  readonly isDisabled: boolean;
  readonly onGrant: (grant: GrantDraft) => void;
}

/** Approves the call and, by a rule, further ones that match it. */
export function GrantForm({ approval, schema, isDisabled, onGrant }: GrantFormProps) {
  const { call, threadId } = approval;
  const args = call?.arguments ?? {};
  const [rule, setRule] = useState(() => exactRule(call?.name ?? "", args) ?? "");
  const [scope, setScope] = useState<GrantScope>(GrantScope.RUN);
  const [uses, setUses] = useState("10");
  const [hours, setHours] = useState("1");
  const freedom = freedomOf(rule.trim(), args, schema);
  const exactly = shownExactly(rule.trim());
  const grant = readGrantDraft({ rule, scope, uses, hours });
  const isReadable = freedom.kind !== "unreadable" && grant !== undefined;
  const scopes = [
    { value: GrantScope.RUN, name: "calls of this run" },
    ...(threadId === "" ? [] : [{ value: GrantScope.THREAD, name: "calls of the thread" }]),
    { value: GrantScope.AGENT, name: `all calls of ${nameOfAgent(approval)}` },
  ];
  return (
    <>
      <p>
        You approve this call, and those that match the rule without being asked again. The rule
        decides no more than you may decide alone. You can revoke it below Rules in force.
      </p>
      <label className="field">
        <span>Rule</span>
        <textarea
          className="input mono"
          aria-label="Rule"
          rows={Math.min(8, 1 + Math.ceil(rule.length / 60))}
          spellCheck={false}
          value={rule}
          onChange={({ target }) => setRule(target.value)}
        />
      </label>
      {exactly !== rule.trim() && (
        <p className="hint">
          It has characters that cannot be seen. As JSON: <code>{exactly}</code>
        </p>
      )}
      <p className="hint">{rule.trim() === "" ? noExactRule : textOf(freedom)}</p>
      <div className="row">
        <label className="field">
          <span>For</span>
          <select
            className="input"
            value={scope}
            onChange={({ target }) =>
              setScope(scopes[target.selectedIndex]?.value ?? GrantScope.RUN)
            }
          >
            {scopes.map(({ value, name }) => (
              <option key={value} value={value}>
                {name}
              </option>
            ))}
          </select>
        </label>
        <label className="field">
          <span>Calls at most</span>
          <input
            className="input narrow"
            type="number"
            min="1"
            max="1000"
            value={uses}
            onChange={({ target }) => setUses(target.value)}
          />
        </label>
        <label className="field">
          <span>Hours</span>
          <input
            className="input narrow"
            type="number"
            min="0.1"
            max="720"
            step="any"
            value={hours}
            onChange={({ target }) => setHours(target.value)}
          />
        </label>
      </div>
      <button
        type="button"
        className="button"
        disabled={isDisabled || !isReadable}
        onClick={() => grant !== undefined && onGrant(grant)}
      >
        Approve this and further calls
      </button>
    </>
  );
}

const noExactRule =
  "No rule matches exactly this call. Write one that begins with the name of the tool and matches the calls that you mean.";

/** Says what a rule leaves free. */
function textOf(freedom: RuleFreedom): string {
  switch (freedom.kind) {
    case "unreadable":
      return `The rule ${freedom.problem}`;
    case "all":
      return "It matches all calls of the tool, with any arguments.";
    case "all but primary":
      return `It leaves free: all arguments except the primary one${freedom.isExact ? "" : ", and that one in part"}.`;
    case "some": {
      const others = freedom.hasOthers ? ["any argument that the call leaves out"] : [];
      const inPart = freedom.inPart.map((name) => `${name} in part`);
      const free = [...freedom.names, ...inPart, ...others].map(shownExactly);
      return free.length === 0
        ? "It leaves no argument free."
        : `It leaves free: ${free.join(", ")}.`;
    }
  }
}
