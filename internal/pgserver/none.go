package pgserver

import "errors"

// ErrNone says that no such server is installed here, or none can be started.
var ErrNone = errors.New("pgserver: no Postgres server can be started here")
