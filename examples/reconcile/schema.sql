-- One schema for SQLite and Postgres. Amounts are text, since no other type of both holds them exactly; a value always
-- has the same text. Times are microseconds since 1970.

CREATE TABLE IF NOT EXISTS orders (
    id             TEXT   NOT NULL PRIMARY KEY,  -- the gateway's, or the merchant's where it gives none
    unique_id      TEXT   NOT NULL,
    transaction_id TEXT   NOT NULL,
    state          TEXT   NOT NULL,
    code           BIGINT NOT NULL,
    amount         TEXT   NOT NULL,
    currency       TEXT   NOT NULL,
    happened       BIGINT NOT NULL
);
CREATE INDEX IF NOT EXISTS orders_transaction ON orders (transaction_id);
CREATE INDEX IF NOT EXISTS orders_unique ON orders (unique_id);
CREATE INDEX IF NOT EXISTS orders_state ON orders (state, happened);

CREATE TABLE IF NOT EXISTS refunds (
    id                 TEXT   NOT NULL PRIMARY KEY,
    refund_unique_id   TEXT   NOT NULL,
    merchant_refund_id TEXT   NOT NULL,
    unique_id          TEXT   NOT NULL,  -- of the order
    code               BIGINT NOT NULL,
    amount             TEXT   NOT NULL,
    currency           TEXT   NOT NULL,
    requested          BIGINT NOT NULL
);
CREATE INDEX IF NOT EXISTS refunds_unique ON refunds (unique_id);

-- Where the walks over orders and refunds stand.
CREATE TABLE IF NOT EXISTS walks (
    kind       TEXT   NOT NULL PRIMARY KEY,
    gateway    TEXT   NOT NULL,  -- which one, and which app
    zone       TEXT   NOT NULL,  -- of its wall clock
    since      BIGINT NOT NULL,  -- the books begin here
    complete   BIGINT NOT NULL,  -- and lack nothing up to here
    until      BIGINT NOT NULL,  -- the end of the walk that is under way, from complete on; not after complete if there is none
    checkpoint TEXT   NOT NULL   -- how far that walk is
);

-- The merchant's own list, as it was read last.
CREATE TABLE IF NOT EXISTS list (
    transaction_id TEXT NOT NULL PRIMARY KEY,
    amount         TEXT NOT NULL,
    currency       TEXT NOT NULL
);
