-- A delivery log of format 4, as it was written.
PRAGMA foreign_keys = OFF;
BEGIN;
CREATE TABLE deliveries (
    seq INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    factory TEXT NOT NULL,
    webhook TEXT NOT NULL,
    uid TEXT NOT NULL,
    at_ms INTEGER NOT NULL,
    size INTEGER NOT NULL,
    outcome TEXT NOT NULL,
    identity TEXT,
    identity_source TEXT,
    authenticated_by TEXT,
    reason TEXT,
    duplicate_of TEXT,
    snapshot INTEGER REFERENCES snapshots, content_digest TEXT, headers TEXT,
    CHECK (outcome <> 'Accepted' OR identity IS NOT NULL)
  ) STRICT;
INSERT INTO "deliveries" VALUES(1,'dlv_01','default','pay','wh_000000000000000000000pay',1000,9,'Accepted','evt_1','scheme','token',NULL,NULL,1,'content','{"x-event":"a \"b\" é"}');
INSERT INTO "deliveries" VALUES(2,'dlv_02','default','pay','wh_000000000000000000000pay',1500,3,'Rejected (auth)',NULL,NULL,NULL,'the token is wrong',NULL,NULL,NULL,NULL);
INSERT INTO "deliveries" VALUES(3,'dlv_03','default','pay','wh_000000000000000000000pay',2000,9,'Duplicate','evt_1','scheme','token',NULL,'dlv_01',2,NULL,NULL);
INSERT INTO "deliveries" VALUES(4,'dlv_04','other','git','wh_000000000000000000000git',1800,2,'Accepted','evt_1','body','token',NULL,NULL,2,NULL,NULL);
INSERT INTO "deliveries" VALUES(5,'dlv_05','default','renamed','wh_000000000000000000000pay',3000,9,'Accepted','evt_2','scheme','token',NULL,NULL,1,NULL,NULL);
CREATE TABLE payloads (
    delivery INTEGER PRIMARY KEY REFERENCES deliveries,
    bytes BLOB NOT NULL
  ) STRICT;
INSERT INTO "payloads" VALUES(1,X'7B226E223A20317D20');
INSERT INTO "payloads" VALUES(4,X'FF00');
INSERT INTO "payloads" VALUES(5,X'7B226E223A20327D20');
CREATE TABLE runs (
    seq INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    delivery INTEGER NOT NULL REFERENCES deliveries,
    factory TEXT NOT NULL,
    automation TEXT NOT NULL,
    replay INTEGER NOT NULL,
    snapshot INTEGER REFERENCES snapshots,
    state TEXT NOT NULL DEFAULT 'queued',
    attempts INTEGER NOT NULL DEFAULT 0,
    not_before_ms INTEGER NOT NULL,
    created_at_ms INTEGER NOT NULL,
    started_at_ms INTEGER,
    finished_at_ms INTEGER,
    claimed_by TEXT,
    error TEXT
  ) STRICT;
INSERT INTO "runs" VALUES(1,'run_01',1,'default','triage',0,1,'succeeded',1,1000,1000,5000,6000,NULL,NULL);
INSERT INTO "runs" VALUES(2,'run_02',1,'default','notify',0,1,'running',1,1000,1000,5000,NULL,'d1',NULL);
INSERT INTO "runs" VALUES(3,'run_03',5,'default','triage',0,1,'queued',0,3000,3000,NULL,NULL,NULL,NULL);
INSERT INTO "runs" VALUES(4,'run_04',1,'default','later',1,3,'queued',0,7000,7000,NULL,NULL,NULL,NULL);
CREATE TABLE snapshots (
    key INTEGER PRIMARY KEY,
    digest TEXT NOT NULL UNIQUE,
    json TEXT NOT NULL
  ) STRICT;
INSERT INTO "snapshots" VALUES(1,'one','{"automations":["one"]}');
INSERT INTO "snapshots" VALUES(2,'two','{"automations":["two"]}');
INSERT INTO "snapshots" VALUES(3,'three','{"automations":["three"]}');
CREATE INDEX deliveries_by_age ON deliveries (uid, at_ms);
CREATE INDEX deliveries_by_snapshot ON deliveries (snapshot) WHERE snapshot IS NOT NULL;
CREATE INDEX runs_by_delivery ON runs (delivery);
CREATE INDEX runs_by_factory ON runs (factory, seq, state, automation);
CREATE INDEX runs_by_snapshot ON runs (snapshot) WHERE snapshot IS NOT NULL;
CREATE INDEX runs_queued ON runs (not_before_ms) WHERE state = 'queued';
CREATE INDEX runs_running ON runs (claimed_by) WHERE state = 'running';
CREATE INDEX deliveries_by_factory ON deliveries (factory, seq, outcome, webhook, uid);
CREATE UNIQUE INDEX deliveries_by_identity ON deliveries (uid, identity, identity_source) WHERE outcome = 'Accepted';
CREATE UNIQUE INDEX deliveries_by_content ON deliveries (uid, content_digest) WHERE content_digest IS NOT NULL;
PRAGMA user_version = 4;
COMMIT;