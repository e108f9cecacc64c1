import { Link, Outlet } from "@tanstack/react-router";
import { useCallback, useRef, useState } from "react";
import { AuditService } from "@reeve/contracts/audit";
import { signOut } from "../api/session.ts";
import { useAccess } from "../access/use-access.ts";
import type { IconName } from "./icons.tsx";
import { Icon } from "./icons.tsx";
import { KeysHelp } from "./keys-help.tsx";
import { PendingCount } from "./pending-count.tsx";
import { SignedIn } from "../access/signed-in.tsx";
import { applyTheme, currentTheme, nextTheme } from "./theme.ts";
import { useKeys } from "./use-keys.ts";

const screens = [
  { to: "/runs", params: {}, icon: "runs", name: "Runs" },
  { to: "/inbox/{-$approvalId}", params: { approvalId: undefined }, icon: "inbox", name: "Inbox" },
  { to: "/chat/{-$threadId}", params: { threadId: undefined }, icon: "chat", name: "Chat" },
  { to: "/agents/{-$agentId}", params: { agentId: undefined }, icon: "agents", name: "Agents" },
  { to: "/models", params: {}, icon: "models", name: "Models" },
  { to: "/audit", params: {}, icon: "audit", name: "Audit" },
] as const satisfies readonly { to: string; params: object; icon: IconName; name: string }[];

/** The frame of every screen: navigation, keys, theme, and sign-out. */
export function Shell() {
  const help = useRef<HTMLDialogElement>(null);
  const showHelp = useCallback(() => help.current?.showModal(), []);
  useKeys(showHelp);
  const isAuditHidden = useAccess().whyNot(AuditService.method.listAuditEvents) !== undefined;
  return (
    <div className="shell">
      <a className="skip" href="#main">
        Skip to content
      </a>
      <nav className="side" aria-label="Screens">
        <Link to="/runs" className="brand">
          <img src="/favicon.svg" alt="" width="24" height="24" />
          Reeve
        </Link>
        {screens.map(({ to, params, icon, name }, index) =>
          name === "Audit" && isAuditHidden ? null : (
            <Link
              key={to}
              to={to}
              params={params}
              className="nav-item"
              aria-keyshortcuts={String(index + 1)}
            >
              <Icon name={icon} />
              {name}
              {name === "Inbox" && <PendingCount />}
            </Link>
          ),
        )}
        <div className="side-end">
          <SignedIn />
          <Link to="/passkeys" className="nav-item">
            <Icon name="key" />
            Passkeys
          </Link>
          <button type="button" className="nav-item" onClick={showHelp}>
            <span className="key-mark" aria-hidden="true">
              ?
            </span>
            Keys
          </button>
          <ThemeButton />
          <button type="button" className="nav-item" onClick={() => signOut()}>
            <Icon name="out" />
            Sign out
          </button>
        </div>
      </nav>
      <main id="main" className="main" tabIndex={-1}>
        <Outlet />
      </main>
      <KeysHelp dialog={help} />
    </div>
  );
}

function ThemeButton() {
  const [theme, setTheme] = useState(currentTheme);
  const icon = theme === "light" ? "sun" : theme === "dark" ? "moon" : "system";
  const onClick = () => {
    const next = nextTheme(theme);
    applyTheme(next);
    setTheme(next);
  };
  return (
    <button type="button" className="nav-item" onClick={onClick}>
      <Icon name={icon} />
      {`Theme: ${theme}`}
    </button>
  );
}
