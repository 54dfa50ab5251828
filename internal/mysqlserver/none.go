package mysqlserver

import "errors"

// ErrNone says that no such server is installed here, or none can be started.
var ErrNone = errors.New("mysqlserver: no MariaDB or MySQL server can be started here (Debian: apt install mariadb-server)")
