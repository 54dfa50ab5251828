package sqlstore

import "testing"

// TestTooOld: versions as the servers write them.
func TestTooOld(t *testing.T) {
	for _, tt := range []struct {
		dialect Dialect
		version string
		want    string
	}{
		{Postgres, "9.5.25", "Postgres 12"},
		{Postgres, "9.6", "Postgres 12"},
		{Postgres, "11.22 (Debian 11.22-1.pgdg120+1)", "Postgres 12"},
		{Postgres, "12.0", ""},
		{Postgres, "12beta1", ""},
		{Postgres, "15.13 (Debian 15.13-0+deb12u1)", ""},
		{Postgres, "18.4", ""},
		{Postgres, "of its own", ""},
		{MySQL, "5.7.44-log", "MySQL 8.0.1"},
		{MySQL, "8.0.0-dmr", "MySQL 8.0.1"},
		{MySQL, "8.0.1-dmr", ""},
		{MySQL, "8.0.36", ""},
		{MySQL, "8.4.3", ""},
		{MySQL, "9.1.0", ""},
		{MySQL, "10.5.29-MariaDB", "MariaDB 10.6"},
		{MySQL, "10.6.0-MariaDB-alpha", ""},
		{MySQL, "10.11.11-MariaDB-0+deb12u1", ""},
		{MySQL, "11.4.2-MariaDB", ""},
	} {
		t.Run(tt.dialect.String()+" "+tt.version, func(t *testing.T) {
			if got := tt.dialect.tooOld(tt.version); got != tt.want {
				t.Errorf("needed is %q, want %q", got, tt.want)
			}
		})
	}
}
