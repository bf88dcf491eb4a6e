/** The verbs, in the order of the help. */
import type { Verb } from "../verb.ts";
import { bench } from "./bench.ts";
import { call } from "./call.ts";
import { check } from "./check.ts";
import { completion } from "./completion.ts";
import { demo } from "./demo.ts";
import { dev } from "./dev.ts";
import { disable } from "./disable.ts";
import { doctor } from "./doctor.ts";
import { enable } from "./enable.ts";
import { explain } from "./explain.ts";
import { init } from "./init.ts";
import { inspect } from "./inspect.ts";
import { install } from "./install.ts";
import { list } from "./list.ts";
import { permissions } from "./permissions.ts";
import { release } from "./release.ts";
import { serve } from "./serve.ts";
import { tail } from "./tail.ts";
import { uninstall } from "./uninstall.ts";
import { update } from "./update.ts";

export const VERBS: readonly Verb[] = [
  demo,
  init,
  dev,
  call,
  check,
  bench,
  install,
  update,
  uninstall,
  enable,
  disable,
  list,
  inspect,
  permissions,
  explain,
  serve,
  tail,
  release,
  doctor,
  completion,
];
