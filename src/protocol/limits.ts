/**
 * The policy numbers, each with its reason. Both sides of the trust line read them; nothing else in the
 * project states a limit. Durations end in `Ms`, sizes in `Bytes`.
 */
export const LIMITS = {
  /** Wall time of one call on an awaited hook whose catalog entry names none: nothing may wait for ever. */
  awaitedWallMs: 15_000,
  /** Wall time of one call on an observe hook: nobody waits for it, so it may take longer. */
  observeWallMs: 30_000,
  /** The gateway's thread is blocked meanwhile: long enough for a busy lane, short enough not to be felt as a hang. */
  syncWallMs: 1_000,
  /**
   * How a caller that blocks waits for the sandbox process: it looks, naps, and looks again. Naps are a share of the time spent so far,
   * so that an answer is found at most that much later; the shortest is about what waking up takes, the longest keeps the looking cheap.
   */
  syncNapShare: 0.06,
  syncNapMs: 0.02,
  syncNapMaxMs: 1,
  /** No operator or author may raise a wall budget past this; OpenClaw's own cap. */
  maxWallMs: 600_000,
  /** CPU time of one call. A hook handler takes microseconds; 100 ms is a thousand times that, and still short for neighbours in the lane. */
  cpuMs: 100,
  /** No operator may raise a CPU budget past this: a turn blocks its lane. */
  maxCpuMs: 5_000,
  /** No author may ask for more CPU time than this without an operator's word: the neighbours in the lane have none in it. */
  maxAuthorCpuMs: 250,
  /**
   * A turn's budget is CPU time, but V8 can only be stopped by a wall clock: it is stopped when so many times its budget, times the
   * number of threads that want each CPU, and this much more, have gone by. So an idle machine stops a loop early, and on a busy one
   * a thread still gets its whole budget. With four busy processes on two cores an innocent turn that builds a text of 1 MB took over 200 ms.
   */
  turnStretch: 1.5,
  turnSlackMs: 100,
  /** A machine more crowded than this is not waited for. */
  maxCrowd: 8,
  /** How often the lanes are looked at from outside while they work, how long they must have been idle to be looked at more rarely, and how rarely. */
  watchMs: 25,
  watchQuietMs: 1_000,
  watchIdleMs: 250,
  /** V8 was told to stop a turn; if the thread has not left the cell this much later, V8 cannot stop it. Ordinary stops take under 5 ms. */
  stopGraceMs: 150,
  /** A thread that was found asleep inside a cell so many times, without having run in between, was parked by V8 for want of memory. */
  parkedLooks: 4,
  /** A turn that lasts this many times what it may is stuck, whatever the kernel says about its thread. */
  stuckFactor: 4,
  /** How often the host looks after a sandbox that has old runs in it, and how many looks without a sign of life make it dead. */
  superviseMs: 50,
  lostBeats: 20,
  /** A process that is to be killed: how long its other lanes may finish what they are at. isolated-vm suspends stuck threads, with whatever lock they hold, 5 s after their timeout. */
  drainLanesMs: 50,
  /** A spare process is started when the sandbox has been up for this long: short-lived hosts do without. */
  spareDelayMs: 1_000,
  /** And the next one when that was needed: after the replacement has had the machine to itself for loading. */
  spareAgainMs: 250,
  /** Top-level code plus `register`: three times a call's, since it happens once. */
  loadCpuMs: 300,
  /** Cells that are made side by side when a fresh lane gets many plugins: the lane's thread makes the isolate of one, two others are filled meanwhile. Four or eight gave nothing more on two cores. */
  cellsAtOnce: 4,
  /** A `register` that awaits something gets this long in all. */
  loadWallMs: 5_000,
  /** Reading a cell's mail: a few string operations of ours, so the clock only guards against a mistake, and against being descheduled. */
  mailMs: 250,
  /** Heap of one cell. V8 itself needs about 1.3 MB of it. */
  heapMb: 32,
  /** Memory of a whole sandbox process, as the kernel counts it. Dozens of cells with full heaps fit; what V8 does not count (ICU, compiled code) does, too. */
  sandboxMb: 1_024,
  /** A run that is not over by then gets a clock of its own; until then one clock per lane is enough. */
  youngRunMs: 20,
  /** How long a lane keeps answers back for the rest of their batch. The host is awake while it waits: it may as well begin (0.05 to 1 ms were tried). */
  flushMs: 0.1,
  /**
   * How long a lane stays awake after it has answered. Waking a thread costs more than most calls, and hooks come in bursts. Less than this is worse than nothing where the
   * kernel has put lane and gateway onto one CPU: it takes so long to notice that another one is idle (calls after a pause took 40 and 90 µs with 0.2 ms, 16 and 25 with 1).
   * Under a stream of calls its event loop, with the timers of plugins, turns once in as long.
   */
  lingerMs: 1,
  /** But only in a burst of so many messages, each of which comes so soon after the one before: until the lane sleeps, a gateway on the same CPU has to wait. */
  burstMs: 1,
  burstMessages: 3,
  /** If that was no use it is left out, twice as often each time, up to so often. */
  lingerSkips: 16,
  /** Whoever finds that so much time has passed between two glances was not on a CPU. */
  awayMs: 0.05,
  /** How late the clocks of a sandbox's threads may ring, so that several ring at once. Node's own timers are no finer. */
  timerSlackMs: 1,
  /** Whoever stays awake looks at its link for so long before everything else gets its turn. */
  lookMs: 0.01,
  /** How long the gateway's event loop stays awake for the answer of a lane that is awake: most take a fiftieth of it, but one that is on the same CPU has to be moved first. */
  vigilMs: 1,
  /** What share of its time the gateway may spend on this in vain, how much at once, and how much more for every answer that it did hear. */
  vigilShare: 0.05,
  vigilCreditMs: 10,
  vigilEarnedMs: 0.005,
  /** Where so many threads want each CPU, whoever stays awake keeps others from waking: calls took 5 to 11 % less without. */
  lingerCrowd: 2,
  /** What a turn left behind after it had answered (a log line of a detached promise) is fetched this much later at the latest. */
  sweepMs: 2,
  /** A turn shorter than this is not worth reading the CPU clock for, and its cell not worth being careful about. */
  quickTurnMs: 1,
  /**
   * Calls of one handler that wait together may share a turn, since entering a cell costs as much as a quick handler takes: so many at most, with so much to read or to answer,
   * and only where so many turns in a row were plain: quick, answered at once, and nothing left behind.
   */
  togetherCalls: 32,
  togetherBytes: 64 * 1024,
  plainTurns: 64,
  /** The lane enforces wall budgets; the host waits this much longer before it concludes that the lane itself is stuck. */
  laneGraceMs: 150,
  /** An event and its context as JSON text. 100 KB of messages is normal, megabytes of them are not. */
  eventBytes: 8 * 1024 * 1024,
  /** A handler's result as JSON text. */
  resultBytes: 1024 * 1024,
  /** One frame on a lane's link: an event plus a context plus a header. A longer one is a broken or hostile peer. */
  frameBytes: 20 * 1024 * 1024,
  /** A plugin's bundle. `compileScript` cannot be interrupted, and a 22 MB source took 3.3 s. */
  bundleBytes: 4 * 1024 * 1024,
  /** Its source map, without the sources: seldom longer than the code. */
  bundleMapBytes: 12 * 1024 * 1024,
  /** The files that a bundle is made of, types and comments and unused packages included. */
  bundleInputBytes: 16 * 1024 * 1024,
  /** One bundle, on a busy machine: the worst 4 MB that were tried, a million small arrays, took 6 s and 0.7 GB. */
  bundleMs: 15_000,
  bundlerMb: 1_024,
  /** A second bundler is started when so many plugins wait, or when the first has been at one of them for so long: starting it takes 0.1 to 0.2 s, a small bundle 4 ms. */
  bundleBacklog: 16,
  bundleSlowMs: 500,
  /** How long a bundler is kept for the next plugin: hosts are opened, and plugins reloaded, in bursts. */
  bundlerIdleMs: 2_000,
  /** One log line of a plugin. */
  logBytes: 4 * 1024,
  /** Log lines of one call; further ones are counted and summed up in one line. */
  logLines: 200,
  /** Log lines of one plugin, per window, whatever wrote them. */
  logLinesPerWindow: 2_000,
  logWindowMs: 10_000,
  /** Questions to the host of one call. A handler that needs more is a loop. */
  hostCalls: 200,
  /** Share of one CPU that a plugin may take over a minute. Heavy traffic reaches this; nothing else does without meaning to. */
  cpuShare: 0.9,
  cpuShareMs: 60_000,
  /** A lane reports what a cell has spent when it has come to this. */
  cpuReportUs: 50_000,
  /** Text of an error that leaves a cell: message and stack. */
  errorMessageChars: 500,
  errorStackChars: 4_000,
  /** Timers one cell may have pending. */
  timers: 1_000,
  /** Calls one cell may have pending; one more fails rather than queues. */
  pendingCalls: 4_096,
  /** Questions to the host (session, fetch) one plugin may have pending, and the size of one and of its answer. */
  pendingAsks: 64,
  /** Questions of one plugin that wait inside its cell until the host takes them: a busy gateway patches thousands of sessions at once. */
  waitingAsks: 4_096,
  askBytes: 256 * 1024,
  /** `crypto.subtle` is answered in the lane, by threads that all cells of a sandbox share: bytes of one question, its text (base64, a key, an algorithm), and questions of one cell that are worked at. */
  subtleBytes: 512 * 1024,
  subtleQuestionChars: 1024 * 1024,
  subtleAtOnce: 2,
  /** Beyond these one question takes seconds of a thread: PBKDF2's rounds, an RSA key's bits, the bits that are derived. */
  subtleIterations: 1_000_000,
  subtleModulusBits: 4_096,
  /** An asymmetric key as text: four times what an RSA key of that size takes. Numbers in it that are longer only serve to keep a thread busy. */
  subtleKeyChars: 16 * 1024,
  subtleDerivedBits: 64 * 1024,
  /**
   * One request of a plugin's, in all: name, connection, redirects and the answer's body. As long as an observer may take, and
   * longer than an awaited handler does.
   */
  fetchMs: 30_000,
  /** Redirects of one request. Browsers follow 20; an API that needs more than a few is a loop. */
  fetchRedirects: 5,
  /** Body of a request: written as JSON it is at worst six times as long, and must fit into a frame. */
  fetchRequestBytes: 1024 * 1024,
  /** Body of an answer, decompressed. It comes in pieces, but most plugins put them together: an eighth of a cell's heap. */
  fetchResponseBytes: 4 * 1024 * 1024,
  /** So much of a body, if it is there within so much time after the head, travels with the head: most answers are one message. */
  fetchInlineBytes: 64 * 1024,
  fetchInlineMs: 20,
  /** The rest travels in pieces of at most this size, which six times as long still fit into a frame. */
  fetchChunkBytes: 256 * 1024,
  /**
   * A piece waits for more to come with it, the longer the more pieces there were: a stream of events is felt as one at first, and
   * one that goes on for as long as a handler may last still takes fewer questions than a call has.
   */
  fetchGatherStepMs: 2,
  fetchGatherMs: 100,
  /** A body, from its head to its end: a model's long answer takes a minute or two. */
  fetchBodyMs: 180_000,
  /** A body that nobody reads holds a connection and a place among the pending requests for so long. */
  fetchIdleMs: 15_000,
  /** How long a connection is kept for the plugin's next request; servers keep theirs for five seconds and more. */
  fetchKeepAliveMs: 4_000,
  /** Shorter secrets are found in innocent answers; longer ones are no header any more. */
  secretChars: 8,
  secretMaxChars: 4_096,
  /** Headers of a request, names and values together: what common servers take. */
  fetchHeaderBytes: 8 * 1024,
  fetchUrlChars: 8 * 1024,
  /** Requests one plugin may have pending: each may hold two bodies in the gateway's memory. */
  pendingFetches: 16,
  /** Requests of one plugin, per window: stops loops through servers that lost their cause, and floods. */
  fetchesPerWindow: 300,
  fetchWindowMs: 60_000,
  /** How many requests' causes are remembered for `host.rejoin`, and for how long. A loop that takes longer than that per round is no flood. */
  causeTokens: 10_000,
  causeTokenMs: 600_000,
  /** Runs whose cause is remembered for work that outlives them (timers, detached promises). */
  rememberedRuns: 10_000,
  /** How many runs may cause each other before the next one is refused. */
  recursionDepth: 8,
  /** Patches of one session by one plugin, per window: catches loops whose cause was lost on the way. */
  patchesPerWindow: 32,
  patchWindowMs: 10_000,
  /** Functions a plugin has handed out and that were not called: an approval may take ten minutes, one that is not asked for is never called. Older ones are forgotten. */
  keptFunctions: 4_096,
  /** A plugin's store: its keys and values together, one of each, and the number of entries as a share of the bytes, since SQLite needs about so many for the smallest. */
  kvBytes: 10 * 1024 * 1024,
  kvKeyBytes: 1_024,
  kvValueBytes: 256 * 1024,
  kvBytesPerEntry: 64,
  /** Keys that are read at once, entries that are listed at once, and the bytes of them that are answered at once: a page is parsed in one turn. */
  kvKeys: 128,
  kvPage: 1_000,
  kvPageUsual: 100,
  kvPageBytes: 1024 * 1024,
  /** Nothing that is to be forgotten some day is to be kept for longer. */
  kvTtlMs: 10 * 365 * 24 * 3_600_000,
  /** How often an update is tried when others change the entry meanwhile. */
  kvTries: 100,
  /** Entries that have run out and are deleted along with every write, and at once where room is needed: 256 take about a millisecond. */
  kvSweep: 8,
  kvSweepMany: 256,
  /** Questions of one plugin to its store, per window: at about 30 µs each they take a twentieth of the gateway's thread. */
  kvOpsPerWindow: 20_000,
  kvWindowMs: 10_000,
  /** How long it is remembered which chain wrote an entry, and of how many entries. A loop that takes longer than that per round is slower than the rate of patches allows for. */
  kvCauseMs: 10_000,
  kvCauses: 1_000,
  /** Jobs that one plugin may have waiting, and what each may carry. */
  jobs: 1_000,
  jobDataBytes: 64 * 1024,
  /** A shorter delay is taken for this one: a job is written to disk twice, and for less there are timers. */
  jobDelayMs: 100,
  jobMaxDelayMs: 10 * 365 * 24 * 3_600_000,
  /** A cron pattern: five fields with lists in them fit. To find that one never comes took 36 ms at first and 5 ms later, hence a rate. */
  cronChars: 128,
  cronsPerWindow: 100,
  /** Questions of one plugin to the schedule, of all kinds; to list a thousand jobs takes a millisecond. */
  schedulesPerWindow: 1_000,
  scheduleWindowMs: 10_000,
  /** Jobs of one plugin that run at a time: after a long night a thousand may be due. */
  jobsAtOnce: 8,
  /** A job that was begun so many times and never ended, because the gateway died each time, is given up. */
  jobAttempts: 5,
  /** How long another process waits for a job that was begun, when it cannot see whether who began it is still there. Longer than any job may take. */
  jobLeaseMs: 660_000,
  /** The longest that the clock of the jobs sleeps: the machine may sleep too, its time be set, and another process write jobs. */
  jobLookMs: 60_000,
  /**
   * How much is written to a store's log before a thread is asked to move it into the file, which waits for the disk: 40 to 170 ms were seen on a busy one.
   * After that the log is begun anew, and there the writer itself waits for the disk, once: so not more often than needed.
   */
  storeLogBytes: 8 * 1024 * 1024,
  /** Pages of a log, 32 MB, at which SQLite does it at once, on the gateway's thread: the other one did not get to it. */
  storeCheckpointPages: 8_192,
  /** How long that thread is kept for the next time: it takes about 10 MB. */
  storeThreadIdleMs: 10_000,
  /** How long work on a store waits for another process's lock, in all and at most between two tries. A transaction of ours takes well under a millisecond. */
  storeBusyMs: 2_000,
  storeRetryMs: 16,
  /** Handlers, tools, commands and the like that one plugin may register. */
  handlers: 512,
  /** What a plugin says about one of its tools or commands: a long manual and a large JSON Schema fit in. */
  declarationChars: 64 * 1024,
  /** Wall time of one call of a tool, a command, a gateway method or a job: an agent waits for it, and it does real work. */
  functionWallMs: 60_000,
  /** How deep the answer of a tool, and what is said about one, may nest: more than any JSON Schema that was seen, far less than a stack holds. */
  functionDepth: 256,
  /** Members of `api` that a plugin looks for in vain, and that are remarked upon. */
  touchedMembers: 96,
  /** What a service of a plugin's gets to end in, when the host closes or the plugin is loaded again. */
  serviceStopMs: 5_000,
  /** A plugin's own files, as far as its cell gets them: the largest are left out. They are on its heap, and are sent with its code in one frame. */
  packageBytes: 4 * 1024 * 1024,
  packageFiles: 2_000,
  /** As they are sent: a third longer at most, and the names of all that were found. */
  packageSentChars: 8 * 1024 * 1024,
  /** Files that are looked at to find these, and how deep. */
  packageLooks: 20_000,
  packageDepth: 32,
  /** A plugin's volume: usual, and at most. All of it is on its cell's heap, and crosses in one frame, a third longer. */
  volumeBytes: 4 * 1024 * 1024,
  volumeMaxBytes: 8 * 1024 * 1024,
  /** Files and folders of a volume; the characters of all their paths, of one path and one name, and how deep: what a frame can hold, and what Linux allows. */
  volumeFiles: 10_000,
  volumePathsChars: 1024 * 1024,
  volumePathChars: 512,
  volumeNameBytes: 255,
  volumeDepth: 32,
  /** Changes in one message: so many take about 10 ms of the gateway's thread. */
  volumeChanges: 256,
  /** What a volume may be made to write down per window, a change counting as so many bytes at least. At 30 µs each, changes then take a twentieth of the gateway's thread. */
  volumeChangeBytes: 4_096,
  volumeWriteBytes: 64 * 1024 * 1024,
  volumeWindowMs: 10_000,
  /** Pieces that a file's content may be kept in before it is made one again: every append is a piece. */
  volumePieces: 256,
  /** Scratch space of a cell: on its heap, and gone with it. */
  tmpBytes: 1024 * 1024,
  tmpFiles: 1_000,
  /** Installed plugins, and `creel.lock`: a few kilobytes each. */
  installedPlugins: 1_000,
  lockBytes: 16 * 1024 * 1024,
  /** What is kept of one installed plugin: bundle, map, its own files, and its package as it was fetched. */
  storedFiles: 20_000,
  storedBytes: 256 * 1024 * 1024,
  /** Of installed plugins: files up to this size are read at once, and for how long that may go on before the event loop turns. */
  readAtOnceBytes: 256 * 1024,
  readingMs: 8,
  /** How long a change of the state folder waits for another process's, in all and at most between two tries. One takes about 50 ms. */
  stateBusyMs: 15_000,
  stateRetryMs: 25,
  /** What no plugin refers to any more is kept for this long: somebody may have read the lock just before, and read the files now. */
  retiredMs: 600_000,
  /** How often an edit of `creel.json` is tried again because somebody else wrote it meanwhile. */
  configTries: 10,
  /**
   * The audit log: all its files together, unless the operator says otherwise; weeks of blocked calls. A quarter of it is for what happened to plugins and
   * what they used, so that nobody gets that out of the log by failing often. Each part is so many files: the oldest is what is given up at once.
   */
  auditBytes: 32 * 1024 * 1024,
  auditMinBytes: 256 * 1024,
  auditFiles: 4,
  /** Of one event, context or result; of all in one line; and of one text such as a reason. */
  auditValueChars: 4_096,
  auditLineChars: 64 * 1024,
  auditTextChars: 500,
  auditCalls: 256,
  /** Longer than this together, event and answers are not gone through again to find out what each handler saw: that takes the gateway's thread 5 ms. */
  auditReplayChars: 256 * 1024,
  /** What waits to be written: so many lines, of runs with so many characters. It is written this often, and no longer at a time. */
  auditQueue: 1_000,
  auditQueueChars: 16 * 1024 * 1024,
  auditFlushMs: 250,
  auditSliceMs: 4,
  /** Of the same hook, plugin and decision so many runs per window: a plugin that fails on every call must not push out what others did. */
  auditRunsPerWindow: 50,
  auditWindowMs: 10_000,
  /** How often what plugins have used is written, if it has changed; the first time sooner, then twice as late each time. */
  auditUsageMs: 60_000,
  auditFirstUsageMs: 2_000,
  /** Origins and methods of one plugin's requests that are told apart. */
  auditRequests: 64,
  auditPathChars: 200,
  /** Length of a plugin's id and of a hook's name. */
  nameChars: 128,
  /** How long `close` waits for runs in flight before it ends them. */
  drainMs: 5_000,
  /** A new sandbox (process or thread) must say it is ready within this; about 0.1 s is normal. */
  sandboxStartMs: 10_000,
  /** How long a thread may take to dispose of its cells before it is terminated. */
  threadEndMs: 1_000,
  /** A sandbox that dies is started again at once; from this many deaths in a minute on with a delay, which doubles up to the maximum. */
  restartsPerMinute: 10,
  restartBackoffMs: 50,
  restartBackoffMaxMs: 5_000,
  /**
   * The breaker (host/circuit.ts). A call that failed is a point, and a good one takes it back: a plugin that fails now and then is left
   * alone. What cost a cell or a whole budget counts more, and three of those are no accident; what cost a lane or the process is
   * enough by itself, because its neighbours paid too.
   */
  strikePoints: { failed: 1, timeout: 5, cpu: 5, memory: 5, crashed: 5, killed: 15 },
  breakerPoints: 15,
  /** Points older than this do not count. */
  breakerWindowMs: 60_000,
  /** How long a breaker stays open: long enough for a passing cause to pass, then doubling up to the maximum, so that an outage of hours costs few calls. */
  breakerOpenMs: 30_000,
  breakerMaxOpenMs: 600_000,
  /** So many openings, or so many sandboxes taken down, within this time: it will not mend by itself. VS Code stops at three crashes in five minutes. */
  breakerOpens: 3,
  breakerKills: 3,
  breakerMemoryMs: 600_000,
  /** Sandboxes a plugin may take down by being loaded, ever: once may be an accident, and nobody asked for a third time. */
  breakerLoadKills: 2,
  /**
   * A package's archive, as it is fetched and as it unpacks. Plugins of hooks take kilobytes; the largest that bundle their dependencies take some 10 MB.
   * Folders count as entries, since each is one more thing on the disk.
   */
  archiveBytes: 32 * 1024 * 1024,
  archiveUnpackedBytes: 128 * 1024 * 1024,
  archiveEntries: 5_000,
  archiveDepth: 32,
  archivePathBytes: 1_024,
  /** What every common file system allows. */
  archiveNameBytes: 255,
  /** How many times larger it may become. Text becomes 4 to 10 times larger, many tiny files 70 times, a bomb 1,000 times. Small ones are not judged: nothing comes of them. */
  archiveRatio: 200,
  archiveRatioFromBytes: 4 * 1024 * 1024,
  /** A header that extends the next one: a path and a few numbers. */
  archiveHeaderBytes: 64 * 1024,
  archiveMs: 60_000,
  /** package.json and a plugin's manifest. A large JSON Schema of its configuration fits in, and is nested about half as deep. */
  manifestBytes: 256 * 1024,
  manifestDepth: 64,
  /** How long a plugin that is to be installed is watched after it has registered: what it began goes on for a moment. */
  rehearsalMs: 250,
  /** Lines and refusals of it that are kept meanwhile. */
  rehearsalFacts: 1_000,
  /** `creel serve`. A frame holds the largest event and what JSON adds to it. */
  serveFrameBytes: 16 * 1024 * 1024,
  /** Gateways and tails of one machine: a handful. */
  serveConnections: 64,
  /** Requests of one connection that wait for an answer. */
  servePending: 1_000,
  serveSubscriptions: 32,
  /** What waits for a reader that does not read; past this it is hung up on. Two of the largest frames. */
  serveBufferBytes: 32 * 1024 * 1024,
  /** A stranger must say who it is within this; either side must answer a hello. */
  serveHelloMs: 5_000,
  /** News about plugins are sent together. */
  serveStateMs: 10,
  /** Approval requests: OpenClaw's default and cap. */
  approvalMs: 120_000,
  maxApprovalMs: 600_000,
} as const;

/** How long V8 lets a turn last that may take so much CPU time, where so many threads want each CPU. */
export function turnMs(cpuMs: number, crowd: number = LIMITS.maxCrowd): number {
  return Math.ceil(cpuMs * LIMITS.turnStretch * crowd) + LIMITS.turnSlackMs;
}
