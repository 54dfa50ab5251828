package journal

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
)

// checkVersion rejects a server that is too old for the statements of this package. They would fail only when something is
// written, and then each write would be repeated on its own.
//
//   - Postgres 12: WITH ... AS MATERIALIZED. ON CONFLICT and SKIP LOCKED need 9.5.
//   - MySQL 8.0.1, MariaDB 10.6: SKIP LOCKED.
func (d Dialect) checkVersion(ctx context.Context, conn *sql.Conn) error {
	query := map[Dialect]string{Postgres: `SHOW server_version`, MySQL: `SELECT VERSION()`}[d]
	if query == "" {
		return nil
	}
	var version string
	if err := conn.QueryRowContext(ctx, query).Scan(&version); err != nil {
		return fmt.Errorf("the version of the server cannot be read: %w", err)
	}
	if needed := d.tooOld(version); needed != "" {
		return &settingError{fmt.Sprintf("the server has version %s, and %s or later is needed", version, needed)}
	}
	return nil
}

// tooOld returns the version that is needed if a server's version is older. A version that cannot be read is accepted.
func (d Dialect) tooOld(version string) (needed string) {
	var major, minor, patch int
	n, _ := fmt.Sscanf(version, "%d.%d.%d", &major, &minor, &patch)
	have := major*1_000_000 + minor*1000 + patch
	switch {
	case n == 0:
		return ""
	case d == Postgres && have < 12_000_000:
		return "Postgres 12"
	case d == MySQL && strings.Contains(version, "MariaDB"):
		if have < 10_006_000 {
			return "MariaDB 10.6"
		}
	case d == MySQL && have < 8_000_001:
		return "MySQL 8.0.1"
	}
	return ""
}
