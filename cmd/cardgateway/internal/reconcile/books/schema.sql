-- One schema for SQLite and Postgres. Amounts are text, because both have no other common type that is exact; equal amounts have
-- equal text. Times are microseconds since 1970, or 0 if there is none.

-- What these books are a copy of: one row.
CREATE TABLE cardgateway_copy (
    one     BIGINT NOT NULL PRIMARY KEY CHECK (one = 1),
    gateway $TEXT  NOT NULL,
    app     $TEXT  NOT NULL,
    zone    $TEXT  NOT NULL,  -- of the gateway's wall clock
    since   BIGINT NOT NULL,  -- start of the copy
    synced  BIGINT NOT NULL   -- end of the last successful run
);

CREATE TABLE cardgateway_orders (
    id             $TEXT  NOT NULL PRIMARY KEY,  -- the gateway's id, or derived from the merchant's if there is none
    unique_id      $TEXT  NOT NULL,
    transaction_id $TEXT  NOT NULL,  -- unique_id if there is none
    state          $TEXT  NOT NULL,
    code           BIGINT NOT NULL,
    amount         $TEXT  NOT NULL,
    currency       $TEXT  NOT NULL,
    at             BIGINT NOT NULL,
    card           $TEXT  NOT NULL,
    other_app      $TEXT  NOT NULL DEFAULT '',  -- the appId, if the gateway stated another one than that of the copy; ? if it could not be read
    test           BIGINT NOT NULL DEFAULT 0,   -- 1: the gateway marks it as a test payment
    walk           BIGINT NOT NULL   -- number of the last walk that returned the row
);
CREATE INDEX cardgateway_orders_transaction ON cardgateway_orders (transaction_id);
CREATE INDEX cardgateway_orders_at ON cardgateway_orders (at);
CREATE INDEX cardgateway_orders_other_app ON cardgateway_orders (id) WHERE other_app <> '';
CREATE INDEX cardgateway_orders_unnamed ON cardgateway_orders (transaction_id) WHERE unique_id = '';

CREATE TABLE cardgateway_refunds (
    id                 $TEXT  NOT NULL PRIMARY KEY,
    refund_unique_id   $TEXT  NOT NULL,
    merchant_refund_id $TEXT  NOT NULL,  -- refund_unique_id if there is none
    unique_id          $TEXT  NOT NULL,  -- of the order
    state              $TEXT  NOT NULL,
    code               BIGINT NOT NULL,
    amount             $TEXT  NOT NULL,
    currency           $TEXT  NOT NULL,
    at                 BIGINT NOT NULL,
    walk               BIGINT NOT NULL
);
CREATE INDEX cardgateway_refunds_unique ON cardgateway_refunds (unique_id);
CREATE INDEX cardgateway_refunds_merchant ON cardgateway_refunds (merchant_refund_id);
CREATE INDEX cardgateway_refunds_at ON cardgateway_refunds (at);
CREATE INDEX cardgateway_refunds_unnamed ON cardgateway_refunds (merchant_refund_id) WHERE refund_unique_id = '';

-- The rows that are not of another app. Refunds do not state the app: it is that of the payment.
CREATE VIEW cardgateway_own_orders AS SELECT * FROM cardgateway_orders WHERE other_app = '';
CREATE VIEW cardgateway_own_refunds AS SELECT * FROM cardgateway_refunds r
    WHERE NOT EXISTS (SELECT 1 FROM cardgateway_orders o WHERE o.id = r.unique_id AND o.other_app <> '');

-- Changes of copied rows.
CREATE TABLE cardgateway_changes (
    kind $TEXT  NOT NULL,  -- orders or refunds
    id   $TEXT  NOT NULL,
    what $TEXT  NOT NULL,  -- a column name, late (appeared after its time had been copied) or gone (deleted, because the gateway no longer returned it)
    old  $TEXT  NOT NULL,  -- for gone, the row as JSON
    new  $TEXT  NOT NULL,
    seen BIGINT NOT NULL   -- when, and later than of every change that was recorded in an earlier transaction
);
CREATE INDEX cardgateway_changes_id ON cardgateway_changes (id);
CREATE INDEX cardgateway_changes_seen ON cardgateway_changes (seen);

-- Rows that the gateway has returned, and that cannot be read.
CREATE TABLE cardgateway_unread (
    kind      $TEXT  NOT NULL,  -- orders or refunds
    start     BIGINT NOT NULL,  -- of the range in which its time is
    until     BIGINT NOT NULL,
    unique_id $TEXT  NOT NULL,  -- of the order or the refund; empty if it could not be read
    id        $TEXT  NOT NULL,  -- the merchant's; empty if it could not be read
    why       $TEXT  NOT NULL
);

-- Progress of the walks over orders and refunds.
CREATE TABLE cardgateway_walks (
    kind       $TEXT  NOT NULL PRIMARY KEY,
    complete   BIGINT NOT NULL,  -- the copy is complete up to here
    number     BIGINT NOT NULL,  -- of the last walk
    begun      BIGINT NOT NULL,  -- its start time
    start      BIGINT NOT NULL,  -- its range; start is not before until if it has ended
    until      BIGINT NOT NULL,
    checkpoint $TEXT  NOT NULL,  -- its progress
    deep       BIGINT NOT NULL,  -- when the last walk over four weeks or more began
    asked      BIGINT NOT NULL   -- when the older open rows were last queried
);

-- The merchant's lists, as last imported.
CREATE TABLE cardgateway_lists (
    kind          $TEXT  NOT NULL PRIMARY KEY,  -- payment or refund
    name          $TEXT  NOT NULL,
    sha256        $TEXT  NOT NULL,
    lines         BIGINT NOT NULL,
    unreadable    BIGINT NOT NULL,
    read_as       $TEXT  NOT NULL,  -- JSON: how its times and states were read
    read_at       BIGINT NOT NULL
);

-- With which period a list of payments that has lines without a time was compared first.
CREATE TABLE cardgateway_first_periods (
    sha256 $TEXT  NOT NULL PRIMARY KEY,
    start  BIGINT NOT NULL
);

-- The list of refunds has the same columns.
CREATE TABLE cardgateway_listed_payments (
    line        BIGINT NOT NULL PRIMARY KEY,
    id          $TEXT  NOT NULL,  -- of the transaction or the refund; unique_id while that is not found in the copy
    unique_id   $TEXT  NOT NULL,  -- the gateway's; empty if the line has an id of the merchant
    amount      $TEXT  NOT NULL,
    currency    $TEXT  NOT NULL,
    state       $TEXT  NOT NULL,
    order_id    $TEXT  NOT NULL,
    order_total $TEXT  NOT NULL,  -- empty if the list has none
    at          BIGINT NOT NULL,
    until       BIGINT NOT NULL   -- the latest time that at may be: later if at is a date alone, or in the hour that clocks show twice
);

CREATE TABLE cardgateway_listed_refunds (
    line        BIGINT NOT NULL PRIMARY KEY,
    id          $TEXT  NOT NULL,
    unique_id   $TEXT  NOT NULL,
    amount      $TEXT  NOT NULL,
    currency    $TEXT  NOT NULL,
    state       $TEXT  NOT NULL,
    order_id    $TEXT  NOT NULL,
    order_total $TEXT  NOT NULL,
    at          BIGINT NOT NULL,
    until       BIGINT NOT NULL
);
CREATE INDEX cardgateway_listed_payments_unique ON cardgateway_listed_payments (unique_id) WHERE unique_id <> '';
CREATE INDEX cardgateway_listed_refunds_unique ON cardgateway_listed_refunds (unique_id) WHERE unique_id <> '';

CREATE TABLE cardgateway_unreadable (
    kind        $TEXT  NOT NULL,
    line        BIGINT NOT NULL,
    id          $TEXT  NOT NULL,  -- of the payment or refund, if it could be parsed
    unique_id   $TEXT  NOT NULL,  -- as in the list
    order_id    $TEXT  NOT NULL,  -- if it could be parsed
    column_name $TEXT  NOT NULL,
    why         $TEXT  NOT NULL,
    PRIMARY KEY (kind, line)
);

-- The months that were compared with a list.
CREATE TABLE cardgateway_months (
    kind     $TEXT  NOT NULL,  -- payment or refund
    start    BIGINT NOT NULL,
    finish   BIGINT NOT NULL,  -- exclusive
    seen     BIGINT NOT NULL,  -- of the last change that was recorded before
    totals   $TEXT  NOT NULL,  -- JSON: those of the gateway, by currency
    PRIMARY KEY (kind, start)
);

-- What did not tie out in a month, or has no time at the gateway. All other payments and refunds of the month tied out.
CREATE TABLE cardgateway_open (
    kind   $TEXT  NOT NULL,
    month  BIGINT NOT NULL,  -- its start
    id     $TEXT  NOT NULL,  -- of the transaction or the refund
    was    $TEXT  NOT NULL,  -- JSON
    PRIMARY KEY (kind, month, id)
);
CREATE INDEX cardgateway_open_id ON cardgateway_open (kind, id);

-- Which months have closed it: the later ones in which it matched or became a difference, and its own if it was not open. The first counts.
CREATE TABLE cardgateway_closed (
    kind   $TEXT  NOT NULL,
    month  BIGINT NOT NULL,
    id     $TEXT  NOT NULL,
    closed BIGINT NOT NULL,  -- start of the month that has closed it
    PRIMARY KEY (kind, month, id, closed)
);
CREATE VIEW cardgateway_kept AS SELECT o.*, COALESCE((SELECT MIN(c.closed) FROM cardgateway_closed c
    WHERE c.kind = o.kind AND c.month = o.month AND c.id = o.id), 0) AS closed FROM cardgateway_open o;

-- Lines of the list of a month that belong to later ones: the list of the next month need not have them. Those near the end of the month itself
-- that have an order are there, too: the next month can have it again.
CREATE TABLE cardgateway_later_lines (
    kind     $TEXT  NOT NULL,
    month    BIGINT NOT NULL,  -- its start
    line     BIGINT NOT NULL,
    id       $TEXT  NOT NULL,
    unique_id $TEXT NOT NULL,  -- as in the list
    amount   $TEXT  NOT NULL,
    currency $TEXT  NOT NULL,
    state    $TEXT  NOT NULL,
    order_id $TEXT  NOT NULL,
    at       BIGINT NOT NULL,
    until    BIGINT NOT NULL,
    PRIMARY KEY (kind, month, line, id)
);
