-- One schema for SQLite and Postgres. Amounts are text, exactly as they are charged; times are microseconds since 1970.

CREATE TABLE IF NOT EXISTS cart_lines (
    customer TEXT    NOT NULL,
    sku      TEXT    NOT NULL,
    quantity INTEGER NOT NULL,
    changed  BIGINT  NOT NULL,
    PRIMARY KEY (customer, sku)
);

CREATE TABLE IF NOT EXISTS orders (
    id           TEXT   NOT NULL PRIMARY KEY,  -- the orderId of its payments
    customer     TEXT   NOT NULL,
    amount       TEXT   NOT NULL,
    first_name   TEXT   NOT NULL,
    last_name    TEXT   NOT NULL,
    email        TEXT   NOT NULL,
    country      TEXT   NOT NULL,
    created      BIGINT NOT NULL
);
CREATE INDEX IF NOT EXISTS orders_customer ON orders (customer, created);

CREATE TABLE IF NOT EXISTS attempts (         -- to pay an order
    id           TEXT   NOT NULL PRIMARY KEY,  -- the payment's transactionId
    order_id     TEXT   NOT NULL,
    number       INTEGER NOT NULL,
    kind         TEXT   NOT NULL,
    card_id      TEXT   NOT NULL,
    state        TEXT   NOT NULL,
    reason       TEXT   NOT NULL DEFAULT '',
    unique_id    TEXT   NOT NULL DEFAULT '',
    card         TEXT   NOT NULL DEFAULT '',   -- the last four digits
    redirect_url TEXT   NOT NULL DEFAULT '',
    evidence     INTEGER NOT NULL,             -- how much of the journal's evidence the state includes
    looked       BIGINT NOT NULL DEFAULT 0     -- when the gateway was last asked because somebody looked
);
CREATE INDEX IF NOT EXISTS attempts_order ON attempts (order_id);

CREATE TABLE IF NOT EXISTS order_lines (
    order_id TEXT    NOT NULL,
    position INTEGER NOT NULL,
    sku      TEXT    NOT NULL,
    name     TEXT    NOT NULL,
    price    TEXT    NOT NULL,
    quantity INTEGER NOT NULL,
    PRIMARY KEY (order_id, position)
);

CREATE TABLE IF NOT EXISTS refunds (
    id       TEXT    NOT NULL PRIMARY KEY,     -- the refundTransactionId
    order_id TEXT    NOT NULL,
    amount   TEXT    NOT NULL,
    created  BIGINT  NOT NULL,
    state    TEXT    NOT NULL,
    evidence INTEGER NOT NULL,                 -- as in attempts
    made     BIGINT  NOT NULL DEFAULT 0        -- when the money was returned
);
CREATE INDEX IF NOT EXISTS refunds_order ON refunds (order_id);

CREATE TABLE IF NOT EXISTS order_events (     -- what the journal does not record; see Event
    id       TEXT    NOT NULL,                 -- of a payment or a refund
    what     TEXT    NOT NULL,
    first_at BIGINT  NOT NULL,
    last_at  BIGINT  NOT NULL,
    times    INTEGER NOT NULL,
    PRIMARY KEY (id, what)
);

CREATE TABLE IF NOT EXISTS cards (
    id           TEXT   NOT NULL PRIMARY KEY,  -- the token order's transactionId and orderId
    customer     TEXT   NOT NULL,
    state        TEXT   NOT NULL,
    card         TEXT   NOT NULL DEFAULT '',   -- the last four digits
    token        TEXT   NOT NULL DEFAULT '',   -- encrypted
    redirect_url TEXT   NOT NULL DEFAULT '',
    created      BIGINT NOT NULL,
    changed      BIGINT NOT NULL
);
CREATE INDEX IF NOT EXISTS cards_customer ON cards (customer, created);
