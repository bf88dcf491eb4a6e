/**
 * The policy numbers, each with its reason. Both sides of the trust line read them; nothing else in the
 * project states a limit. Durations end in `Ms`, sizes in `Bytes`.
 */
export const LIMITS = {
  /** A call, and what goes in and out of it. */
  call: {
    /** Wall time of one call on an awaited hook whose catalog entry names none: no call may wait for ever. */
    awaitedWallMs: 15_000,
    /** Wall time of one call on an observe hook. The gateway does not wait for it, so it may take longer. */
    observeWallMs: 30_000,
    /** The highest wall budget that an operator or author can set. It is OpenClaw's own cap. */
    maxWallMs: 600_000,
    /**
     * CPU time of one call. A hook handler takes microseconds. 100 ms is a thousand times that, and still short for
     * other plugins in the lane.
     */
    cpuMs: 100,
    /** The highest CPU budget that an operator can set: a turn blocks its lane. */
    maxCpuMs: 5_000,
    /**
     * The highest CPU budget that an author can set without the operator: the lane's other plugins did not agree to it.
     */
    maxAuthorCpuMs: 250,
    /**
     * A turn's budget is CPU time. Where Creel cannot read a thread's CPU clock, V8 can only be stopped by a wall clock: after this
     * many times the budget, times the number of threads that want each CPU, plus this much. So an idle machine stops a loop
     * early, and on a busy one a thread still gets its whole budget. With four busy processes on two cores an innocent turn
     * that builds a text of 1 MB took over 200 ms.
     */
    turnStretch: 1.5,
    turnSlackMs: 100,
    /** The highest number of threads per CPU that is taken into account. */
    maxCpuPressure: 8,
    /**
     * The same for a turn whose CPU time is watched from outside (stall-detector.ts, stopper.ts): its wall clock only matters if
     * nobody stops it. At 27 busy threads on two cores a turn got 88 ms of CPU time in 1.3 s.
     */
    backstopPressure: 32,
    /**
     * V8 was told to stop a turn. If the thread stays in the cell for this much more CPU time, V8 cannot stop it. CPU
     * time, not wall time: leaving a cell takes under 5 ms of it, but isolated-vm's clock holds a lock in a busy loop
     * meanwhile, and with eight processes on two cores a stop was seen to take 1.6 s.
     */
    stopCpuMs: 150,
    /** Top-level code plus `register`: three times a call's budget, since it happens once. */
    loadCpuMs: 300,
    /** The total wall time of a `register` that awaits something. */
    loadWallMs: 5_000,
    /**
     * Reading a cell's mail takes a few string operations of the bootstrap. The clock only guards against a bug, and
     * against being descheduled.
     */
    mailMs: 250,
    /** Heap of one cell. V8 itself needs about 1.3 MB of it. */
    heapMb: 32,
    /** A run that is not over by then gets a clock of its own. Until then one clock per lane is enough. */
    youngRunMs: 20,
    /** An event and its context as JSON text. 100 KB of messages are normal, megabytes are not. */
    eventBytes: 8 * 1024 * 1024,
    /** A handler's result as JSON text. */
    resultBytes: 1024 * 1024,
    /**
     * Bounds of a result's text, checked before it is parsed: how deep it nests (JSON.stringify overflows its stack at
     * some thousands), and how many values it has. The gateway needs about 50 ms to check and merge 20,000 keys; a
     * million took ten seconds.
     */
    resultDepth: 1_000,
    resultValues: 20_000,
    /**
     * The results of one plugin in one run, in total, as a multiple of what one of its results may take. A plugin may
     * register hundreds of handlers; without this they could make an event so long that the next plugin, which reads
     * it, runs out of CPU time and is blamed for it.
     */
    resultsOfRun: 2,
    /** An error as it leaves a cell: message and stack, however they are escaped. */
    errorBytes: 64 * 1024,
    /** Requests to the host of one call. A handler that needs more is a loop. */
    hostCalls: 200,
    /** Text of an error that leaves a cell: message and stack. */
    errorMessageChars: 500,
    errorStackChars: 4_000,
    /** Timers one cell may have pending. */
    timers: 1_000,
    /** Calls that one cell may have pending. One more fails instead of waiting. */
    pendingCalls: 4_096,
    /** Length of a plugin's id and of a hook's name. */
    nameChars: 128,
  },
  /** `runSync`: the gateway's thread blocks meanwhile. */
  sync: {
    /** The gateway's thread is blocked meanwhile: long enough for a busy lane, short enough not to feel like a hang. */
    wallMs: 1_000,
    /**
     * A synchronous run whose lane is inside another plugin's turn also waits for that turn, for at most this much
     * longer: a guard must not be skipped because another plugin is slow. The longest turn within the default budget
     * takes 0.25 s, on a busy machine 1.3 s.
     */
    neighbourMs: 1_300,
    /**
     * How a blocking caller waits for the sandbox process: it polls, sleeps, and polls again. Each sleep is a share of
     * the time waited so far, so that a response is found at most that much later. The shortest is about the cost of
     * waking up; the longest keeps polling cheap.
     */
    napShare: 0.06,
    napMs: 0.02,
    napMaxMs: 1,
  },
  /** Supervising sandbox processes and lanes. */
  sandbox: {
    /**
     * How often the lanes are checked from outside while one is inside a turn, and while turns are short. After a quiet time
     * the first turn wakes the one who checks; what is left for the last number is how busy the machine is.
     */
    watchMs: 25,
    watchActiveMs: 50,
    watchQuietMs: 1_000,
    watchIdleMs: 1_000,
    /** How often the host reads the memory of a sandbox process that has no old run in it. */
    memoryMs: 250,
    /**
     * A thread that was found asleep inside a cell this many times, without any CPU time in between, was parked by V8
     * for lack of memory.
     */
    parkedLooks: 8,
    /** If the kernel does not report a thread's CPU time: a turn that takes this many times its budget is stuck. */
    stuckFactor: 4,
    /**
     * A thread that got no CPU for this long inside a turn: the machine is overloaded, or the sandbox lies. It is
     * replaced, and no plugin is blamed.
     */
    starvedMs: 15_000,
    /**
     * How often the host checks a sandbox that has old runs in it, and after how many checks without a sign of life it
     * counts as dead.
     */
    superviseMs: 50,
    lostBeats: 20,
    /**
     * Before a process is killed: how long its other lanes may finish their work. isolated-vm suspends stuck threads,
     * with any lock they hold, 5 s after their timeout.
     */
    drainLanesMs: 50,
    /** A spare process is started when the sandbox has been up for this long and a plugin is loaded. Short-lived hosts do without. */
    spareDelayMs: 1_000,
    /** The delay of the next spare once one was used: the replacement first has the machine to itself for loading. */
    spareAgainMs: 250,
    /**
     * Cells that are made side by side when a fresh lane gets many plugins: the lane's thread makes the isolate of one
     * while two others are filled. Four or eight gave nothing more on two cores.
     */
    cellsAtOnce: 4,
    /**
     * Memory of a whole sandbox process, as the kernel counts it. Dozens of cells with full heaps fit, with memory that
     * V8 does not count (ICU, compiled code).
     */
    memoryMb: 1_024,
    /** From this share of it on, lanes measure how much each cell takes, which costs a turn about 20 µs. */
    tightMemory: 0.5,
    /**
     * A cell is blamed for a process that grew too large if it took this share of the growth since then, and this many
     * times as much as any other cell.
     */
    growthShare: 0.5,
    growthLead: 2,
    /**
     * The lane enforces wall budgets. The host waits this much longer before it concludes that the lane itself is
     * stuck.
     */
    laneGraceMs: 150,
    /** How much the sandbox process may write to stderr. Only the end of it is kept. */
    stderrBytes: 1024 * 1024,
    /** When a link ended with its process: how long to wait for the process's exit, which says more. */
    linkEndMs: 250,
    /** How long a process that is gone has to tell its exit: on a busy machine each wrapper around it waits for a CPU first. */
    exitMs: 2_000,
    /** How long `close` waits for running runs before it ends them. */
    drainMs: 5_000,
    /** A new sandbox (process or thread) must report that it is ready within this time. About 0.1 s is normal. */
    startMs: 10_000,
    /** How long a thread may take to dispose of its cells before it is terminated. */
    threadEndMs: 1_000,
    /**
     * A sandbox that dies is restarted at once. From this many deaths in a minute on, a restart is delayed; the delay
     * doubles up to the maximum.
     */
    restartsPerMinute: 10,
    restartBackoffMs: 50,
    restartBackoffMaxMs: 5_000,
    /**
     * How late the timers of a sandbox's threads may fire, so that one wake-up serves several. Node's own timers are no
     * finer.
     */
    timerSlackMs: 1,
  },
  /** A lane's loop, and its cells' shares of it. */
  lane: {
    /**
     * How long a lane holds back answers for the rest that came with them. The host is awake while it waits and may as well
     * begin (0.05 to 1 ms were tried).
     */
    flushMs: 0.1,
    /**
     * Due timers and responses to plugins' requests: how long a lane serves them before it returns to its event loop,
     * which brings calls. A turn that takes longer ends that. One round of the event loop takes about 5 µs, a short
     * turn 10. No turn counts as less than the second number, so that a cell with many short turns gives way, too.
     */
    queueSliceMs: 0.25,
    queueTurnMs: 0.01,
    /**
     * What a turn left behind after it had answered (a log line of a detached promise) is fetched at most this much
     * later.
     */
    sweepMs: 2,
    /**
     * After so many characters that came out of cells, the lane frees those that are no longer used: in 1 to 2 ms, or
     * in about 10 if so many bytes stay that they must have grown old.
     */
    copiedChars: 32 * 1024 * 1024,
    externalBytes: 128 * 1024 * 1024,
    /** A turn shorter than this is not worth reading the CPU clock for. */
    quickTurnMs: 1,
    /**
     * Calls that travel to a lane together, while the gateway makes more, and calls that waited for a plugin to load and are made
     * before the lane reads its links again.
     */
    callsAtOnce: 32,
    /**
     * Requests of one cell, of all kinds, per second: more than any service answers. Beyond it the lane refuses them.
     */
    requestsPerSecond: 5_000,
    /** A lane reports a cell's CPU time whenever it has grown by this much. */
    cpuReportUs: 50_000,
    /**
     * After a turn that took long (the plugin, or a busy machine?) the CPU clock is read for this many turns. Reading
     * it for all turns would cost more than a short turn.
     */
    waryTurns: 64,
    /** Mail longer than this takes the lane a measurable time to read. The time is measured and charged to the cell. */
    mailMeasuredChars: 16 * 1024,
    /**
     * Results that one hop brings back, except for the last one: more is read by the gateway in several turns of its
     * event loop. Reading so many characters takes it up to 10 ms.
     */
    hopResultChars: 64 * 1024,
    /**
     * Share of its lane's time that a plugin may hold over a few seconds while others live there: in turns of a
     * millisecond or more, and in turns that no call waits for. Beyond it, the plugin moves to the slow lane, without a
     * strike: it broke no budget, but other plugins wait for it. A quarter allows calls of 5 ms, fifty times a second.
     * Three seconds are eight of the longest turns, and longer than a start-up.
     */
    share: 0.25,
    shareMs: 3_000,
    /**
     * The same for all plugins of a lane in total. Beyond it the plugin that holds the most is moved; otherwise many
     * could share what one may not take.
     */
    sharesTogether: 0.5,
    /**
     * A plugin that takes more than its share of the slow lane without being called: so long it does nothing but answer calls, as long as an open
     * breaker would keep it from everything. The time doubles up to the maximum each time.
     */
    restMs: 30_000,
    maxRestMs: 600_000,
  },
  /** Polling a link for a moment instead of blocking on it. */
  poll: {
    /**
     * How long a side polls while nothing comes. Much less is worse than nothing if the kernel has put lane and gateway
     * on one CPU, because it takes about as long to move one of them (calls after a pause took 40 and 90 µs with 0.2
     * ms, 16 and 25 µs with 1 ms). Under a stream of calls a lane returns to its event loop, which runs the plugins'
     * timers, once per this time.
     */
    idleMs: 1,
    /** Share of its time that a side may spend polling in vain. */
    wastedShare: 0.05,
    /**
     * If this many threads want each CPU, a polling thread keeps others from running: calls took 5 to 11 % less time
     * without polling.
     */
    cpuPressure: 2,
  },
  /** What travels between host and lane. */
  frames: {
    /**
     * One frame on a lane's link: an event, a context and a header. A longer one comes from a broken or hostile peer.
     */
    bytes: 20 * 1024 * 1024,
    /**
     * One frame that a lane sends: the longest text that a plugin may leave (a result, an argument: eventBytes), and
     * earlier results that were not sent yet.
     */
    laneBytes: 12 * 1024 * 1024,
    /**
     * The answers to one run in a lane, in characters: the host keeps them until the last one is there. Where plugins of
     * several cells answer, eventBytes and resultBytes for each of them.
     */
    answersChars: 16 * 1024 * 1024,
    /** One frame of the sandbox process's main thread: a few numbers, or a last message. */
    controlBytes: 16 * 1024,
    /** The header of a message from a lane: a few numbers. Of a reply: five numbers for each handler. */
    headerChars: 4 * 1024,
    replyHeadChars: 256 * 1024,
    /**
     * A frame that comes in more pieces than this, plus one for every 256 bytes, is meant to keep the reader busy. The
     * kernel passes on some kilobytes at a time.
     */
    pieces: 1_024,
    pieceBytes: 256,
    /**
     * Unsolicited messages of a lane (log lines, requests to the host) per time slice, where 16 KB count as one
     * message. Beyond that the host stops reading until the slice is over, so the lane waits. And after this much of
     * the gateway's time in a row, other work runs for as long as that took.
     */
    intakeSliceMs: 20,
    intakeMessages: 512,
    intakeMs: 10,
    /**
     * Unread data in a lane's socket beyond which the host sends no more runs and reads no more requests: a few of the
     * largest events.
     */
    unreadBytes: 16 * 1024 * 1024,
    /**
     * Messages of the sandbox process's main thread between two checks of the watchdog. Each lane sends ten; a busy
     * gateway finds more.
     */
    controlMessages: 2_000,
  },
  /** A plugin that is inspected with a debugger, and profiles. */
  inspect: {
    /** isolated-vm may miss a message while an isolate is about to pause; a message without effect wakes it up. */
    wakeMs: 25,
    /** One message from an inspected cell. It fits into a frame of a lane; heap snapshots come in pieces. */
    messageBytes: 8 * 1024 * 1024,
    /** One message of a debugger: its own expressions and breakpoints. */
    clientBytes: 16 * 1024 * 1024,
    /** The author's sources that a debugger gets with the source map: one file, and all together. */
    sourceBytes: 2 * 1024 * 1024,
    sourcesBytes: 16 * 1024 * 1024,
    /** The port that debuggers try first: Node's own. */
    port: 9_229,
    /** After a reload Chrome DevTools sets its breakpoints anew, within 0.1 s even on a busy machine. */
    settleMs: 1_000,
    /** V8's default; finer samples slow the plugin down. */
    samplingUs: 500,
    /** A profile of a call that does not end. A second has hundreds of samples of the line that matters, also on a busy machine. */
    profileMs: 1_500,
    /** A turn that a profile has to end. Past that, its process is ended instead. */
    terminateMs: 3_000,
    /** Functions, by the way they were reached. A profile is read as a whole. */
    profileNodes: 50_000,
    /** A heap snapshot: as long as a string of the gateway's may be without harm. */
    snapshotBytes: 256 * 1024 * 1024,
    /** An incident file: a run, its event and a profile. */
    incidentChars: 64 * 1024 * 1024,
    /** The heap of a plugin whose memory is profiled: a snapshot needs room beside what it shows. */
    heapMb: 512,
    /** A run that ran out of memory is stopped here when it is made again: a snapshot of a full heap takes a minute, and shows no more. */
    grownMb: 16,
    /** How often the heap of such a plugin is looked at. */
    heapPollMs: 20,
  },
  /** Bundling a plugin. */
  bundler: {
    /**
     * A plugin's bundle. `compileScript` cannot be interrupted, and a 22 MB source took 3.3 s. Packages with tables in
     * them, such as js-tiktoken, make 5.6 MB.
     */
    bundleBytes: 8 * 1024 * 1024,
    /** Its source map, without the sources. It is rarely longer than the code. */
    mapBytes: 16 * 1024 * 1024,
    /**
     * The mappings of a source map, read at a plugin's first error at about 15 ms per MB. Without them, positions are
     * those of the bundle.
     */
    sourceMapChars: 4 * 1024 * 1024,
    /** The files that a bundle is made from, with types, comments and unused packages. */
    inputBytes: 64 * 1024 * 1024,
    /**
     * Time and memory of one bundle on a busy machine. The worst 4 MB that were tried, a million small arrays, took 6 s
     * and 0.7 GB; a public plugin for a chat service, with the SDK of that service, takes 1.4 GB.
     */
    wallMs: 30_000,
    memoryMb: 2_048,
    /**
     * A second bundler is started when this many plugins wait, or when the first has worked on one of them for this
     * long. Starting it takes 0.1 to 0.2 s, a small bundle 4 ms.
     */
    backlog: 16,
    slowMs: 500,
    /** How long a bundler is kept for the next plugin: hosts open, and plugins reload, in bursts. */
    idleMs: 2_000,
  },
  /** A plugin's log lines. */
  log: {
    /** One log line of a plugin. */
    bytes: 4 * 1024,
    /** Log lines of one call. Further ones are counted and summarised in one line. */
    lines: 200,
    /** Log lines of one plugin per window, from all sources. */
    linesPerWindow: 2_000,
    windowMs: 10_000,
    /** A failing store is reported once per this time: a full disk fails every request. */
    failureMs: 60_000,
  },
  /** Breakers, circuits and quarantine. */
  blame: {
    /** Share of one CPU that a plugin may take over a minute. Only heavy traffic reaches it without intent. */
    cpuShare: 0.9,
    cpuShareMs: 60_000,
    /**
     * The breaker (host/blame/circuit.ts). A failed call is a point, and a good one takes it back, so that a plugin
     * with occasional failures is left alone. A failure that cost a cell or a whole budget counts more; three of those
     * are no accident. One that cost a lane or the process is enough by itself, because other plugins paid, too.
     */
    strikePoints: { failed: 1, timeout: 5, cpu: 5, memory: 5, crashed: 5, killed: 15 },
    breakerPoints: 15,
    /** Points older than this do not count. */
    breakerWindowMs: 60_000,
    /**
     * How long a breaker stays open: long enough for a passing cause to pass. The time doubles up to the maximum, so
     * that an outage of hours costs few calls.
     */
    breakerOpenMs: 30_000,
    breakerMaxOpenMs: 600_000,
    /**
     * After this many openings, or this many sandboxes taken down, within this time, the plugin will not recover by
     * itself. VS Code stops at three crashes in five minutes.
     */
    breakerOpens: 3,
    breakerKills: 3,
    breakerMemoryMs: 600_000,
    /** Sandboxes that a plugin may take down by being loaded, ever: once may be an accident, three times are not. */
    breakerLoadKills: 2,
  },
  /** A plugin's requests to the host. */
  requests: {
    /**
     * Requests to the host (session, fetch) that one plugin may have pending, and the size of one and of its response.
     */
    pending: 64,
    /**
     * Requests of one plugin that wait inside its cell until the host takes them: a busy gateway patches thousands of
     * sessions at once.
     */
    waiting: 4_096,
    bytes: 256 * 1024,
    /**
     * Values in the argument of one request, and how deep they nest: more than any of our APIs needs. Every value costs
     * the gateway an object and a check.
     */
    values: 20_000,
    depth: 64,
  },
  /** The gateway's own time that one plugin may take. */
  gateway: {
    /**
     * Milliseconds of the gateway's thread per second that the requests of one plugin may take: a twentieth of it.
     * After a rest two seconds' worth are free: a thousand requests of a burst of calls. But only this much in a row: a
     * page of a store takes about 4 ms, and 10 ms do not feel like a stall.
     */
    msPerSecond: 50,
    burstMs: 100,
    sprintMs: 10,
    /**
     * After the burst requests wait, for at most this long and with this much text in total: an awaited handler has 15
     * s in all.
     */
    waitMs: 10_000,
    queueChars: 16 * 1024 * 1024,
    /**
     * The assumed rate at which text travels between gateway and lane (6 MB of a request took 30 ms of CPU time). Short
     * texts are not counted.
     */
    charsPerMs: 256 * 1024,
    freeChars: 4 * 1024,
    /** Results longer than this are measured, too. Beyond this level, five seconds' worth, they are refused unread. */
    resultChars: 16 * 1024,
    debtMs: 250,
    /**
     * How often a run comes back to one lane for results that only the host can judge, before its plugin pays for
     * writing and sending the event again.
     */
    freeHops: 8,
  },
  /** `crypto.subtle`. */
  subtle: {
    /**
     * `crypto.subtle` is answered in the lane, by threads that all cells of a sandbox share: bytes of one request, its
     * text (base64, a key, an algorithm), and concurrent requests of one cell.
     */
    bytes: 512 * 1024,
    requestChars: 1024 * 1024,
    atOnce: 2,
    /**
     * Beyond these one request takes seconds of a thread: PBKDF2's rounds, an RSA key's bits, the derived bits. PBKDF2
     * does all its rounds for every block of the hash's length: 512 bits with 600,000 rounds of SHA-256, as OWASP
     * recommends, take half a second. From the last number on it counts as long work.
     */
    iterations: 1_000_000,
    rounds: 1_200_000,
    quickRounds: 10_000,
    modulusBits: 4_096,
    /**
     * An asymmetric key as text: four times what an RSA key of that size takes. Longer numbers in it only serve to keep
     * a thread busy.
     */
    keyChars: 16 * 1024,
    derivedBits: 64 * 1024,
  },
  /** `fetch`. */
  fetch: {
    /**
     * The total time of one HTTP request: name, connection, redirects and body. As long as an observer may take, and
     * longer than an awaited handler.
     */
    wallMs: 30_000,
    /**
     * How often, and for how long at first, a silent name server is tried before the name does not resolve. Well under
     * a request's time.
     */
    lookUpMs: 2_000,
    lookUpTries: 2,
    /** Concurrent name lookups of one plugin. Most plugins have one or two origins. */
    lookUps: 8,
    /**
     * DNS answers are kept as long as they say, but no longer than this; failures for as long as a retry by hand takes.
     * Bounds of the cache: names, and addresses of each.
     */
    lookUpKeptMs: 10_000,
    lookUpFailedMs: 1_000,
    lookUpsKept: 256,
    lookUpAddresses: 16,
    /** Of the hosts file, which is read on the gateway's thread: a thousand lines. */
    hostsFileBytes: 64 * 1024,
    /** Redirects of one request. Browsers follow 20; an API that needs more than a few is a loop. */
    redirects: 5,
    /** Body of a request. As JSON it is at worst six times as long and must fit into a frame. */
    requestBytes: 1024 * 1024,
    /** A cell with a longer body first asks whether the target is granted. */
    askChars: 32 * 1024,
    /**
     * Body of a response, decompressed. It comes in pieces, but most plugins collect them: an eighth of a cell's heap.
     */
    responseBytes: 4 * 1024 * 1024,
    /**
     * This much of a body travels with the head if it arrives within this time after it: most responses are one
     * message.
     */
    inlineBytes: 64 * 1024,
    inlineMs: 20,
    /** The rest travels in pieces of at most this size, which fit into a frame even six times as long. */
    chunkBytes: 256 * 1024,
    /**
     * A piece waits for more data to join it, longer the more pieces there were. So a stream of events feels immediate
     * at first, and one that lasts as long as a handler may still needs fewer requests than a call has.
     */
    gatherStepMs: 2,
    gatherMs: 100,
    /** A body, from its head to its end: a model's long answer takes a minute or two. */
    bodyMs: 180_000,
    /** How long an unread body holds a connection and a place among the pending requests. */
    idleMs: 15_000,
    /** How long a connection is kept for the plugin's next request. Servers keep theirs for five seconds and more. */
    keepAliveMs: 4_000,
    /** Headers of a request, names and values in total: what common servers accept. */
    headerBytes: 8 * 1024,
    urlChars: 8 * 1024,
    /** Pending requests of one plugin: each may hold two bodies in the gateway's memory. */
    pending: 16,
    /** Requests of one plugin per window: stops loops through servers that lose the cause, and floods. */
    perWindow: 300,
    windowMs: 60_000,
  },
  /** `net` and `tls`: connections to granted hosts and ports. */
  connect: {
    /** Name, connection and TLS handshake. A client of a database waits ten seconds or less. */
    openMs: 10_000,
    /** Without a byte in either direction. Clients that keep a connection send something more often. */
    idleMs: 300_000,
    /** How long bytes of the plugin may wait for a server that does not read. */
    stallMs: 30_000,
    /** From its beginning to its end. Clients that want one for longer connect again. */
    lifeMs: 3_600_000,
    /** Open connections of one plugin: a usual pool has ten. Each holds a socket and about 64 KB in the gateway. */
    open: 16,
    /** Connections that one plugin may open per window: a client that cannot log in tries again for ever. */
    perWindow: 120,
    windowMs: 60_000,
    /**
     * Bytes of one plugin per window, of all its connections in both directions: what its share of the gateway's
     * time allows in the same time, four times over, so that it is a bound for a fast machine.
     */
    bytesPerWindow: 256 * 1024 * 1024,
    /** One piece for the plugin, which fits into a frame even six times as long. */
    readBytes: 128 * 1024,
    /** One write. As JSON it is at worst six times as long. */
    writeBytes: 64 * 1024,
    writeChars: 512 * 1024,
    /** So many pieces come at once; then a piece waits for more to join it, longer the more there were. */
    quickReads: 16,
    gatherStepMs: 1,
    gatherMs: 50,
  },
  /** Named secrets. */
  secrets: {
    /** Shorter secrets would be found in innocent responses; longer ones do not fit a header. */
    minChars: 8,
    maxChars: 4_096,
  },
  /** Causal chains and the recursion guard. */
  causality: {
    /**
     * How many requests' causes are remembered for `host.rejoin`, and for how long. A loop with longer rounds is no
     * flood.
     */
    causeTokens: 10_000,
    causeTokenMs: 600_000,
    /** A chain as a token that other hosts can read, and the longest token: it travels as a header, and servers take 8 KB of them. */
    sealedBytes: 2_048,
    tokenChars: 4_096,
    /** Runs whose cause is remembered for work that outlives them (timers, detached promises). */
    rememberedRuns: 10_000,
    /** How many runs may cause each other before the next one is refused. */
    recursionDepth: 8,
    /** Patches of one session by one plugin per window: catches loops whose cause was lost. */
    patchesPerWindow: 32,
    patchWindowMs: 10_000,
    /**
     * Functions that a plugin handed out and the host did not call yet. An approval may take ten minutes; one that the
     * user is never shown is never called. Older functions are dropped.
     */
    keptFunctions: 4_096,
  },
  /** `api.kv`. */
  kv: {
    /**
     * A plugin's store: all keys and values, one of each, and the number of entries as a share of the bytes, since
     * SQLite needs about this many for the smallest.
     */
    bytes: 10 * 1024 * 1024,
    keyBytes: 1_024,
    valueBytes: 256 * 1024,
    bytesPerEntry: 64,
    /**
     * Keys read at once, entries listed at once, and the bytes of them in one response: a page is parsed in one turn.
     */
    keys: 128,
    page: 1_000,
    pageUsual: 100,
    pageBytes: 1024 * 1024,
    /** The longest lifetime of an entry that has one. */
    ttlMs: 10 * 365 * 24 * 3_600_000,
    /** How often an update is tried when other calls change the entry meanwhile. */
    tries: 100,
    /**
     * Expired entries that are deleted along with every write, and at once where room is needed: 256 take about a
     * millisecond.
     */
    sweep: 8,
    sweepMany: 256,
    /**
     * Requests of one plugin to its store per window: at about 30 µs each they take a twentieth of the gateway's
     * thread.
     */
    opsPerWindow: 20_000,
    windowMs: 10_000,
    /**
     * How long, and for how many entries, the host remembers which chain wrote an entry. A loop with longer rounds is
     * slower than the patch rate allows.
     */
    causeMs: 10_000,
    causes: 1_000,
    /**
     * A shared database that takes longer counts as away: a gate may be waiting. As long as `storage.busyMs`, what a file may take.
     */
    sharedMs: 2_000,
    /** After that it is not asked again for a moment, so that not every call waits so long. */
    sharedAwayMs: 500,
    /** Connections of one host: a server has a hundred by default, and a plugin uses one at a time. */
    sharedConnections: 4,
    sharedIdleMs: 60_000,
  },
  /** `api.schedule`. */
  schedule: {
    /** Jobs that one plugin may have waiting, and what each may carry. */
    jobs: 1_000,
    jobDataBytes: 64 * 1024,
    /** Shorter delays become this one: a job is written to disk twice, and timers serve shorter delays. */
    jobDelayMs: 100,
    jobMaxDelayMs: 10 * 365 * 24 * 3_600_000,
    /**
     * A cron pattern: five fields with lists fit. Finding out that a pattern never matches took 36 ms at first and 5 ms
     * later, hence a rate.
     */
    cronChars: 128,
    cronsPerWindow: 100,
    /** Requests of one plugin to the schedule, of all kinds. Listing a thousand jobs takes a millisecond. */
    perWindow: 1_000,
    windowMs: 10_000,
    /** Concurrent jobs of one plugin: after a long night a thousand may be due. */
    jobsAtOnce: 8,
    /** A job that was started this many times and never ended, because the gateway died each time, is given up. */
    jobAttempts: 5,
    /**
     * How long another process waits for a started job if it cannot see whether the process that started it is alive.
     * Longer than any job may take.
     */
    jobLeaseMs: 660_000,
    /**
     * The longest sleep of the job clock: the machine may sleep, its time may be set, and another process may write
     * jobs.
     */
    jobLookMs: 60_000,
    /** A host of a fleet that cannot ask whose a cron is asks again after this. */
    claimAgainMs: 1_000,
  },
  /** SQLite files of the host. */
  storage: {
    /**
     * How much is written to a database's log before a thread moves it into the file, which waits for the disk: 40 to
     * 170 ms were seen on a busy one. Then the log starts anew, and there the writer itself waits for the disk once, so
     * this should not happen more often than needed.
     */
    logBytes: 8 * 1024 * 1024,
    /**
     * Pages of a log, 32 MB, at which SQLite does it at once on the gateway's thread, because the other thread did not
     * get to it.
     */
    checkpointPages: 8_192,
    /** How long that thread is kept for the next time: it takes about 10 MB. */
    threadIdleMs: 10_000,
    /**
     * How long work on a database waits for another process's lock, in total and at most between two tries. Our
     * transactions take well under a millisecond.
     */
    busyMs: 2_000,
    retryMs: 16,
  },
  /** What a plugin registers and ships. */
  plugin: {
    /** Handlers, tools, commands and the like that one plugin may register. */
    handlers: 512,
    /** Values in everything that a plugin registers: 512 tools with a hundred values each in their schemas. */
    registrationValues: 50_000,
    /** What a plugin says about one of its tools or commands: a long manual and a large JSON Schema fit. */
    declarationChars: 64 * 1024,
    /**
     * Wall time of one call of a tool, a command, a gateway method or a job: an agent waits for it, and it does real
     * work.
     */
    functionWallMs: 60_000,
    /**
     * How deep a tool's answer, and its description, may nest: more than any JSON Schema that was seen, far less than a
     * stack holds.
     */
    functionDepth: 256,
    /** Unknown members of `api` that are reported for one plugin. */
    unknownMembers: 96,
    /** How long a plugin's service may take to stop when the host closes or the plugin reloads. */
    serviceStopMs: 5_000,
    /**
     * The part of a plugin's own files that its cell gets: the largest are left out. They are on its heap, and are sent
     * with its code in one frame.
     */
    packageBytes: 4 * 1024 * 1024,
    packageFiles: 2_000,
    /** Their size as sent: at most a third longer, with the names of all files found. */
    packageSentChars: 8 * 1024 * 1024,
    /** How many files are examined to find these, and how deep. */
    packageLooks: 20_000,
    packageDepth: 32,
  },
  /** A plugin's volume. */
  files: {
    /**
     * A plugin's volume: default and maximum. All of it is on its cell's heap, and travels in one frame, a third
     * longer.
     */
    bytes: 4 * 1024 * 1024,
    maxBytes: 8 * 1024 * 1024,
    /**
     * Files and folders of a volume; characters of all paths, of one path and one name; depth: what a frame can hold,
     * and what Linux allows.
     */
    files: 10_000,
    pathsChars: 1024 * 1024,
    pathChars: 512,
    nameBytes: 255,
    depth: 32,
    /** Changes in one message: this many take about 10 ms of the gateway's thread. */
    changes: 256,
    /**
     * What a volume may store per window. Each change counts as at least this many bytes. At 30 µs each, changes then
     * take a twentieth of the gateway's thread.
     */
    changeBytes: 4_096,
    /** Each file below a folder that is moved or removed is a row of its own, and costs about a quarter of a change. */
    rowBytes: 1_024,
    /**
     * Rows that are written in one go, and how long that may take before the event loop runs. A folder may have ten
     * thousand.
     */
    sliceRows: 64,
    sliceMs: 5,
    writeBytes: 64 * 1024 * 1024,
    windowMs: 10_000,
    /** Pieces in which a file's content is kept before they are joined: every append is a piece. */
    pieces: 256,
    /** Scratch space of a cell: on its heap, and lost with it. */
    tmpBytes: 1024 * 1024,
    tmpFiles: 1_000,
  },
  /** The state folder. */
  /** Durable observe hooks, and what is remembered of sessions for their ends. */
  outbox: {
    /** Rows of one plugin that are delivered at the same time: below what a plugin may have pending, so that none is refused. */
    atOnce: 8,
    /** The pause after a failed attempt: half the age of the event, at least and at most this. */
    firstPauseMs: 100,
    longestPauseMs: 60_000,
    /** Given up by age, not by count: an outage of the receiver is not the event's fault. */
    maxAgeMs: 24 * 3_600_000,
    /** An event during which the sandbox died, or that used up its time or memory, is tried so often in all. */
    fatalAttempts: 2,
    /** All rows together. Well below a disk's end: on a full disk SQLite cannot even delete. */
    quotaBytes: 64 * 1024 * 1024,
    /** What the log of its database may take: twice `storage.logBytes`, because another thread empties it a little later. */
    logBytes: 16 * 1024 * 1024,
    /** Events that wait in a gateway's memory for a served host to come back: some minutes of them, and no reason to run out of memory. */
    unsentBytes: 16 * 1024 * 1024,
    /** How often a host looks for rows that another host left behind. */
    lookMs: 5_000,
    /** The operator is told of dead letters so often, per plugin. */
    tellMs: 3_600_000,
    /** What is remembered of a session that never ends. */
    sessionMs: 30 * 24 * 3_600_000,
  },
  fleet: {
    /** The client waits 20 s for a server unless told: after a network that swallowed bytes it would be away for that long. */
    connectMs: 1_000,
    /** The pause before a host tries a server again that has refused it: a person has to change something. */
    refusedMs: 5_000,
    /** Two pings without an answer, so 1 s, and the server counts as away. */
    pingMs: 500,
    reconnectMs: 50,
    /** How often a host says that it is there, and after which silence it counts as gone. */
    hereMs: 500,
    goneMs: 2_000,
    /** For so long a silent host is named when a change does not reach it. */
    rememberMs: 7 * 24 * 3_600_000,
    /** A gateway asks whether a host lives when a run has waited for so long there, and how long it waits for that. */
    probeMs: 200,
    probeAnswerMs: 1_000,
    /** How long a run waits for a server, or for hosts that connect again later than the gateway did. */
    graceMs: 1_000,
    /** A run may take what its handlers may, and this for the way. */
    wayMs: 1_000,
    /** How long a host waits for the answer of a gateway that is no person's. */
    askMs: 10_000,
    /** The same for a person: the server lets an answer come for an hour. */
    personMs: 3_600_000,
    /** How long an operator's command waits for the answer of a host. */
    controlMs: 5_000,
    /** For so long an operator's command tries again while the servers choose a leader: that takes 4 to 9 s, and a busy machine longer. */
    leaderMs: 30_000,
    /** A host publishes facts for so long after an operator has asked for them. */
    watchMs: 10_000,
    /** How often a host looks for a change that it was not told of. */
    lookMs: 15_000,
    /** A host may read from a server that is behind the others: for so long, and so often, it reads again what a signed list names. */
    behindMs: 3_000,
    behindEveryMs: 50,
    /** How often a host ships new lines of its audit log, and how many bytes of them in one message: one line fits, whatever is escaped in it. */
    shipMs: 1_000,
    shipBytes: 512 * 1024,
    /** The host that serves a plugin's services says so every second; after five without that another takes over, and the first gives up one earlier. */
    renewMs: 1_000,
    leaseMs: 5_000,
    leaseMarginMs: 1_000,
    /**
     * Durable events on the servers. A host that has not said for so long that it works on one has died: another gets it. It says so three
     * times as often.
     */
    ackMs: 10_000,
    /** How long a host's question for the next event waits on the servers. If the one that has it dies, the host asks again after that. */
    pullMs: 5_000,
    /** Events of one plugin that hosts have begun, or that wait for their next attempt. Beyond that no new one is given out. */
    maxUnsettled: 100_000,
    /** How long the servers keep events that were given up. */
    deadDays: 90,
    auditDays: 90,
    quarantineDays: 3_650,
    /** Part of a bundle in one message: below the 1 MB that a server accepts unless told otherwise. */
    chunkBytes: 512 * 1024,
    /** What hosts and operators may say in one message. */
    messageBytes: 1024 * 1024,
  },
  state: {
    /** Installed plugins, and `creel.lock`: a few kilobytes each. */
    installedPlugins: 1_000,
    lockBytes: 16 * 1024 * 1024,
    /** The shortest key of a lock: 128 bits cannot be tried out. */
    lockKeyBytes: 16,
    /** What is kept of one installed plugin: bundle, map, its own files, and its package as it was fetched. */
    storedFiles: 20_000,
    storedBytes: 256 * 1024 * 1024,
    /**
     * Of installed plugins: files up to this size are read at once, and how long that may take before the event loop
     * runs.
     */
    readAtOnceBytes: 256 * 1024,
    readingMs: 8,
    /**
     * How long a change of the state folder waits for another process, in total and at most between two tries. One
     * takes about 50 ms.
     */
    busyMs: 15_000,
    retryMs: 25,
    /**
     * How long unreferenced files are kept: another process may have read the lock just before, and read the files now.
     */
    retiredMs: 600_000,
    /** How often an edit of `creel.json` is tried again because another process wrote it meanwhile. */
    configTries: 10,
  },
  /** The audit log. */
  audit: {
    /**
     * The audit log: size of all its files, unless the operator sets another; weeks of blocked calls. A quarter is for
     * plugins' events and usage, so that a plugin cannot push them out by failing often. Each part is this many files;
     * the oldest is dropped as a whole.
     */
    bytes: 32 * 1024 * 1024,
    minBytes: 256 * 1024,
    files: 4,
    /** Of one event, context or result; of all in one line; of one text such as a reason. */
    valueChars: 4_096,
    lineChars: 64 * 1024,
    textChars: 500,
    calls: 256,
    /**
     * If event and answers are longer than this in total, the log does not work out what each handler saw: that takes 5
     * ms of the gateway's thread.
     */
    replayChars: 256 * 1024,
    /** The same, times the number of results: each copies what stands. 30 results after one of 16,000 keys took 200 ms. */
    replayCopiedChars: 2 * 1024 * 1024,
    /**
     * What waits to be written: this many lines, of runs with this many characters. It is written this often, for at
     * most this long at a time.
     */
    queue: 1_000,
    queueChars: 16 * 1024 * 1024,
    flushMs: 250,
    sliceMs: 4,
    /**
     * Runs of the same hook, plugin and decision per window: a plugin that fails on every call must not push out what
     * others did.
     */
    runsPerWindow: 50,
    windowMs: 10_000,
    /** How often plugins' usage is written if it has changed: the first time sooner, then twice as late each time. */
    usageMs: 60_000,
    firstUsageMs: 2_000,
    /** Origins and methods that are counted separately for one plugin. */
    requests: 64,
    pathChars: 200,
  },
  /** What a host remembers and measures of itself for `host.runs`, `host.stats` and their readers. */
  report: {
    /**
     * Recent runs: this many, and about this much memory of their events and answers. Few enough that most of them are gone before
     * garbage collection would move them to the old heap: that would cost every call a microsecond.
     */
    runs: 512,
    runsBytes: 16 * 1024 * 1024,
    /** Rare facts of one kind, such as restarts: more than a person reads. */
    factsPerKind: 100,
    /** Log lines that are kept for readers who come later: this many, with this many characters. */
    logLines: 1_000,
    logChars: 512 * 1024,
    /** How often a host looks whether it alone keeps its program alive; a person notices a program that hangs after a few seconds. */
    forgottenMs: 1_000,
    /** The heap of a cell is measured at most this often: asking V8 takes 2.4 µs. */
    heapMs: 1_000,
    /** How often the gateway's event loop is checked for delay: ten timers a second cost nothing measurable. */
    eventLoopMs: 100,
    /** The event loop delay that readers see is measured over at most about this long, if they read that often. */
    eventLoopWindowMs: 60_000,
    /** Plugins with series of their own in `/metrics`; further ones are counted as one, so that a scrape stays bounded. */
    metricPlugins: 1_000,
  },
  /** Archives, manifests and reviews. */
  install: {
    /**
     * A package's archive, as fetched and unpacked, which guard the disk: what is bundled of it has limits of its own.
     * Hook plugins take kilobytes; plugins that carry their dependencies take some 40 MB, date-fns has 5,337 files.
     * Folders count as entries, since each is one more object on the disk.
     */
    archiveBytes: 64 * 1024 * 1024,
    archiveUnpackedBytes: 256 * 1024 * 1024,
    archiveEntries: 25_000,
    archiveDepth: 32,
    archivePathBytes: 1_024,
    /** What every common file system allows. */
    archiveNameBytes: 255,
    /**
     * The highest ratio of unpacked to packed size. Text unpacks to 4 to 10 times its size, many tiny files to 70
     * times, a bomb to 1,000 times. Small archives are not judged: they can do no harm.
     */
    archiveRatio: 200,
    archiveRatioFromBytes: 4 * 1024 * 1024,
    /** A header that extends the next one: a path and a few numbers. */
    archiveHeaderBytes: 64 * 1024,
    archiveMs: 60_000,
    /**
     * package.json and a plugin's manifest. A large JSON Schema of its configuration fits; it nests about half as deep.
     */
    manifestBytes: 256 * 1024,
    manifestDepth: 64,
    /** How long a plugin is watched after it has registered in a dry run: work that it started goes on for a moment. */
    dryRunMs: 250,
    /** Lines and refusals of it that are kept meanwhile. */
    dryRunFacts: 1_000,
    /**
     * Comparing an update's code with what is installed: lines that may differ before a piece counts as replaced, and
     * how much work that may take: 0.2 s.
     */
    diffEdits: 2_000,
    diffSteps: 40_000_000,
    /** Files of a review's row about code; lines of `--diff`, and characters of each, that a person might read. */
    diffFiles: 100,
    diffShownLines: 2_000,
    diffLineChars: 2_000,
  },
  /** `creel serve`. */
  serve: {
    /** A frame of `creel serve` holds the largest event and what JSON adds to it. */
    frameBytes: 16 * 1024 * 1024,
    /** Gateways and tails of one machine: a handful. */
    connections: 64,
    /** Requests of one connection that wait for a response. */
    pending: 1_000,
    subscriptions: 32,
    /** Data that waits for a client that does not read. Beyond this the host hangs up: two of the largest frames. */
    bufferBytes: 32 * 1024 * 1024,
    /**
     * What tools report while they work: bytes of all updates of one call; bytes that may wait for a client before
     * further updates are dropped (far below the limit for hanging up, so that no tool can cause that); and the largest
     * update that is kept to be sent last.
     */
    updatesBytes: 16 * 1024 * 1024,
    updateBufferBytes: 4 * 1024 * 1024,
    lastUpdateBytes: 16 * 1024,
    /** A new client must identify itself within this time. Either side must answer a hello. */
    helloMs: 5_000,
    /** News about plugins are collected for this long and sent as one. */
    stateMs: 10,
    /**
     * A hook of another agent, by `creel hook` or HTTP. Its payload holds a whole file at most. The answer comes well
     * before the 30 s after which agents stop waiting, since most of them then let the tool run.
     */
    hookBytes: 4 * 1024 * 1024,
    hookMs: 25_000,
    /** `creel serve --http`: agents open a connection per event. A body must arrive within the time for a hello. */
    httpConnections: 32,
  },
  /** The console page and its server. */
  console: {
    /** A code in the address is opened at once, by a browser on the same machine. */
    codeMs: 60_000,
    /** Open tabs of a person or two. */
    sessions: 16,
    /** Wrong tokens or codes, each within a minute of the last, before all authentication is refused for a while. Tokens have 256 bits: this is to notice, and to cost nothing. */
    wrongTokens: 10,
    lockMs: 60_000,
    /** A browser opens up to six connections per page. */
    connections: 64,
    /** A request names a run, or a plugin, or answers an approval. */
    bodyBytes: 64 * 1024,
    /** Of those who may act: a rerun holds a recorded event, edited, of at most record.eventChars, each up to three bytes. */
    actBodyBytes: 4 * 1024 * 1024,
    /** Open pages get runs this often: soon for a person, cheap for the host. Measurements and reports come with each sample. */
    tickMs: 400,
    beatTicks: 12,
    /** Says the page when it may doubt the connection: 12 ticks. */
    beatMs: 4_800,
    /** As many as the host's ring has, and as many in flight. */
    runsAtOnce: 1024,
    logsAtOnce: 256,
    /** Of a plugin's reason or error in a list: twice what a row shows, so that a page can find words in it. */
    rowChars: 400,
    ledger: 200,
    /** Of a replay: as many as a person looks at; all are counted. */
    differences: 100,
    /** Runs whose profiles are made or wait for that: each takes seconds, one after the other. */
    blames: 4,
    /** One hour of measurements. */
    sampleMs: 5_000,
    samples: 720,
  },
  /** The recorder of whole events. */
  record: {
    /** All recordings, and the least that is worth it: a day of a busy gateway's tool calls has about 1 KB each. */
    bytes: 64 * 1024 * 1024,
    minBytes: 64 * 1024,
    /** A day, for "yesterday's runs"; conversations are not kept for longer than a month. */
    ageHours: 24,
    maxAgeHours: 31 * 24,
    pruneMs: 600_000,
    /** A longer event is not recorded. What waits to be written; how long it waits; how much is written and how long is worked at once. */
    eventChars: 1_000_000,
    queueChars: 16_000_000,
    flushMs: 200,
    writeChars: 1_000_000,
    sliceMs: 5,
    /** Differences of a replay that are listed one by one; all are counted. */
    differences: 1_000,
  },
  /** Traces. */
  telemetry: {
    /** Tool names and ids are short; a longer text is cut. */
    attributeChars: 256,
    /** Runs whose timers and detached promises are linked to them. */
    endedRuns: 512,
  },
  /** Approvals. */
  approval: {
    /** Approval requests: OpenClaw's default and cap. */
    wallMs: 120_000,
    maxWallMs: 600_000,
    /** OpenClaw's limits for what it shows. A question about several requests respects them, too. */
    titleChars: 80,
    descriptionChars: 512,
    /** More requests than a person reads in one question. A call with more is blocked. */
    requests: 16,
    /**
     * Parameters that one plugin changed after the first request, and values in one question that plugins made long: more than a person reads,
     * and copying more takes the gateway over 50 ms. A call with more is blocked.
     */
    changes: 1_000,
    values: 20_000,
    /** Parameters past this are not shown in the list of approvals that wait, and all of a list fit into one frame of `creel serve`. */
    shownBytes: 256 * 1024,
    listBytes: 8 * 1024 * 1024,
    /** How many that have ended are remembered, so that a late answer learns how. */
    remembered: 1_000,
    /** What users have allowed always. Each is a click; the file is read and written whole. */
    always: 4_096,
    /** The ledger: all its files; entries in memory where there is no state folder; entries per answer. A decision has about 400 bytes. */
    ledgerBytes: 4 * 1024 * 1024,
    ledgerRecent: 256,
    ledgerListed: 1_000,
  },
} as const;

/** How long V8 lets a turn run, given its CPU budget and the number of threads that want each CPU. */
export function turnMs(cpuMs: number, cpuPressure: number = LIMITS.call.maxCpuPressure): number {
  return Math.ceil(cpuMs * LIMITS.call.turnStretch * cpuPressure) + LIMITS.call.turnSlackMs;
}
