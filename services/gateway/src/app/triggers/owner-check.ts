import { timestampMs } from "@bufbuild/protobuf/wkt";
import type { Role } from "@reeve/contracts/access/role";
import { RunService } from "@reeve/contracts/run";
import type { TriggerOwner } from "@reeve/contracts/trigger";
import type { Clock } from "@reeve/platform/async/clock";
import type { Credential, Principal } from "@reeve/platform/rpc/principal";
import { permits } from "@reeve/platform/rpc/roles";
import type { OwnerCheck, TriggerPorts } from "./trigger-ports.ts";

/** How long the roles of an owner are trusted that only the owner's next token would change. */
const confirmedMs = 90 * 86_400_000;

/** The principals that the settings of the gateway name. */
export interface PrincipalDirectory {
  /** Returns the credentials that stand for a principal at this moment. */
  find(principal: Principal): readonly Pick<Credential, "roles">[];
}

/**
 * Returns the check of owners of triggers. An owner with a token or a certificate has the roles of then that the settings
 * still give.
 * The gateway cannot ask an identity provider about a person: an owner who signed in has the roles of then for 90 days.
 */
export function ownerChecks(
  directory: PrincipalDirectory,
  clock: Pick<Clock, "now">,
): TriggerPorts["owners"] {
  return {
    check(tenant, owner) {
      if (owner === undefined) return refused("the trigger has no owner");
      const { subject } = owner;
      const principal = { tenant, subject };
      const accepted = (roles: ReadonlySet<Role>): OwnerCheck | undefined =>
        permits(RunService.method.startRun, roles)
          ? { kind: "accepted", credential: { ...principal, roles } }
          : undefined;
      const withoutRole = `the owner ${subject} does not have the role runner anymore`;
      if (owner.credentialKind === "oidc") {
        return isConfirmed(owner, clock.now())
          ? (accepted(new Set(owner.roles)) ?? refused(withoutRole))
          : refused(`the owner ${subject} has not updated or resumed the trigger for 90 days`);
      }
      const found = directory.find(principal);
      if (found.length === 0) return missing(`the owner ${subject} does not exist anymore`);
      const given = new Set(found.flatMap(({ roles }) => [...roles]));
      // Another credential of the same principal may have roles that the one which made it the owner lacks.
      const roles = new Set(owner.roles.filter((role) => given.has(role)));
      return accepted(roles) ?? missing(withoutRole);
    },
  };
}

function isConfirmed({ confirmedAt }: TriggerOwner, nowMs: number): boolean {
  return confirmedAt !== undefined && nowMs - timestampMs(confirmedAt) < confirmedMs;
}

function refused(problem: string): OwnerCheck {
  return { kind: "refused", problem };
}

function missing(problem: string): OwnerCheck {
  return { kind: "missing", problem };
}
