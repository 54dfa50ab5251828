CREATE TABLE IF NOT EXISTS cardgateway_journal (
    transaction_id TEXT    NOT NULL PRIMARY KEY,
    begun          INTEGER NOT NULL,            -- microseconds since 1970, UTC
    intent         TEXT    NOT NULL,            -- JSON
    evidence       TEXT    NOT NULL DEFAULT '', -- JSON, one line each
    pieces         INTEGER NOT NULL DEFAULT 0,  -- lines in evidence
    acked          INTEGER NOT NULL DEFAULT -1  -- of which so many are acknowledged
);
CREATE INDEX IF NOT EXISTS cardgateway_journal_unacked
    ON cardgateway_journal (begun, transaction_id) WHERE acked < pieces;
