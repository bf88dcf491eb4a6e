/** The steps of an installation on the screen, one line each when it begins. */
import type { InstallStep } from "../../install/install.ts";
import { oneLine } from "../../text/one-line.ts";
import type { Terminal } from "../ui/terminal.ts";

const WORDS: Record<InstallStep["step"], string> = {
  fetch: "fetch",
  verify: "verify",
  unpack: "unpack",
  manifest: "read manifest",
  bundle: "bundle",
  scan: "scan",
  register: "dry run",
  review: "review",
  before_install: "ask install guards",
  activate: "activate",
};
const WIDTH = Math.max(...Object.values(WORDS).map(({ length }) => length));

export function progress({ line, paint }: Terminal): (step: InstallStep) => void {
  return (step) => {
    // Of many packages the first and the last are enough.
    if ("of" in step && step.at > 1 && step.at < step.of) return;
    const what =
      "packages" in step ? `${step.packages} archive${step.packages === 1 ? "" : "s"} against the integrity from the registry` : step.what;
    const count = "of" in step && step.of > 1 ? ` (${step.at} of ${step.of})` : "";
    line(`${paint("cyan", "→")} ${WORDS[step.step].padEnd(WIDTH)}  ${paint("gray", `${oneLine(what, 200)}${count}`)}`);
  };
}
