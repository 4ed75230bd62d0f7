/** Every bound of what hookmill reads and receives, with its unit and its reason. */

/** A definition file. A parser's work grows with it; real definitions are under 1 KiB. */
export const definitionBytesMax = 64 * 1024;
/** Nested collections in a definition file. Deeper input makes YAML parsers overflow the stack. */
export const definitionDepthMax = 64;
/** Webhooks of a factory. */
export const webhooksMax = 20;

/** Payload filter: nested objects. */
export const filterDepthMax = 16;
/** Payload filter: keys over all levels. */
export const filterKeysMax = 200;
/** Payload filter: values in one list. */
export const filterValuesMax = 500;
/** Characters of a payload that the explanation of one clause shows. */
export const excerptCharsMax = 200;
/** Elements of an array among which an explanation looks for the nearest miss: an array may have 130,000. */
export const explainedElementsMax = 1_000;

/** Characters of a diagnostic's message, and of its hint: both quote what a file says. */
export const diagnosticCharsMax = 300;

/** Request body: 256 KB. */
export const bodyBytesMax = 262_144;
/** Authenticated deliveries a minute and webhook. */
export const deliveriesPerMinute = 60;
/** Failed authentication attempts a minute, webhook and client address: guessing stops, others are untouched. */
export const failedAuthPerMinute = 30;
/** Failed attempts a minute and webhook over all addresses: past it a failure is no longer logged. */
export const failedAuthPerMinuteTotal = 300;

/** Delivery identity: longer ones are hashed. */
export const identityBytesMax = 256;
/** Signature timestamps of payment providers and Standard Webhooks: seconds of age, and of clock skew ahead. */
export const signatureAgeSecondsMax = 300;
/** Replay window that a custom scheme may name, in seconds: a longer one stops no replay. */
export const signatureWindowSecondsMax = 3600;
/** Signatures in one header: senders write one per active secret, and a rotation has two or three. */
export const signaturesMax = 16;

/** Deliveries waiting for their commit: past either bound the answer is 503. */
export const deliveriesWaitingMax = 10_000;
export const deliveryBytesWaitingMax = 64 * 1024 * 1024;
/** One transaction of the delivery log: past either bound the rest rides in the next, so that none waits long. */
export const deliveriesPerCommitMax = 1_000;
export const deliveryBytesPerCommitMax = 8 * 1024 * 1024;
/** How long a write waits for another process' write, in ms: an operator's backup may hold the file a while. */
export const sqliteBusyTimeoutMs = 30_000;
/** 4 KiB pages in the write-ahead log before SQLite moves them into the file: 16 MiB. */
export const walPagesBeforeCheckpoint = 4_096;
/** Bytes that the write-ahead log keeps allocated after a burst. */
export const walBytesKept = 64 * 1024 * 1024;
/** One step of pruning the delivery log: what a delivery waits for at most, a few ms. */
export const deliveriesPerPruneStepMax = 50;
export const deliveryBytesPerPruneStepMax = 4 * 1024 * 1024;
/** Delivery log retention: the newest deliveries of each webhook that are always kept, and the age below which all are. */
export const deliveriesKept = 50;
export const deliveryDaysKept = 7;

/** A whole request, headers and body: a sender that is slower holds a connection for nothing. */
export const requestMs = 10_000;
/** A connection without a request: over the 60 s after which common proxies give theirs up. */
export const idleConnectionMs = 65_000;
export const headerBytesMax = 16 * 1024;
/** Open connections of one server. */
export const connectionsMax = 10_000;
/** What is still read of a refused body, so that its sender sees the answer rather than a reset: more than is on its way. */
export const lingerBytesMax = 16 * 1024 * 1024;
export const lingerMs = 1_000;
/** From the signal to stop until connections are cut; the process is gone within 10 s. */
export const stopGraceMs = 7_000;
/** From the signal to stop until the process is gone, whatever hangs. */
export const stopMs = 9_500;

/** Runs that are executed at the same time: a command may be a whole agent. */
export const runsConcurrent = 4;
/** Attempts at a run before it has failed. */
export const runAttempts = 3;
/** Seconds before the second attempt, doubled for each further one, and the most that they come to. */
export const backOffFirstSeconds = 10;
export const backOffSecondsMax = 600;
/** What a runner's receiver may ask for with `Retry-After`: a longer wait is taken for a mistake. */
export const retryAfterSecondsMax = 3600;
/** How long a queued run that another process recorded (`runs retry`, `deliveries replay`) stays unseen at most. */
export const runPollMs = 2_000;
/** Seconds that one attempt may take: an agent at work, and a receiver that is to answer 202 and work later. */
export const runCommandSeconds = 600;
export const runRequestSeconds = 30;
/** `fetch` itself gives a request up after this many seconds. */
export const runRequestSecondsMax = 300;
/** Bytes of output that are kept of one attempt. */
export const runOutputBytes = 1024 * 1024;
/** Pause after each read of output that is not kept: a command that writes all it can takes a few % of a core of the daemon. */
export const discardPauseMs = 1;
/** From SIGTERM to SIGKILL for a command; below `stopGraceMs`, so that a stopping daemon outlives its commands. */
export const commandGraceMs = 5_000;
/** What a process that left its command's group gets to close the output, once the command has ended. */
export const outputDrainMs = 1_000;
/** Snapshots of automations whose prompts are kept parsed: those that the latest runs came from. */
export const snapshotsParsedMax = 4;
/** From one pass of pruning to the next. */
export const pruneIntervalMs = 60 * 60 * 1000;
/** A fixture: a payload as large as a delivery's, and what is written around it. */
export const fixtureBytesMax = 2 * 262_144;

/** One question to a git server (`ls-remote`), and one command on the mirror: both take well under a second. */
export const gitCommandMs = 60_000;
/** One fetch: a repository of 500 MB over a slow line. Past it the remote is taken for dead. */
export const gitFetchMs = 600_000;
/** Commits fetched of a branch at first: nearly always enough to find the applied revision among them. */
export const gitFetchDepth = 10;
/** What a fetch may write: a shallow fetch of one branch has little of a repository's history in it. */
export const gitFetchBytesMax = 2 * 1024 * 1024 * 1024;
/** What one git command may print: the listing and the contents of a factory's definition files. */
export const gitOutputBytesMax = 16 * 1024 * 1024;
/** Packs of a mirror, one a fetch, before it is fetched anew: git gets slower with each, and old ones are never read. */
export const gitPacksMax = 100;
/** How far clocks of committers may disagree, in seconds, when history is fetched back to the applied revision. */
export const commitClockSkewSeconds = 7 * 24 * 3600;
/** Characters kept of a commit's author, of its subject, and of what git said when it failed. */
export const commitTextCharsMax = 200;
export const gitMessageCharsMax = 1_000;
/** Diagnostics of a failed reconcile that are kept for `status`. */
export const reconcileDiagnosticsKept = 100;
/** Seconds from one look at a branch to the next, and the bounds of the setting. */
export const reconcileSeconds = 30;
export const reconcileSecondsMin = 1;
export const reconcileSecondsMax = 24 * 3600;
/** What the wait after failed reconciles comes to at most, in ms: a mended remote is noticed within it. */
export const reconcileBackOffMsMax = 600_000;
/** How long a reconcile of the daemon waits for a command that reconciles or applies the same factory, in ms. */
export const reconcileLockTimeoutMs = 10_000;

/** Rows on one page of the management API, unless the request says otherwise, and at most. */
export const apiPageSize = 50;
export const apiPageMax = 200;
/** Body of a management request. The largest ordinary one is an automation: a prompt and its filters. */
export const apiBodyBytesMax = 256 * 1024;
/** Body of a filter test, which may hold a whole payload beside the draft. */
export const apiTestBytesMax = 1024 * 1024;
/** Body of a plan or an apply: every definition file of a factory. */
export const apiDefinitionsBytesMax = 8 * 1024 * 1024;

/** Stored deliveries by which a plan judges a changed automation: enough to see what a filter does, read in well under a second. */
export const impactDeliveriesMax = 200;
/** Deliveries with another verdict that a plan names, and the days over which it counts deliveries. */
export const impactExamplesMax = 5;
export const impactTrafficDays = 7;
/** Characters of a plan in markdown: GitHub refuses a comment over 65,536, and other text may stand beside it. */
export const planMarkdownCharsMax = 60_000;
/** Characters of one value in it, and of one sentence: what a table's cell can show. */
export const planValueCharsMax = 80;
export const planSentenceCharsMax = 500;

/** Questions to the delivery log that wait for their thread: each is a few ms, so that the last still comes in time. */
export const queriesWaitingMax = 256;
/** Live views of all factories together, and the bytes that one of them may leave unread before it is cut off. */
export const liveViewersMax = 256;
export const liveViewerBytesMax = 256 * 1024;
/** From one event of a live view to the next, and the deliveries that one holds: the newest, of however many came. */
export const liveIntervalMs = 500;
export const liveDeliveriesMax = 20;
/** What tells clients and proxies that a silent live view is alive. */
export const liveHeartbeatMs = 15_000;
/** How long a session of the dashboard lasts: a working day. The oldest goes past the most that there may be. */
export const sessionMs = 12 * 60 * 60 * 1000;
export const sessionsMax = 1_000;
/** Failed attempts to sign in, a minute and client address. */
export const signInAttemptsPerMinute = 10;
/** API tokens of a home. */
export const apiTokensMax = 1_000;
/** The last use of a token is kept no finer than this: not a write for each request. */
export const tokenUseMs = 60 * 60 * 1000;
/** How old the counts of the last 24 hours may be that are shown. */
export const activityMs = 60_000;
/** How long a change by the management API waits for another process that changes the same. */
export const apiLockTimeoutMs = 5_000;
/** How long a command waits for a server's answer, in ms: an apply may itself wait for a lock. */
export const serverRequestMs = 30_000;
