/** Makes the keys of a new fleet and the server's configuration for them, in a folder that only the operator can enter. */
import { randomBytes } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { makeSigningKey } from "../../fleet/control/signature.ts";
import { makeNkey } from "../../fleet/nats.ts";
import { accountsConfig } from "../../fleet/permissions.ts";
import type { Member, Role } from "../../fleet/permissions.ts";

export interface MadeKeys {
  readonly folder: string;
  readonly files: readonly string[];
  /** The operator's public key, for `fleet.operators` of every host. */
  readonly operator: string;
}

/** Rejects if one of the files exists: a key is never overwritten. */
export async function makeKeys(
  folder: string,
  hosts: readonly string[],
  gateways: readonly string[],
  operator: string,
  tenant: string,
): Promise<MadeKeys> {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const files: string[] = [];
  const write = (name: string, text: string): void => {
    writeFileSync(join(folder, name), text, { mode: 0o600, flag: "wx" });
    files.push(name);
  };
  const signing = makeSigningKey();
  write("causes.key", `${randomBytes(32).toString("hex")}\n`);
  write(`${operator}.pem`, signing.pem);
  const members: Member[] = [];
  const all: readonly (readonly [string, Role])[] = [
    ...hosts.map((name) => [name, "host"] as const),
    ...gateways.map((name) => [name, "gateway"] as const),
    [operator, "operator"],
  ];
  for (const [name, role] of all) {
    const { seed, nkey } = await makeNkey();
    write(`${name}.nk`, `${seed}\n`);
    members.push({ name, role, nkey });
  }
  write("accounts.conf", accountsConfig({ accounts: { [tenant]: members } }));
  return { folder, files, operator: signing.publicKey };
}
