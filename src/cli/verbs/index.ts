/** The verbs, in the order of the help. */
import type { Verb } from "../verb.ts";
import { approvals } from "./host/approvals.ts";
import { bench } from "./author/bench.ts";
import { call } from "./author/call.ts";
import { check } from "./author/check.ts";
import { consoleVerb } from "./host/console.ts";
import { completion } from "./host/completion.ts";
import { dead } from "./host/dead.ts";
import { demo } from "./author/demo.ts";
import { dev } from "./author/dev.ts";
import { doctor } from "./host/doctor.ts";
import { disable, enable } from "./plugins/enable.ts";
import { explain } from "./host/explain.ts";
import { fleet } from "./host/fleet.ts";
import { help } from "./host/help.ts";
import { hook } from "./host/hook.ts";
import { init } from "./author/init.ts";
import { inspect } from "./plugins/inspect.ts";
import { install } from "./plugins/install.ts";
import { list } from "./plugins/list.ts";
import { metrics } from "./host/metrics.ts";
import { openclaw } from "./openclaw/openclaw.ts";
import { outdated } from "./plugins/outdated.ts";
import { pack } from "./author/pack.ts";
import { permissions } from "./plugins/permissions.ts";
import { profile } from "./author/profile.ts";
import { release } from "./plugins/release.ts";
import { replay } from "./host/replay.ts";
import { rerun } from "./host/rerun.ts";
import { serve } from "./host/serve.ts";
import { sign } from "./plugins/sign.ts";
import { tail } from "./host/tail.ts";
import { top } from "./host/top.ts";
import { uninstall } from "./plugins/uninstall.ts";
import { update } from "./plugins/update.ts";

export const VERBS: readonly Verb[] = [
  demo,
  init,
  dev,
  call,
  check,
  bench,
  profile,
  pack,
  sign,
  install,
  outdated,
  update,
  uninstall,
  enable,
  disable,
  list,
  inspect,
  permissions,
  openclaw,
  explain,
  serve,
  fleet,
  hook,
  tail,
  consoleVerb,
  top,
  metrics,
  dead,
  approvals,
  replay,
  rerun,
  release,
  doctor,
  completion,
  help,
];
